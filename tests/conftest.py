"""Fixtures that many tests share."""

import atexit
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from relrag_pipelines.privacy.keys import Keys
from tests import ROOT, archive, embedded_texts

# the same examples in every run; a busy machine is no fault of what is tested
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")

_MEMORY = Path("/dev/shm")  # noqa: S108 - the files in it are those of pytest's own folder, which is private
_ROOM = 8 * 2**30
"""bytes that a run may take; about half of them are used"""


def pytest_configure() -> None:
    """Puts temporary files into memory where there is room: else every sync of a test waits for the disk.

    Processes of the run inherit it. TMPDIR, where it is set, is left as it is.
    """
    gc.disable()  # until all modules are imported; no garbage is worth looking for among them
    # each of the processes that tests start would compile this project anew
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    os.environ["RELRAG_LOCAL_PORTS"] = ""  # no test asks what else runs on this machine
    if "TMPDIR" not in os.environ and _MEMORY.is_dir() and _free_memory() > _ROOM:
        os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)


def pytest_collection_finish() -> None:
    """Leaves what was imported out of every search for garbage, which takes a quarter of a second among it."""
    gc.freeze()
    gc.enable()


def _free_memory() -> int:
    """Bytes that files in memory may take: what the machine has available, and what the folder may hold of it."""
    lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    return min(int(lines["MemAvailable"].split()[0]) * 1024, shutil.disk_usage(_MEMORY).free)


_LONG = (
    "tests/end_to_end/",
    "tests/repository/test_readme.py",
    "tests/cli/commands/",
    "tests/publishing/",
    "tests/stages/",
)
"""where the tests are that take longest"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts long tests first, so that no process is left alone with them at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(_LONG))


@pytest.fixture(scope="session", autouse=True)
def _shared_work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """All processes of a run share what was synced and embedded; it goes with the temporary folder of the run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    archive.SYNCED = shared / "synced"
    with pytest.MonkeyPatch.context() as patch:
        embedded_texts.share_model(patch, shared / "vectors")
        archive.do_without_indexes(patch)
        yield


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


@pytest.fixture(scope="module")
def payload_indexes() -> Iterator[None]:
    """Lets stores of vectors in this process have indexes of payload fields, as those of users have."""
    with pytest.MonkeyPatch.context() as patch:
        archive.do_with_indexes(patch)
        yield


@pytest.fixture
def without_dagster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the commands `sync` and `forget` do without Dagster, which most of their time goes into.

    So no check of Dagster's is made, and an error is raised, not told.
    """
    archive.do_without_dagster(monkeypatch)


def _fall_silent() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


# DuckDB's binding reports what is still alive when the process ends: noise behind the tests' result
atexit.register(_fall_silent)
