"""Converts years and days of the calendars that phones use to the Gregorian calendar.

iOS writes dates in the calendar that is set under Language & Region. The date itself shows which one that is: by a word
for the era (`R6/6/13`, `6/13/2567 BE`, `民國113/6/13`, `٧/١٢/١٤٤٥ هـ`), or by a year in which no chat was written.
Formats: the short dates of Unicode CLDR 48, `ca-japanese`, `ca-buddhist`, `ca-roc`, `ca-persian` and `ca-islamic`, as
ICU 78 writes them in Japanese, English, Thai, Chinese (Taiwan), Persian and Arabic (Saudi Arabia).
"""

from __future__ import annotations

import tomllib
from datetime import date, timedelta
from pathlib import Path

_PERSIAN, _UMM_AL_QURA = "persian", "umm al-qura"
_BUDDHIST = -543

ERAS: dict[str, int | str] = tomllib.loads(Path(__file__).with_name("eras.toml").read_text(encoding="utf-8"))
"""Words for an era, in lower case, to what makes its years Gregorian, or to the calendar whose days differ too"""

_FIRST_NEW_YEAR = date(2008, 12, 29)
_FIRST_YEAR = 1430
_LONG_MONTHS = (
    "aa6 956 2ae 56d 36a b55 aaa 94d 49d 95d 2ba 5b5 5aa d55 a9a 92e 26e 55d ada 6d4 6a5 "
    "b27 a4d 4ad 56d b5a 754 f49 e92 d26 a56 356 6b5 baa b92 b25 68b a9b 55a ada 5b4"
)
"""The years from 1430 (2008) on: bit n is set where month n + 1 has 30 days, not 29.

From ICU 78, by which iOS writes; the package hijridate 2.6 agrees up to 1450 (2029), behind that it foresees others.
"""


def _umm_al_qura_year(year: int) -> list[int]:
    """The lengths of its months; raises ValueError if they are not known."""
    years = _LONG_MONTHS.split()
    if not _FIRST_YEAR <= year < _FIRST_YEAR + len(years):
        raise ValueError
    long = int(years[year - _FIRST_YEAR], 16)
    return [30 if long >> month & 1 else 29 for month in range(12)]


def _persian_year(year: int) -> list[int]:
    """The lengths of its months; leap years follow a cycle of 33 from 1178 to 1633."""
    return [31] * 6 + [30] * 5 + [30 if (year * 25 + 11) % 33 < 8 else 29]


_YEARS = {_PERSIAN: _persian_year, _UMM_AL_QURA: _umm_al_qura_year}
_NEW_YEARS = {_PERSIAN: (1387, date(2008, 3, 20)), _UMM_AL_QURA: (_FIRST_YEAR, _FIRST_NEW_YEAR)}
"""A year of each before there were exports, and the day it began"""


def gregorian(year: int, month: int, day: int, era: str = "") -> date | None:
    """The Gregorian day; None if there is no such day, or no message can be from it.

    Without an era, a year of two digits is in this century or, from 50 on, in the Buddhist 2500s (`13/6/67` in Thai is
    in 2024); one above 2400 is Buddhist, 1380 to 1420 Persian, and 1421 to 1499 of the Hijra.
    """
    calendar = ERAS[era] if era else _calendar_of(year)
    try:
        if isinstance(calendar, str):
            return _convert(calendar, year, month, day)
        converted = date(year + calendar, month, day)
    except (ValueError, OverflowError):
        return None
    return converted if 1990 <= converted.year < 2200 else None


def _calendar_of(year: int) -> int | str:
    if year < 50:
        return 2000
    if year < 100:
        return 2500 + _BUDDHIST
    if year > 2400:
        return _BUDDHIST
    if 1380 <= year <= 1420:
        return _PERSIAN
    return _UMM_AL_QURA if 1421 <= year < 1500 else 0


def _convert(calendar: str, year: int, month: int, day: int) -> date:
    """Converts a date; raises ValueError if there is no such day."""
    months_of = _YEARS[calendar]
    first, begun = _NEW_YEARS[calendar]
    if not (first <= year < first + 200 and 1 <= month <= 12 and 1 <= day <= months_of(year)[month - 1]):
        raise ValueError
    days = sum(sum(months_of(earlier)) for earlier in range(first, year)) + sum(months_of(year)[: month - 1])
    return begun + timedelta(days + day - 1)
