"""The line by which a reader knows a source."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from relrag_query.display.source_line import source_line, time_of
from relrag_query.retrieval.hit import Hit, QuotedPlace
from tests.query_hits import passages, record

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
