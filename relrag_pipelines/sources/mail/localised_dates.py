"""Reads `Date` headers with names of another language than English, which RFC 5322 does not allow, or other forms.

Programs that format a date for its reader write such: `lör, 29 maj 2021 00:24:04 +0200`, `Di, 17 Mai 2022 12:31:00
0200`, `2025年2月3日 09:00`. Names of months are those of the CLDR. Where a name means two months (`listopad` is October
in Croatian, November in Czech and Polish), the weekday decides, else the language that comes first in LANGUAGES.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone

from babel import Locale

from relrag_pipelines import languages
from relrag_pipelines.text.month_names import month_names

_ALL = """
en cs he de fr es pt it nl pl ru uk sv da nb nn fi hu tr ro el ar fa zh ja ko vi th id ms bg sr hr bs sl sk lt lv et ca
eu gl is ga cy mt sq mk be ka hy az kk uz ky tg tk mn hi bn ta te mr gu kn ml pa ne si ur am sw af zu fil km lo my fo lb
fy br oc rm se yo ig ha so
"""
LANGUAGES = tuple(_ALL.split())
"""of which the names are read, those first that count where a name has two meanings"""

_CLOCK = re.compile(r"(?<![\d:.])(\d{1,2})\s?[:h.]\s?(\d\d)(?:\s?[:m.]\s?(\d\d)(?:[.,]\d{1,9})?s?)?(?![\d.:])")
_CLOCK_WITH_COLON = re.compile(r"(?<![\d:])(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?![\d:])")
_YEAR_MARK, _MONTH_MARK, _DAY_MARK, _HOUR_MARK, _MINUTE_MARK, _SECOND_MARK = (
    languages.patterns("exports", f"{unit}_mark") for unit in ("year", "month", "day", "hour", "minute", "second")
)
_MARKED_CLOCK = re.compile(
    rf"(\d{{1,2}})\s?(?:{_HOUR_MARK})\s?(\d{{1,2}})\s?(?:{_MINUTE_MARK})(?:\s?(\d{{1,2}})\s?(?:{_SECOND_MARK}))?"
)
_CLOCKS = (_MARKED_CLOCK, _CLOCK_WITH_COLON, _CLOCK)
_MARKED_DAY = re.compile(
    rf"(?<!\d)((?:19|20)\d\d)\s?(?:{_YEAR_MARK}|\.)\s?(\d{{1,2}})\s?(?:{_MONTH_MARK}|\.)\s?(\d{{1,2}})"
    rf"\s?(?:{_DAY_MARK})?"
)
_YEAR_FIRST = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.]\s?(\d{1,2})[-/.]\s?(\d{1,2})(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})\s?\.\s?(\d{1,2})\s?\.\s?((?:19|20)\d\d)(?!\d)")
"""with dots, as no country writes the month first"""
_ZONE = re.compile(
    r"(?:gmt|utc|ut|z)?\s?([+\u2212-])\s?(\d{1,2}):?(\d\d)?(?!\d)|(?<![\d+-])(\d\d)([0-5]\d)(?!\d)|\b(?:gmt|utc)\b"
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DAY = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_WORD = re.compile(r"[^\s\d,;:/()+\u2212-]+")
_LAST_WORD = re.compile(r"[^\s\d,;:/()+\u2212-]+(?=\s*\Z)")
_FIRST_WORD = re.compile(r"\s*[^\s\d,;:/()+\u2212-]+")
_MONTH_WITH_NUMBER = re.compile(rf"(?<!\d)(1[0-2]|[1-9])\s?(?:{_MONTH_MARK})")
_MAX_OFFSET = 14
_MIN_MONTH_LETTERS = 3
"""letters of a month's name that some programs cut short"""


@dataclass(frozen=True)
class _Names:
    """What words mean: each in the order of LANGUAGES."""

    months: dict[str, list[int]]
    month_pattern: re.Pattern[str]
    weekdays: dict[str, list[int]]
    """Monday is 0"""
    afternoon: frozenset[str]
    morning: frozenset[str]


def parse(text: str) -> datetime | None:
    """The moment, without a zone where the text has none; None where it is no date.

    Raises ValueError for a day or time that does not exist.
    """
    plain = _plain(text)
    for clock in _CLOCKS:
        for time in clock.finditer(plain):
            day, rest = _day(plain[: time.start()]), plain[time.end() :]
            if day is None:
                day, rest = _day(rest), _YEAR.sub(" ", rest)
            if day is not None:
                return _at(day, time, plain, rest)
    return None


def _plain(text: str) -> str:
    """The text in lower case, digits of all scripts as ASCII, without marks of direction."""
    shown = (char for char in unicodedata.normalize("NFC", text) if unicodedata.category(char) != "Cf")
    return "".join(str(unicodedata.digit(char)) if char.isdecimal() else char for char in shown).lower()


def _at(day: date, time: re.Match[str], text: str, rest: str) -> datetime:
    hour = int(time[1])
    neighbours = {
        _bare(neighbour[0])
        for neighbour in (_LAST_WORD.search(text[: time.start()]), _FIRST_WORD.match(rest))
        if neighbour
    }
    if hour < 12 and neighbours & _names().afternoon:
        hour += 12
    elif hour == 12 and neighbours & _names().morning:
        hour = 0
    moment = datetime(day.year, day.month, day.day, hour, int(time[2]), min(int(time[3] or 0), 59))  # noqa: DTZ001
    return moment.replace(tzinfo=_zone(rest))


def _zone(rest: str) -> timezone | None:
    """The zone behind the time; one without a sign is east."""
    zone = _ZONE.search(rest)
    if zone is None:
        return None
    hours, minutes = int(zone[2] or zone[4] or 0), int(zone[3] or zone[5] or 0)
    if hours > _MAX_OFFSET:
        return None
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if zone[1] in ("-", "\u2212") else offset)


def _day(text: str) -> date | None:
    """The day in a text that holds nothing else."""
    for pattern in (_MARKED_DAY, _YEAR_FIRST):
        if match := pattern.search(text):
            return date(int(match[1]), int(match[2]), int(match[3]))
    if match := _DAY_FIRST.search(text):
        return date(int(match[3]), int(match[2]), int(match[1]))
    return next(_named_days(text), None)


def _named_days(text: str) -> Iterator[date]:
    """The days that a year, a day and the name of a month may mean, the likeliest first."""
    year = _YEAR.search(text)
    if year is None:
        return
    rest = text[: year.start()] + " " + text[year.end() :]
    months, rest = _months(rest)
    number = _DAY.search(rest)
    if number is None:
        return
    days = [date(int(year[0]), month, int(number[0])) for month in months]
    weekdays = {weekday for word in _WORD.findall(rest) for weekday in _names().weekdays.get(_bare(word), ())}
    yield from sorted(days, key=lambda day: day.weekday() not in weekdays)


def _months(text: str) -> tuple[list[int], str]:
    """The months that a text may name, and the text without the name."""
    names = _names()
    if match := names.month_pattern.search(text):
        return names.months[match[1]], text[: match.start()] + " " + text[match.end() :]
    if numbered := _MONTH_WITH_NUMBER.search(text):
        return [int(numbered[1])], text[: numbered.start()] + " " + text[numbered.end() :]
    words = [word for raw_word in _WORD.findall(text) if len(word := _bare(raw_word)) >= _MIN_MONTH_LETTERS]
    shortened = [months for word in words for name, months in names.months.items() if name.startswith(word)]
    return (shortened[0] if shortened else []), text


def _bare(word: str) -> str:
    return word.strip(" .\u05f3'\u2019\"")


@functools.cache
def _names() -> _Names:
    months = _months_by_name()
    # `in` and `to`, which Hebrew writes before the name
    by_length = sorted(map(re.escape, months), key=len, reverse=True)
    pattern = re.compile(rf"(?<![^\W\d_])(?:[\u05d1\u05dc]-?)?({'|'.join(by_length)})(?![^\W_])")
    morning, afternoon = _day_halves("am"), _day_halves("pm")
    return _Names(months, pattern, _weekdays_by_name(), afternoon - morning, morning - afternoon)


def _months_by_name() -> dict[str, list[int]]:
    months: dict[str, list[int]] = {}
    for language in LANGUAGES:
        for name, month in month_names(language).items():
            _append(months, _plain(name), month)
    return months


def _weekdays_by_name() -> dict[str, list[int]]:
    weekdays: dict[str, list[int]] = {}
    for language, width in itertools.product(LANGUAGES, ("wide", "abbreviated", "short")):
        for forms in Locale.parse(language).days.values():
            for number, name in forms.get(width, {}).items():
                _append(weekdays, _bare(name.lower()), number)
    return weekdays


def _day_halves(half: str) -> frozenset[str]:
    """The words for a half of the day: `am` or `pm`."""
    periods = (widths for language in LANGUAGES for widths in Locale.parse(language).day_periods.values())
    return frozenset(_bare(names[half].lower()) for widths in periods for names in widths.values() if half in names)


def _append(table: dict[str, list[int]], name: str, number: int) -> None:
    numbers = table.setdefault(name, [])
    if number not in numbers:
        numbers.append(number)
