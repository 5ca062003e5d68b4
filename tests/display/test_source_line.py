"""The line by which a reader knows a source."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from relrag_query.archive import Archive
from relrag_query.cli import render
from relrag_query.display.page_texts import page_texts
from relrag_query.display.source_line import boundary, source_line, time_of
from relrag_query.retrieval.hit import Hit, QuotedPlace
from relrag_query.service import replies
from tests import ROOT
from tests.query_hits import passages, publish, record

NEW_YORK, JERUSALEM = ZoneInfo("America/New_York"), ZoneInfo("Asia/Jerusalem")
MIDNIGHT = int(datetime(2025, 3, 4, tzinfo=UTC).timestamp())


@pytest.mark.parametrize("zone", [NEW_YORK, JERUSALEM])
def test_a_day_stays_that_day_in_every_zone(zone: ZoneInfo) -> None:
    assert time_of(MIDNIGHT, zone, "documentation") == "2025-03-04"


def test_a_message_at_midnight_keeps_its_minute() -> None:
    assert time_of(MIDNIGHT, JERUSALEM, "whatsapp") == "2025-03-04 02:00"
    assert time_of(MIDNIGHT, JERUSALEM, "email_attachment") == "2025-03-04 02:00"
    assert time_of(None, JERUSALEM, "email") == "undated"


def test_a_mails_attachment_with_the_pages_that_are_quoted() -> None:
    known = {"rag_source_type": "email_attachment", "subject": "Contract", "file_name": "contract.pdf"}
    attached = record("gmail:m:0", "Clause 7", "2025-03-04T09:30:00Z", from_="Orly Navon <orly@navon.example>", **known)
    (chunk,) = passages(attached)
    chunk.page_number = 2
    said = '2025-03-04 11:30, Orly Navon, attachment contract.pdf of "Contract", '
    assert source_line(Hit(chunk, 1.0, 1.0), JERUSALEM) == f"{said}page 2"
    places = [QuotedPlace(page=17), QuotedPlace(page=3), QuotedPlace(page=17)]
    assert source_line(Hit(chunk, 1.0, 1.0), JERUSALEM, places) == f"{said}pages 3, 17"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where is the spare key?", "The spare key is in the shed behind the rake."),
        ("Kde je náhradní klíč?", "Náhradní klíč je v kůlně za hráběmi."),
        ("איפה המפתח הרזרבי?", "המפתח הרזרבי במחסן מאחורי המגרפה."),
    ],
)
@pytest.mark.parametrize(
    ("quality", "when"),
    [
        ("modified", "file of 2025-03-04"),
        ("exact", "2025-03-04 08:30"),
        ("day", "2025-03-04"),
        ("year", "2025"),
    ],
)
def test_the_time_of_a_file_is_told_as_that(tmp_path: Path, question: str, text: str, quality: str, when: str) -> None:
    at = "2025-03-04T00:00:00Z" if quality in ("day", "year") else "2025-03-04T06:30:00Z"
    note = record("document:1", text, at, rag_source_type="documentation", file_name="keys.txt", date_quality=quality)
    with Archive.open(publish(tmp_path, [note])) as archive:
        answer = archive.ask(question)
    texts = page_texts(answer.language)
    shown = when.replace("file of 2025-03-04", texts.file_of.format(day="2025-03-04"))
    assert f"[1] {shown}, {texts.noun('documentation')} keys.txt" in render.answer_text(answer, JERUSALEM)
    assert f"{when}, document," in render.answer_text(answer, JERUSALEM, show_sources=True)
    (source,) = replies.answer_reply(answer, JERUSALEM, 1).sources
    assert source.date_quality == quality


def test_only_source_lines_and_pages_format_a_time_with_its_minute() -> None:
    """So that no command shows 02:00 of something that has only a date."""
    package = ROOT / "relrag_query"
    formatting = {path.name for path in package.rglob("*.py") if "%H:%M" in path.read_text(encoding="utf-8")}
    assert formatting == {"source_line.py", "wording.py", "archive_status.py"}


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        ("2025-01-15T23:00:00+00:00", "2025-01-16"),  # where that is midnight
        ("2025-01-15T00:00:00+00:00", "2025-01-15 01:00"),
        ("2025-07-15T22:00:00+00:00", "2025-07-16"),
    ],
)
def test_a_boundary_is_a_day_where_it_is_the_beginning_of_one(at: str, shown: str) -> None:
    assert boundary(int(datetime.fromisoformat(at).timestamp()), ZoneInfo("Europe/Prague")) == shown
