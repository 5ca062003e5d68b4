"""Time phrases, seen from Monday 20 January 2025, 14:00 in Jerusalem."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_query.understanding.time_expressions import WhenError, day_range, mentions, seconds, time_range

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


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what happened yesterday?", "2025-01-19", "2025-01-19"),
        ("the day before yesterday", "2025-01-18", "2025-01-18"),
        ("today's mail", "2025-01-20", "2025-01-20"),
        ("last week's email", "2025-01-13", "2025-01-19"),
        ("this week", "2025-01-20", "2025-01-26"),
        ("last month", "2024-12-01", "2024-12-31"),
        ("this month", "2025-01-01", "2025-01-31"),
        ("last year", "2024-01-01", "2024-12-31"),
        ("last weekend", "2025-01-18", "2025-01-19"),
        ("three days ago", "2025-01-17", "2025-01-17"),
        ("two weeks ago", "2025-01-06", "2025-01-12"),
        ("a month ago", "2024-12-01", "2024-12-31"),
        ("in the last two weeks", "2025-01-06", "2025-01-20"),
        ("What do I have next week?", "2025-01-27", "2025-02-02"),
        ("¿Qué tengo la semana que viene?", "2025-01-27", "2025-02-02"),
        ("co mám příští týden?", "2025-01-27", "2025-02-02"),
        ("מה יש לי בשבוע הבא?", "2025-01-26", "2025-02-01"),
        ("termini nächsten Monat", "2025-02-01", "2025-02-28"),
        ("la vacanza dell'anno prossimo", "2026-01-01", "2026-12-31"),
        ("кто придёт завтра?", "2025-01-21", "2025-01-21"),
        ("pasado mañana", "2025-01-22", "2025-01-22"),
        ("rendez-vous vendredi prochain", "2025-01-24", "2025-01-24"),
        ("next Monday", "2025-01-27", "2025-01-27"),
        ("last Friday", "2025-01-17", "2025-01-17"),
        ("minulou středu", "2025-01-15", "2025-01-15"),
        ("ביום שני שעבר", "2025-01-13", "2025-01-13"),
        ("since last week", "2025-01-13", None),
        ("before yesterday", None, "2025-01-18"),
        ("minulý týden", "2025-01-13", "2025-01-19"),
        ("minuly tyden", "2025-01-13", "2025-01-19"),
        ("včera", "2025-01-19", "2025-01-19"),
        ("předevčírem", "2025-01-18", "2025-01-18"),
        ("loni", "2024-01-01", "2024-12-31"),
        ("před 3 týdny", "2024-12-30", "2025-01-05"),
        ("před týdnem", "2025-01-13", "2025-01-19"),
        ("za poslední 3 měsíce", "2024-10-22", "2025-01-20"),
        # weeks of Hebrew phrases begin on Sunday
        ("מה היה בשבוע שעבר", "2025-01-12", "2025-01-18"),
        ("מה היה השבוע", "2025-01-19", "2025-01-25"),
        ("אתמול", "2025-01-19", "2025-01-19"),
        ("שלשום", "2025-01-18", "2025-01-18"),
        ("בחודש שעבר", "2024-12-01", "2024-12-31"),
        ("לפני שבועיים", "2025-01-05", "2025-01-11"),
        ("לפני 3 ימים", "2025-01-17", "2025-01-17"),
    ],
)
def test_phrases_said_from_today(question: str, first: str | None, last: str | None) -> None:
    assert days(question) == (first, last)
    when = time_range(question, NOW, ZONE)
    assert when is not None
    assert when.relative


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("mail in January", "2025-01-01", "2025-01-31"),
        ("in March", "2024-03-01", "2024-03-31"),  # the last one that has begun
        ("from Jan 2024", "2024-01-01", "2024-01-31"),
        ("since Jan", "2025-01-01", None),
        ("since March 2024", "2024-03-01", None),
        ("before 2024", None, "2023-12-31"),
        ("until February 2024", None, "2024-02-29"),
        ("15 January 2025", "2025-01-15", "2025-01-15"),
        ("mails between 1 and 10 January 2025", "2025-01-01", "2025-01-10"),
        ("from the 1st to the 10th of January", "2025-01-01", "2025-01-10"),
        ("3–5 February 2024", "2024-02-03", "2024-02-05"),
        ("od 1. do 10. ledna 2025", "2025-01-01", "2025-01-10"),
        ("מיילים בין 1 ל-10 בינואר 2025", "2025-01-01", "2025-01-10"),
        ("from 10 to 3 January 2025", "2025-01-03", "2025-01-03"),  # no such days; the last one is a day
        ("January 15, 2025", "2025-01-15", "2025-01-15"),
        ("on the 3rd of February", "2024-02-03", "2024-02-03"),
        ("2024-03-05", "2024-03-05", "2024-03-05"),
        ("2024-03", "2024-03-01", "2024-03-31"),
        ("from March to September 2021", "2021-03-01", "2021-09-30"),
        ("from November to February 2021", "2020-11-01", "2021-02-28"),
        ("the 2019 trip", "2019-01-01", "2019-12-31"),
        ("dne 15.1.2025", "2025-01-15", "2025-01-15"),
        ("15. 1. 2025", "2025-01-15", "2025-01-15"),
        ("15. ledna", "2025-01-15", "2025-01-15"),
        ("v lednu", "2025-01-01", "2025-01-31"),
        ("v roce 2023", "2023-01-01", "2023-12-31"),
        ("před lednem 2024", None, "2023-12-31"),
        ("בינואר 2024", "2024-01-01", "2024-01-31"),
        ("ב-2024", "2024-01-01", "2024-12-31"),
        # who comes on Monday may have been said before
        ("leave it over the weekend", "2025-01-18", "2025-01-19"),
        ("on Monday", "2025-01-13", "2025-01-13"),
        ("v pátek", "2025-01-17", "2025-01-17"),
        ("ביום שני", "2025-01-13", "2025-01-13"),
        ("Friday 3 January 2025", "2025-01-03", "2025-01-03"),
        ("31 February 2024", "2024-02-01", "2024-02-29"),  # no such day, but such a month
    ],
)
def test_phrases_of_the_calendar(question: str, first: str | None, last: str | None) -> None:
    assert days(question) == (first, last)
    when = time_range(question, NOW, ZONE)
    assert when is not None
    assert not when.relative


@pytest.mark.parametrize(
    "question",
    [
        "may I ask",
        "march on",
        "invoice INV-2024",
        "faktura 2025/0042",
        "2000 Kč",
        "$1999",
        "12,2024",
        "how do I do it",
        "mails from Jan",
        "commits by Jan",
    ],
)
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


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("The concert is on 14 May, doors at seven.", True),
        ("Koncert bude 14. 5. v 19:00.", True),
        ("vstupenky na 14.5.2025", True),
        ("The concert on 14/5 at 8", True),
        ("הקונצרט ב-14 במאי", True),
        ("The concert is on 14 April.", False),
        ("14 May 2024 was the last one.", False),
        ("Row 14, seat 5. Bring 3.5 EUR.", False),
        ("May I bring a friend?", False),
    ],
)
def test_a_text_speaks_of_the_days_that_it_names(text: str, speaks: bool) -> None:
    """As a ticket that was bought in January is for the concert in May."""
    when = time_range("the concert in May 2025", NOW, ZONE)
    assert when is not None
    assert mentions(text, when, NOW, ZONE) is speaks
    since = time_range("since May 2024", NOW, ZONE)
    assert since is not None
    assert not mentions(text, since, NOW, ZONE), "every day to come lies in it"
