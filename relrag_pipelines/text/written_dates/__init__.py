"""Finds the date that a text states as its own: in its head or at its foot, or in a title; a file of words a language.

Months come from the CLDR (month_names.py). Words before a date that is of something else count in the language of the
month only: `a` is `and` in Czech, and introduces a date in Spanish.
"""

from __future__ import annotations

import functools
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from relrag_pipelines import languages
from relrag_pipelines.text.month_names import month_names, weekday_names, without_accents

LANGUAGES = languages.codes("dates")

_HEAD_LINES = 15
"""lines with letters within which a letter or an invoice says of when it is"""
_FOOT_LINES = 12
"""and those at its end, where a contract says when it was signed"""
_CELLS = re.compile(r"\t|[ \xa0]{2,}|\|")
"""separators of the cells of a line"""
_MAX_LINE_CHARS = 200
"""longer lines are skipped"""
_YEAR_ANYWHERE = re.compile("[12١٢۱۲１２][09٠٩۰۹０９]\\d\\d|[一二][九〇零○][〇零○一二三四五六七八九]{2}年")
_AROUND = 24
"""characters on either side of a line end in which a date is looked for"""
_LINE_END = re.compile(r"(?<=[^\s])[ \t]*\n[ \t]*(?:>[ \t]?)*(?=[^\s>])")
_DATE_WORD = re.compile(r"[^\W_]+[.,/-]?$|[^\W_]+")
_MARKS = r"[\s*_#>()-]*"
_PLACE = r"[^\W\d_]+(?:(?:[ -]|\. ?|['’])[^\W\d_]+){0,2}"
_WORD = r"[^\W\d_]+"
_DIGITS = {zero + digit: str(digit) for zero in (0x660, 0x6F0, 0x966, 0xFF10) for digit in range(10)}
_PLAIN = _DIGITS | str.maketrans({"：": ": ", "，": ", ", "،": ",", "／": "/", "．": "."})
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
_CHINESE_NUMBER = re.compile("[〇零○一二三四五六七八九十]{1,4}(?=[年月日号號])")
_CHINESE_DIGITS = str.maketrans("〇零○一二三四五六七八九", "000123456789")
_YEAR = re.compile(
    r"(?<![^\W_])(?<!\d[-./])(?<![$€₪£#])(?:19|20)\d\d(?![^\W_])(?![-./]\d)(?!\s*(?:kc\b|czk|eur|usd|nis|[%€₪$£]))",
    re.IGNORECASE,
)
"""by itself, and no number, price, or part of a date or a range"""


def stated_date(text: str) -> date | None:
    """The day that a text says it is of: `Date: 12 November 2025`, `V Brně dne 3. 4. 2023`; None where it says none.

    Days that stand by themselves on several lines are those of a diary.
    """
    lines = [line for line in text.splitlines() if line.strip(" \t*_#|-")]
    ends, alone = {*range(_HEAD_LINES), *range(len(lines) - _FOOT_LINES, len(lines))}, set[date]()
    for number, line in enumerate(lines):
        for cell, written in _own_dates(line):
            if number in ends and _label().fullmatch(cell[: written.start]):
                return written.day
            if _is_alone(cell, written):
                alone.add(written.day if number in ends else date.max)
    return alone.pop() if len(alone) == 1 and date.max not in alone else None


def _own_dates(line: str) -> Iterator[tuple[str, _Date]]:
    """The first date of each cell of a line, unless it is the date of something else, each with its cell."""
    if len(line) > _MAX_LINE_CHARS or not _YEAR_ANYWHERE.search(line):
        return
    for cell in _CELLS.split(_bare(line)):
        written = next(_dates(cell), None)
        if written is not None and not _other_date_pattern(written.languages).search(cell[: written.start]):
            yield cell, written


def join_dates(text: str) -> str:
    """The text with a space for each line end within a date: `12.` and `ledna 2025` on the next line.

    Where a text was wrapped at a width, a reader would take the two for two things.
    """
    return _LINE_END.sub(lambda line_end: " " if _is_within_date(text, line_end) else line_end[0], text)


def _is_within_date(text: str, line_end: re.Match[str]) -> bool:
    before, behind = text[max(0, line_end.start() - _AROUND) : line_end.start()], text[line_end.end() :][:_AROUND]
    if not (_DATE_WORD.search(before) and _DATE_WORD.match(behind)):
        return False
    begun = _bare(before)
    joined = f"{begun} {_bare(behind)}"
    return any(match.start() < len(begun) < match.end() - 1 for match in _broken_date().finditer(joined))


@functools.cache
def _broken_date() -> re.Pattern[str]:
    """A day with its month, with or without a year, or a month with its year."""
    names = "|".join(sorted(map(re.escape, _months()), key=len, reverse=True))
    day, month, year = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:19|20)\d\d"
    nth, of = f"(?:{_words('ordinals', LANGUAGES)})?", _words("of", LANGUAGES)
    ways = (
        rf"{day}{nth} (?:(?:{of}) )?(?:{_words('month_prefix', LANGUAGES)})?(?:{names})(?:,? {year})?",
        rf"(?:{names}) {day}{nth}(?:,? {year})?",
        rf"(?:{names}),? {year}",
        rf"{day}\. ?{month}\. ?{year}",
        rf"{year}- ?{month}- ?{day}",
        rf"{day}/ ?{month}/ ?{year}",
    )
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(ways)})(?![^\W_])")


def title_date(title: str) -> date | None:
    """The only full date of a title or a file's name, at one of its ends; None where it is of something else."""
    plain = _bare(title.replace("_", " "))
    dates = list(_dates(plain))
    if len(dates) != 1:
        return None
    (written,) = dates
    before, behind = plain[: written.start], plain[written.end :]
    if re.search(r"\w", before) and re.search(r"\w", behind):
        return None
    return None if _other_date_pattern(written.languages).search(before) else written.day


def whole_date(text: str) -> date | None:
    """The day of a text that is nothing but a date; None where it is anything else."""
    plain = _bare(text).strip(" .,")
    written = next(_dates(plain), None)
    return written.day if written and not re.search(r"\w", plain[: written.start] + plain[written.end :]) else None


def title_year(*titles: str) -> int | None:
    """The only year that these name, by itself: `price list 2025`."""
    years = {year for title in titles for year in _YEAR.findall(_bare(title.replace("_", " ")))}
    return int(years.pop()) if len(years) == 1 else None


@dataclass(frozen=True)
class _Date:
    """A date in a line."""

    day: date
    start: int
    end: int
    languages: frozenset[str]
    """of its month's name; all for a month in figures"""


def _dates(text: str) -> Iterator[_Date]:
    """The dates of a bare text, in order."""
    position = 0
    while match := _date().search(text, position):
        written = _read(match)
        position = written.end if written else match.start() + 1
        if written:
            yield written


def _read(match: re.Match[str]) -> _Date | None:
    parts = {name.rstrip("0123456789"): value for name, value in match.groupdict().items() if value}
    number, languages = _month(parts["month"])
    try:
        day = date(int(parts["year"]), number, int(parts["day"]))
    except ValueError:  # 30 February, or a word that is no month
        return None
    return _Date(day, match.start(), match.end(), languages)


def _month(written: str) -> tuple[int, frozenset[str]]:
    """The number of a month, and the languages that call it so; 0 for what is no month."""
    if written.isdecimal():
        return int(written), frozenset(LANGUAGES)
    months = _months()
    bare = re.sub(rf"^(?:{_words('month_prefix', LANGUAGES)})", "", written)
    return months.get(written) or months.get(bare) or (0, frozenset())


def _is_alone(cell: str, written: _Date) -> bool:
    """Whether a cell contains nothing but a date and a place."""
    if re.search(r"\w", cell[written.end :]):
        return False
    return _place(written.languages).fullmatch(cell[: written.start]) is not None


def _bare(text: str) -> str:
    """The text in small letters without accents, with figures and punctuation of ASCII."""
    if text.isascii():
        return text.lower()
    plain = _INVISIBLE.sub("", text).translate(_PLAIN)
    return without_accents(_CHINESE_NUMBER.sub(_figures, plain))


def _figures(match: re.Match[str]) -> str:
    """`二〇一六` as 2016, `二十三` as 23."""
    tens, ten, ones = match[0].translate(_CHINESE_DIGITS).partition("十")
    if not ten:
        return tens
    return str(int(tens or 1) * 10 + int(ones or 0)) if len(tens) < 2 and len(ones) < 2 else match[0]


@functools.cache
def _months() -> dict[str, tuple[int, frozenset[str]]]:
    """The names of months as they are compared here -> number, and languages; without those that mean two months."""
    numbers: dict[str, set[int]] = {}
    languages: dict[str, set[str]] = {}
    for language in LANGUAGES:
        for name, number in month_names(language).items():
            bare = without_accents(name)
            numbers.setdefault(bare, set()).add(number)
            languages.setdefault(bare, set()).add(language)
    return {
        name: (min(month_numbers), frozenset(languages[name]))
        for name, month_numbers in numbers.items()
        if len(month_numbers) == 1
    }


@functools.cache
def _date() -> re.Pattern[str]:
    """A day with month and year; the groups of each way to write it have its number behind their names.

    A word in the place of a month may be any: `_read` looks it up.
    """
    year, day, month = r"(?:19|20)\d\d", r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
    ordinal, word = f"(?:{_words('ordinals', LANGUAGES)})?", rf"{_WORD}(?: {_WORD})??"
    of = f"(?:{_words('of', LANGUAGES)})"
    ways = (
        rf"(?P<year1>{year})(?P<gap>[-./ ])(?P<month1>0[1-9]|1[0-2])(?P=gap)(?P<day1>0[1-9]|[12]\d|3[01])",
        rf"(?P<day2>{day})\. ?(?P<month2>{month})\. ?(?P<year2>{year})",
        rf"(?P<day3>{day})(?P<between>[-/ ])(?P<month3>{month})(?P=between)(?P<year3>{year})",
        # the only order that is possible
        rf"(?P<month4>{month})(?P<apart>[-/.])(?P<day4>1[3-9]|2\d|3[01])(?P=apart)(?P<year4>{year})",
        rf"(?P<day5>{day}){ordinal}[»\"”“']?[ ./-]{{0,2}}(?:{of} ?)?"
        rf"(?P<month5>{word})[.,]?[ /-]?(?:{of} )?(?P<year5>{year})",
        rf"(?P<month6>{_WORD})\.? (?P<day6>{day}){ordinal},? (?P<year6>{year})",
        # Hungarian
        rf"(?P<year7>{year})\.?[ -](?P<month7>{word})\.?[ -](?P<day7>{day})(?!\d){ordinal}",
        rf"(?P<year8>{year})\. ?(?P<month8>{month})\. ?(?P<day8>{day})(?!\d){ordinal}",
    )
    # Chinese, Japanese and Korean, in which no space need follow
    east = rf"(?P<year9>{year}) ?(?:年|{without_accents('년')}) ?(?P<month9>{month}) ?(?:月|{without_accents('월')}) ?"
    east += rf"(?P<day9>{day}) ?(?:[日号號]|{without_accents('일')})"
    year_word = rf" ?(?:{_words('year_words', LANGUAGES)})(?![^\W_])\.?"
    western = rf"(?:{'|'.join(ways)})(?:{year_word}|(?![^\W_])(?![-./]\d))"
    return re.compile(rf"(?<![^\W_])(?<![\d.][-–./])(?:{east}|{western})", re.IGNORECASE)


@functools.cache
def _label() -> re.Pattern[str]:
    """A label before the date of a text: `Date: `."""
    return re.compile(rf"{_MARKS}(?:{_words('labels', LANGUAGES)}){_MARKS}:{_MARKS}(?:[^\W\d_]+[,.]? )?", re.IGNORECASE)


@functools.cache
def _place(languages: frozenset[str]) -> re.Pattern[str]:
    """The text before the date of a text in its line: nothing, or a place and a weekday."""
    at, on = _words("at", languages), _words("on", languages)
    either = "|".join((on, _words("after_comma", languages)))
    weekdays = {without_accents(name) for language in languages for name in weekday_names(language)}
    weekday = rf"(?:(?:{'|'.join(sorted(map(re.escape, weekdays)))})[,.]? )?"
    prefix = rf"(?:(?:(?:{at}) {_PLACE},?|{_PLACE},|{_PLACE}(?= (?:{on}) )) )?"
    return re.compile(rf"{_MARKS}{prefix}{weekday}(?:(?:{either}) )?{weekday}[«\"„“']?", re.IGNORECASE)


@functools.cache
def _other_date_pattern(languages: frozenset[str]) -> re.Pattern[str]:
    """Words before a date of something else, or before the end of a range."""
    return re.compile(rf"(?:(?<!\w)(?:{_words('other', languages)})[\s.,:]*|\d\.?\s*[-–]\s*)$", re.IGNORECASE)


def _words(key: str, languages: Iterable[str]) -> str:
    """The alternatives of some languages as a pattern; without any, a pattern that matches nothing."""
    words = [word for language in sorted(languages) for word in _table(language).get(key, ())]
    return "|".join(dict.fromkeys(words)) or "(?!)"


@functools.cache
def _table(language: str) -> dict[str, list[str]]:
    written = languages.path(language, "dates").read_text(encoding="utf-8")
    decomposed = unicodedata.normalize("NFD", written)  # not lower-cased: \W is not \w
    return tomllib.loads("".join(mark for mark in decomposed if not unicodedata.combining(mark)))
