"""Names that recorders give to calls."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from relrag_pipelines.sources.call_filenames import parse_filename, pattern


@pytest.mark.parametrize(
    ("stem", "name", "phone", "at"),
    [
        ("Call_recording_Alex_Rubin_250116_183005", "Alex Rubin", None, "2025-01-16T16:30:05"),
        ("Call recording Alex Rubin_250116_183005", "Alex Rubin", None, "2025-01-16T16:30:05"),
        ("Call recording +972525550163_250716_183005", None, "+972525550163", "2025-07-16T15:30:05"),
        ("Call_recording_052-555-0163_250116_183005", None, "052-555-0163", "2025-01-16T16:30:05"),
        ("Call_recording_שירן_תמיר_250116_183005", "שירן תמיר", None, "2025-01-16T16:30:05"),
        ("Alex Rubin(0525550111)_20250116183005", "Alex Rubin", "0525550111", "2025-01-16T16:30:05"),
        ("phone_20250116-183005_+972525550163", None, "+972525550163", "2025-01-16T16:30:05"),
        ("Alex Rubin_20250116_183005", "Alex Rubin", None, "2025-01-16T16:30:05"),
        ("2025-01-16 18.30.05 Alex Rubin", "Alex Rubin", None, "2025-01-16T16:30:05"),
        ("Call with Alex Rubin 2025-01-16", "Alex Rubin", None, "2025-01-16T00:00:00"),
        ("20250116-183005_+972525550163", None, "+972525550163", "2025-01-16T16:30:05"),
        ("2025-01-16 18.30.05 0525550111", None, "0525550111", "2025-01-16T16:30:05"),
        ("rec_+972-52-5550163_20250116_183005", None, "+972-52-5550163", "2025-01-16T16:30:05"),
        ("Recall Smith_20250116_183005", "Recall Smith", None, "2025-01-16T16:30:05"),
        ("Alex", "Alex", None, None),
    ],
)
def test_usual_names(stem: str, name: str | None, phone: str | None, at: str | None) -> None:
    found = parse_filename(stem, (), "Asia/Jerusalem")
    assert (found.name, found.phone) == (name, phone)
    assert (datetime.fromtimestamp(found.ts, UTC).strftime("%Y-%m-%dT%H:%M:%S") if found.ts else None) == at


def test_a_pattern_of_the_source_comes_first() -> None:
    found = parse_filename("rec 16-01-2025 (Alex Rubin) 0525550111", ["rec {dd}-{mm}-{yyyy} ({name}) {phone}"], "UTC")
    assert (found.name, found.phone, found.ts, found.date_quality) == ("Alex Rubin", "0525550111", 1736985600, "day")


def test_a_date_that_no_calendar_has_is_left_to_other_patterns() -> None:
    assert parse_filename("Call_recording_Alex_250231_183005", (), "UTC").ts is None


@pytest.mark.parametrize(
    ("template", "said"), [("{who}_{day}", r"has {day}; known: {name}"), ("{yy}{yy}", "uses {yy} twice")]
)
def test_a_wrong_pattern_says_what_is_wrong(template: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pattern(template)
