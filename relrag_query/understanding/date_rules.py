"""The rules for time phrases: the phrases of each language and patterns for dates, each with a function to days."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta

from relrag_pipelines.text.analyzer import PREFIXED_SCRIPT
from relrag_query.understanding.phrases import PhraseError, either, load_phrases
from relrag_query.understanding.phrases.tables import Phrases

DateRange = tuple[date | None, date | None]
"""first day, and the day after the last"""
DateRule = Callable[[re.Match[str], date, int], DateRange]
"""the match of a pattern, today, and the first weekday of a week -> days"""


def year_days(year: int) -> tuple[date, date]:
    return date(year, 1, 1), date(year + 1, 1, 1)


def month_days(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


def _month_back(today: date, months: int) -> tuple[date, date]:
    ordinal = today.year * 12 + today.month - 1 - months
    return month_days(ordinal // 12, ordinal % 12 + 1)


def _week_back(today: date, weeks: int, first_weekday: int = 0) -> tuple[date, date]:
    start = today - timedelta((today.weekday() - first_weekday) % 7 + 7 * weeks)
    return start, start + timedelta(7)


def _back(unit: str, count: int) -> DateRule:
    """The day, week, month or year that many before today's; behind it for a negative number."""
    return lambda match, today, first_weekday: _before(today, unit, count, first_weekday)


def _before(today: date, unit: str, count: int, first_weekday: int) -> DateRange:
    if unit == "day":
        return today - timedelta(count), today - timedelta(count - 1)
    if unit == "week":
        return _week_back(today, count, first_weekday)
    return year_days(today.year - count) if unit == "year" else _month_back(today, count)


def _ago(match: re.Match[str], today: date, first_weekday: int) -> DateRange:
    pair = _group(match, "pair")
    unit, count = (load_phrases().names.pairs[pair], 2) if pair else (_unit(match), _count(match))
    return _before(today, unit, count, first_weekday)


def _lately(match: re.Match[str], today: date, _: int) -> DateRange:
    """`the last three weeks`: their days, up to today."""
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[_unit(match)]
    return today - timedelta(days * _count(match)), today + timedelta(1)


def _weekend(match: re.Match[str], today: date, _: int) -> DateRange:
    """The last one that has begun."""
    back = (today.weekday() - 5) % 7
    return today - timedelta(back), today - timedelta(back - 2)


def _last_weekend(match: re.Match[str], today: date, _: int) -> DateRange:
    """The last one that has begun; on a Sunday the one before."""
    return _weekend(match, today - timedelta(7 if today.weekday() == 6 else 0), _)


def _weekday(match: re.Match[str], today: date, _: int) -> DateRange:
    back = (today.weekday() - load_phrases().names.weekdays[_group(match, "weekday")]) % 7 or 7
    return today - timedelta(back), today - timedelta(back - 1)


def _next_weekday(match: re.Match[str], today: date, _: int) -> DateRange:
    """The next such day after today."""
    ahead = (load_phrases().names.weekdays[_group(match, "weekday")] - today.weekday()) % 7 or 7
    return today + timedelta(ahead), today + timedelta(ahead + 1)


def _named_month(match: re.Match[str], today: date, _: int) -> DateRange:
    """The month of the given year, else of the last year in which it has begun."""
    month, year = _number(match, "month"), _group(match, "year")
    return month_days(int(year) if year else today.year - (month > today.month), month)


def _month_alone(match: re.Match[str], today: date, _: int) -> DateRange:
    """A month without a year, unless the words before it make it a person's name: mails from Jan."""
    if re.fullmatch(load_phrases().date.rather_name, match.group(), re.IGNORECASE):
        raise ValueError(match.group())
    return _named_month(match, today, _)


def _named_months(match: re.Match[str], today: date, _: int) -> DateRange:
    first, last, written_year = _number(match, "first"), _number(match, "month"), _group(match, "year")
    year = int(written_year) if written_year else today.year - (last > today.month)
    return month_days(year - (first > last), first)[0], month_days(year, last)[1]


def _named_day(match: re.Match[str], today: date, _: int) -> tuple[date, date]:
    """The day of the given year, else the last one up to today."""
    written_year = _group(match, "year")
    day = date(int(written_year or today.year), _number(match, "month"), _number(match, "day"))
    if not written_year and day > today:
        day = day.replace(year=day.year - 1)
    return day, day + timedelta(1)


def _named_days(match: re.Match[str], today: date, _: int) -> DateRange:
    """Days of one month: `from 1 to 10 January`."""
    last, behind = _named_day(match, today, _)
    first = last.replace(day=_number(match, "begin"))
    if first > last:
        raise ValueError(match.group())
    return first, behind


def _named_year(match: re.Match[str], today: date, _: int) -> DateRange:
    return year_days(int(_group(match, "year")))


def _group(match: re.Match[str], name: str) -> str:
    return (match.groupdict().get(name) or "").lower()


def _number(match: re.Match[str], name: str) -> int:
    written = _group(match, name)
    return load_phrases().names.months.get(written) or int(written)


def _unit(match: re.Match[str]) -> str:
    return load_phrases().names.units[_group(match, "unit")]


def _count(match: re.Match[str]) -> int:
    written = _group(match, "count") or "1"
    return load_phrases().names.counts.get(written) or int(written)


_RELATIVE: Mapping[str, DateRule] = {
    "day_before_yesterday": _back("day", 2),
    "yesterday": _back("day", 1),
    "today": _back("day", 0),
    "last_weekend": _last_weekend,
    "past_weekend": _weekend,
    "lately": _lately,
    "ago": _ago,
    "last_week": _back("week", 1),
    "this_week": _back("week", 0),
    "last_month": _back("month", 1),
    "this_month": _back("month", 0),
    "last_year": _back("year", 1),
    "this_year": _back("year", 0),
    "last_weekday": _weekday,
    "day_after_tomorrow": _back("day", -2),
    "tomorrow": _back("day", -1),
    "next_week": _back("week", -1),
    "next_month": _back("month", -1),
    "next_year": _back("year", -1),
    "next_weekday": _next_weekday,
}
"""rule of `phrases` for a time relative to today -> function to days"""
_OTHER_RULES = {"weekend": _weekend}
"""the other rules of `phrases`"""
_YEAR_NUMBER = r"(?P<year>(?:19|20)\d\d)"
_DAY_NUMBER = r"(?:0?[1-9]|[12]\d|3[01])"
_WORD = r"[^\W\d_]+"
_MONTH_NUMBER = r"(?P<month>0?[1-9]|1[0-2])"
_NO_NUMBER = rf"(?:(?<![\w/.,-])|(?<=[{PREFIXED_SCRIPT}])|(?<=[{PREFIXED_SCRIPT}]-))"
"""before a number that is not the rest of a longer one; some languages write prepositions together with it"""
AHEAD = timedelta(300)
"""a day without a year is the last such day up to this time after the text was written"""


def _bound(phrases: Phrases) -> str:
    words = phrases.date
    open_ends = f"(?P<since>{words.since})|(?P<after>{words.after})|(?P<before>{words.before})|(?P<until>{words.until})"
    return rf"(?:(?<!\w)(?P<bound>{open_ends})\s+(?:{words.article})?)?"


def _absolute(phrases: Phrases) -> Iterator[tuple[str, DateRule]]:
    """Patterns for dates, the most specific first."""
    words, months = phrases.date, either(phrases.names.months)
    # beside a number any word may be a month: `_number` looks it up, as patterns of all names take long to compile
    month = rf"(?P<month>{_WORD})(?!\w)"
    year = _YEAR_NUMBER + r"(?!\w|[/.,-]\d|\s*(?:kc\b|usd|eur|czk|nis|[₪€$%]))"
    of_year = rf"(?:,?\s+(?:{words.of_year})?{year})"
    day, begin = rf"(?P<day>{_DAY_NUMBER})", rf"(?P<begin>{_DAY_NUMBER})"
    ordinal = rf"(?:{words.ordinal}|\.)?"
    day_of_month = rf"{day}{ordinal}\s+(?:{words.of_month})?{month}{of_year}?"
    until_day = rf"(?:{words.article})?{day_of_month}"
    yield rf"{_NO_NUMBER}{_YEAR_NUMBER}-(?P<month>0[1-9]|1[0-2])-(?P<day>\d\d)(?![\w-])", _named_day
    yield rf"{_NO_NUMBER}{day}(?:\.\s?|/){_MONTH_NUMBER}(?:\.\s?|/){_YEAR_NUMBER}(?!\w)", _named_day
    yield (
        rf"\b(?:{words.from_})\s+(?:{words.article})?{_NO_NUMBER}{begin}{ordinal}\s+(?:{words.to})\s*{until_day}",
        _named_days,
    )
    yield rf"{_NO_NUMBER}{begin}{ordinal}\s?[-–]\s?{until_day}", _named_days
    yield _NO_NUMBER + day_of_month, _named_day
    yield rf"\b{month}\s+{day}(?:{words.ordinal})?(?!\w){of_year}?", _named_day
    yield rf"\b(?:{words.from_})\s+(?P<first>{_WORD})\s+(?:{words.to})\s*{month}{of_year}?", _named_months
    yield rf"(?<!\w){month}{of_year}", _named_month
    yield rf"(?<!\w)(?:{words.month_prefix}){month}{of_year}", _named_month
    yield rf"{_NO_NUMBER}{_YEAR_NUMBER}-(?P<month>0[1-9]|1[0-2])(?![\w-])", _named_month
    # nothing is asked for behind `since` and the like
    yield rf"(?(bound)|(?:{words.before_month}))(?P<month>{months})(?!\w)", _month_alone
    yield rf"(?:(?<!\w)(?:{words.month_prefix})-?|(?<![\w/.,$€₪-])){year}", _named_year
    yield from (
        (rf"(?<!\w)(?:{time.expression})(?!\w)", _OTHER_RULES[time.rule])
        for time in phrases.times
        if time.rule in _OTHER_RULES
    )
    # a day without more may also be one to come, of which the text speaks
    weekdays = either(phrases.names.weekdays)
    yield rf"(?<!\w)(?:{words.weekday_prefix})?(?P<weekday>{weekdays})(?!\w)", _weekday


@functools.cache
def rules(phrases: Phrases) -> list[tuple[re.Pattern[str], DateRule, int, bool]]:
    """Pattern, function to days, first weekday, and whether it is relative, the most specific first."""
    if unknown := sorted({time.rule for time in phrases.times} - _RELATIVE.keys() - _OTHER_RULES.keys()):
        raise PhraseError(f"time.{unknown[0]} is unknown; known are {', '.join((*_RELATIVE, *_OTHER_RULES))}")
    bound = _bound(phrases)
    relative = [
        (re.compile(rf"{bound}(?<!\w)(?:{time.expression})(?!\w)", re.IGNORECASE), read, time.first_weekday, True)
        for rule, read in _RELATIVE.items()
        for time in phrases.times
        if time.rule == rule
    ]
    return relative + [
        (re.compile(f"{bound}(?:{pattern})", re.IGNORECASE), read, 0, False) for pattern, read in _absolute(phrases)
    ]


@functools.cache
def days_named(phrases: Phrases) -> list[tuple[re.Pattern[str], DateRule]]:
    """Patterns for a day in a text: those for dates in questions, and dates in numbers without a year."""
    patterns = [pattern for pattern, read in _absolute(phrases) if read is _named_day]
    day = rf"{_NO_NUMBER}(?P<day>{_DAY_NUMBER})"
    by_number = (rf"{day}\.\s?{_MONTH_NUMBER}\.(?!\s?\d)", rf"{day}/{_MONTH_NUMBER}(?![\w/])")
    return [(re.compile(pattern, re.IGNORECASE), _named_day) for pattern in (*patterns, *by_number)]
