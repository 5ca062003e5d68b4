"""Names that recorders give to calls."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from relrag_pipelines.sources.call_filenames import parse_filename, pattern
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "usual_names"))
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
