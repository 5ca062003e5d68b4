"""Fixtures that many tests share."""

import os
from pathlib import Path

import pytest

from relrag_pipelines.keys import Keys

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real test data beside the repository; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("RELRAG_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}; set RELRAG_SHARED_DATA")
    return folder


@pytest.fixture(scope="session")
def keys() -> Keys:
    """Keys that are the same in every run."""
    return Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")


def pytest_unconfigure() -> None:
    """At its end the process is silent: DuckDB's binding reports what is alive then, which is noise behind the result."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
