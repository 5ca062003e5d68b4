"""Time phrases, seen from Monday 20 January 2025, 14:00 in Jerusalem."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_query.understanding.time_expressions import WhenError, day_range, mentions, seconds, time_range
from tests.cases import cases

NOW = datetime(2025, 1, 20, 12, tzinfo=UTC)
ZONE = ZoneInfo("Asia/Jerusalem")


def days(question: str, now: datetime = NOW) -> tuple[str | None, str | None] | None:
    """First day and last day of what is understood."""
    when = time_range(question, now, ZONE)
    if when is None:
        return None
    since = datetime.fromtimestamp(when.since, ZONE).date().isoformat() if when.since is not None else None
    until = datetime.fromtimestamp(when.until - 1, ZONE).date().isoformat() if when.until is not None else None
    return since, until


@pytest.mark.parametrize(*cases(__file__, "phrases_said_from_today"))
def test_phrases_said_from_today(question: str, first: str | None, last: str | None) -> None:
    assert days(question) == (first, last)
    when = time_range(question, NOW, ZONE)
    assert when is not None
    assert when.relative


@pytest.mark.parametrize(*cases(__file__, "phrases_of_the_calendar"))
def test_phrases_of_the_calendar(question: str, first: str | None, last: str | None) -> None:
    assert days(question) == (first, last)
    when = time_range(question, NOW, ZONE)
    assert when is not None
    assert not when.relative


@pytest.mark.parametrize(*cases(__file__, "what_is_no_time"))
def test_what_is_no_time(question: str) -> None:
    assert days(question) is None


def test_days_are_those_of_the_owner() -> None:
    late = datetime(2025, 1, 20, 23, 30, tzinfo=UTC)  # already the 21st in Jerusalem
    assert days("today", late) == ("2025-01-21", "2025-01-21")


def test_the_phrase_can_be_taken_out_with_its_possessive() -> None:
    question = "the contract from last week's email"
    when = time_range(question, NOW, ZONE)
    assert when is not None
    assert when.phrase == "last week"
    assert when.remove_from(question).split() == ["the", "contract", "from", "email"]


def test_a_window_holds_what_overlaps_it() -> None:
    when = time_range("yesterday", NOW, ZONE)
    assert when is not None and when.since is not None and when.until is not None
    assert when.holds(when.since, when.since)
    assert when.holds(when.since - 100, when.since)
    assert not when.holds(when.since - 100, when.since - 1)
    assert not when.holds(when.until, when.until)
    assert not when.holds(None, None)


@pytest.mark.parametrize(
    ("text", "first", "behind"),
    [
        ("2024", date(2024, 1, 1), date(2025, 1, 1)),
        ("2024-12", date(2024, 12, 1), date(2025, 1, 1)),
        ("2024-02-29", date(2024, 2, 29), date(2024, 3, 1)),
    ],
)
def test_limits_of_a_query(text: str, first: date, behind: date) -> None:
    assert day_range(text) == (first, behind)


@pytest.mark.parametrize("text", ["", "24", "2024-13", "2023-02-29", "January", "2024-03-15T10:00", "9999"])
def test_limits_that_are_no_dates(text: str) -> None:
    with pytest.raises(WhenError, match="write 2024, 2024-03 or 2024-03-15"):
        day_range(text)


@given(st.text(max_size=60))
def test_any_text_gives_a_range_in_order_or_none(text: str) -> None:
    when = time_range(text, NOW, ZONE)
    assert when is None or when.since is None or when.until is None or when.since < when.until


@given(st.dates(date(1970, 1, 2), date(2100, 1, 1)))
def test_a_date_in_any_form_is_one_day(day: date) -> None:
    for written in (day.isoformat(), f"{day.day}.{day.month}.{day.year}", day.strftime("%d %B %Y")):
        when = time_range(f"what was on {written}", NOW, ZONE)
        if 1900 <= day.year < 2100:
            assert when is not None
            assert when.since == seconds(day, ZONE)


@pytest.mark.parametrize(*cases(__file__, "a_text_speaks_of_the_days_that_it_names"))
def test_a_text_speaks_of_the_days_that_it_names(text: str, speaks: bool) -> None:
    """As a ticket that was bought in January is for the concert in May."""
    when = time_range("the concert in May 2025", NOW, ZONE)
    assert when is not None
    assert mentions(text, when, NOW, ZONE) is speaks
    since = time_range("since May 2024", NOW, ZONE)
    assert since is not None
    assert not mentions(text, since, NOW, ZONE), "every day to come lies in it"
