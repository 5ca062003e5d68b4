"""The time that a question means in an archive whose newest record is older than today."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from relrag_query.archive import Archive
from relrag_query.display.page_texts import page_texts
from relrag_query.retrieval.question_reader import Filters
from tests.cases import cases
from tests.query_hits import passages, publish, record


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    records = [
        record("gmail:1", "Firing costs 35 until the summer.", "2023-10-02T08:00:00Z", rag_source_type="email"),
        record("gmail:2", "Firing costs 42 from now on.", "2024-10-01T08:00:00Z", rag_source_type="email"),
        record("gmail:3", "The stall is confirmed.", "2025-03-09T08:00:00Z", rag_source_type="email"),
        record("document:1", "Kiln manual", "2026-11-20T08:00:00Z", rag_source_type="documentation",
               date_quality="modified"),
        record("whatsapp:1", "The kiln is fixed.", "2024-11-05T08:00:00Z", source="chats", rag_source_type="whatsapp"),
        record("gmail:4", "A mail with a wrong clock.", "2031-01-01T08:00:00Z", rag_source_type="email"),
    ]  # fmt: skip
    with Archive.open(
        publish(tmp_path_factory.mktemp("times"), records, [one for each in records for one in passages(each)])
    ) as opened:
        yield opened


@pytest.mark.parametrize(*cases(__file__, "a_month_without_a_year_is_the_last_that_the_archive_reaches"))
def test_a_month_without_a_year_is_the_last_that_the_archive_reaches(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, question: str, first: str, why: str
) -> None:
    monkeypatch.setenv("RELRAG_NOW", "2026-11-24T12:00:00+00:00")
    with archive._reading() as connection:
        when = archive._context(connection, question, Filters(), 8).question.time
    assert when is not None, why
    zone = ZoneInfo(archive.settings.timezone)
    assert when.since == datetime.fromisoformat(first).replace(tzinfo=zone).timestamp(), why


@pytest.mark.parametrize("question", ["what did firing cost before October", "kolik stál výpal před říjnem",
                                      "כמה עלתה השריפה לפני אוקטובר"])  # fmt: skip
def test_so_is_one_that_ends_the_time(archive: Archive, monkeypatch: pytest.MonkeyPatch, question: str) -> None:
    monkeypatch.setenv("RELRAG_NOW", "2026-11-24T12:00:00+00:00")
    with archive._reading() as connection:
        when = archive._context(connection, question, Filters(), 8).question.time
    zone = ZoneInfo(archive.settings.timezone)
    assert when is not None
    assert (when.since, when.until) == (None, datetime(2024, 10, 1, tzinfo=zone).timestamp())
    answer = archive.ask(question)
    texts = page_texts(answer.language)
    days = texts.until.format(last="2024-09-30")
    assert answer.head[0] == texts.time_reached.format(phrase=when.phrase, days=days, day="2025-03-09")


def test_one_that_ends_the_time_stays_while_the_year_before_it_has_records(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy some days old lies before April as a whole: asked for what was before, none of it may be left out."""
    monkeypatch.setenv("RELRAG_NOW", "2025-04-05T12:00:00+00:00")
    with archive._reading() as connection:
        when = archive._context(connection, "what did firing cost before April", Filters(), 8).question.time
    zone = ZoneInfo(archive.settings.timezone)
    assert when is not None
    assert (when.until, when.newest) == (datetime(2025, 4, 1, tzinfo=zone).timestamp(), None)


def test_only_the_sources_that_are_asked_count(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELRAG_NOW", "2026-11-24T12:00:00+00:00")
    zone = ZoneInfo(archive.settings.timezone)
    with archive._reading() as connection:
        for limits in (Filters(sources=["chats"]), Filters(kinds=["whatsapp"])):
            when = archive._context(connection, "what did firing cost in March", limits, 8).question.time
            assert when is not None
            assert when.since == datetime(2024, 3, 1, tzinfo=zone).timestamp()
