"""Time phrases of a question: yesterday, last week, in January, 2024, minulý týden.

A phrase becomes a range of seconds by the owner's calendar. The words are those of `phrases`; numbers are
read here.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from relrag_pipelines.errors import RelragError
from relrag_query.understanding.date_rules import AHEAD, DateRange, days_named, month_days, rules, year_days
from relrag_query.understanding.phrases import bare, load_phrases

_NO_DAY = (ValueError, OverflowError, KeyError)
"""raised for 31 February, for a year that no calendar has, and for a word that is a name only by the case rules of
another alphabet: `sali`, a hall in Polish, for the Turkish `salı`"""


class WhenError(RelragError, ValueError):
    """An invalid date; the message says how to write one."""

    stored = "a time that was given cannot be read"


@dataclass(frozen=True)
class TimeRange:
    """The time that a question speaks of."""

    since: int | None
    """first second, UTC; None: no earliest"""
    until: int | None
    """second behind the last, UTC; None: no latest"""
    phrase: str
    """the words that say it"""
    relative: bool
    """said from today (`last week`): then nothing outside answers; a month or a day may also be a word of the text"""
    newest: int | None = None
    """of a time without a year that the archive does not reach this year: when its newest record is, seconds, UTC"""

    def holds(self, first: int | None, last: int | None) -> bool:
        """Whether something from `first` to `last` overlaps the range; what has no time does not."""
        if first is None:
            return False
        return (self.until is None or first < self.until) and (self.since is None or (last or first) >= self.since)

    def remove_from(self, question: str) -> str:
        """The question without the words that say the time."""
        return re.sub(re.escape(self.phrase) + r"(?:['’]s)?", " ", unicodedata.normalize("NFC", question))


def day_range(text: str) -> tuple[date, date]:
    """First day and day behind the last of `2024`, `2024-03` or `2024-03-15`; WhenError for anything else."""
    try:
        if re.fullmatch(r"\d{4}", text):
            return year_days(int(text))
        if re.fullmatch(r"\d{4}-\d{2}", text):
            return month_days(int(text[:4]), int(text[5:]))
        day = date.fromisoformat(text)
        return day, day + timedelta(1)
    except (ValueError, OverflowError):
        message = f'"{text}" is not a date; write 2024, 2024-03 or 2024-03-15'
        raise WhenError(message, code="date_wrong", text=text) from None


def seconds(day: date | None, zone: ZoneInfo) -> int | None:
    """The first second of a day in that zone, since 1970 in UTC."""
    return None if day is None else int(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp())


def time_range(question: str, now: datetime, zone: ZoneInfo) -> TimeRange | None:
    """The first time phrase of a question that is understood; None where it has none.

    `now` is any moment with a zone; days are those of `zone`.
    """
    question = unicodedata.normalize("NFC", question)
    today, plain = now.astimezone(zone).date(), bare(question)
    for pattern, read, first_weekday, relative in rules(load_phrases()):
        for match in pattern.finditer(plain):
            try:
                first, end = _bounded(match, read(match, today, first_weekday))
                since, until = seconds(first, zone), seconds(end, zone)
            except _NO_DAY:
                continue
            return TimeRange(since, until, question[match.start() : match.end()].strip(), relative)
    return None


def mentions(text: str, when: TimeRange, written: datetime | None, zone: ZoneInfo) -> bool:
    """Whether a text names a day of a range that has two ends: the ticket bought in January is for the concert in May.

    A day without a year is taken as one of the ten months after the text was `written`, or of the two before.
    """
    if when.since is None or when.until is None or not re.search(r"\d", text):
        return False
    reference = ((written or datetime.fromtimestamp(when.since, zone)).astimezone(zone) + AHEAD).date()
    plain = bare(unicodedata.normalize("NFC", text))
    for pattern, read in days_named(load_phrases()):
        for match in pattern.finditer(plain):
            try:
                first, end = (seconds(day, zone) for day in read(match, reference, 0))
            except _NO_DAY:
                continue
            if first is not None and end is not None and when.holds(first, end - 1):
                return True
    return False


def _bounded(match: re.Match[str], days: DateRange) -> DateRange:
    """`since`, `after`, `before` and `until` leave one end open."""
    if match["since"]:
        return days[0], None
    if match["after"]:
        return days[1], None
    if match["before"]:
        return None, days[0]
    if match["until"]:
        return None, days[1]
    return days
