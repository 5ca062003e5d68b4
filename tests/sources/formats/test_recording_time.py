"""Dates in names of files."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from relrag_pipelines.sources.formats.recording_time import time_in_name
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "local_times_in_prague"))
def test_local_times_in_prague(name: str, at: str, quality: str) -> None:
    found = time_in_name(name, "Europe/Prague")
    assert found is not None
    assert (datetime.fromtimestamp(found[0], UTC).strftime("%Y-%m-%dT%H:%M:%S"), found[1]) == (at, quality)


@pytest.mark.parametrize("name", ["notes.txt", "2025-02-30.txt", "12345678901.txt", "052-555-0163.m4a", "v2.14.1.txt"])
def test_no_date(name: str) -> None:
    assert time_in_name(name, "Europe/Prague") is None
