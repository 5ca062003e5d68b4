"""Dates in names of files."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from relrag_pipelines.sources.formats.recording_time import time_in_name


@pytest.mark.parametrize(
    ("name", "at", "quality"),
    [
        ("meeting-2025-01-08.txt", "2025-01-08T00:00:00", "day"),
        ("meeting_20250108.vtt", "2025-01-08T00:00:00", "day"),
        ("GMT20250108-083000_Recording.transcript.vtt", "2025-01-08T08:30:00", "exact"),
        ("Standup 2025-07-08 09.30.00.vtt", "2025-07-08T07:30:00", "exact"),
        ("20250108_093000.m4a", "2025-01-08T08:30:00", "exact"),
        ("20250108093000.m4a", "2025-01-08T08:30:00", "exact"),
    ],
)
def test_local_times_in_prague(name: str, at: str, quality: str) -> None:
    found = time_in_name(name, "Europe/Prague")
    assert found is not None
    assert (datetime.fromtimestamp(found[0], UTC).strftime("%Y-%m-%dT%H:%M:%S"), found[1]) == (at, quality)


@pytest.mark.parametrize("name", ["notes.txt", "2025-02-30.txt", "12345678901.txt", "052-555-0163.m4a", "v2.14.1.txt"])
def test_no_date(name: str) -> None:
    assert time_in_name(name, "Europe/Prague") is None
