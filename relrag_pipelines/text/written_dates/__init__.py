"""The date that a text states of itself: in its head or at its foot, or in a title; a file of words a language."""

from __future__ import annotations

import functools
import re
import tomllib
import unicodedata
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from relrag_pipelines.text.fact_phrases import LANGUAGES, months

_HEAD_LINES = 15
"""lines with letters within which a letter or an invoice says of when it is"""
_FOOT_LINES = 12
"""and those at its end, where a contract says when it was signed"""
_CELLS = re.compile(r"\t|[ \xa0]{2,}|\|")
"""what separates things that stand beside one another"""
_LONGEST = 200
"""characters of a line that is looked at"""
_YEAR_ANYWHERE = re.compile(r"(?:19|20)\d\d")
_AROUND = 24
"""characters on either side of a line end in which a date is looked for"""
_LINE_END = re.compile(r"(?<=[^\s])[ \t]*\n[ \t]*(?:>[ \t]?)*(?=[^\s>])")
_DATE_WORD = re.compile(r"[^\W_]+[.,/-]?$|[^\W_]+")
_MARKS = r"[\s*_#>()-]*"
_PLACE = r"[^\W\d_]+(?:[ -][^\W\d_]+){0,2}"
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
    for place, line in enumerate(lines):
        for cell in _CELLS.split(_bare(line)) if len(line) <= _LONGEST and _YEAR_ANYWHERE.search(line) else ():
            found = _date().search(cell)
            day = found and _day(found)
            if not found or not day or _of_another().search(before := cell[: found.start()]):
                continue
            label, beside = _before()
            if place in ends and label.fullmatch(before):
                return day
            if beside.fullmatch(before) and not re.search(r"\w", cell[found.end() :]):
                alone.add(day if place in ends else date.max)
    return alone.pop() if len(alone) == 1 and date.max not in alone else None


def join_dates(text: str) -> str:
    """The text with a space in place of a line end that stands within a date: `12.` and `ledna 2025` on the next line.

    Where a text was wrapped at a width, a reader would take the two for two things.
    """
    return _LINE_END.sub(lambda found: " " if _is_within_date(text, found) else found[0], text)


def _is_within_date(text: str, line_end: re.Match[str]) -> bool:
    before, behind = text[max(0, line_end.start() - _AROUND) : line_end.start()], text[line_end.end() :][:_AROUND]
    if not (_DATE_WORD.search(before) and _DATE_WORD.match(behind)):
        return False
    begun = _bare(before)
    joined = f"{begun} {_bare(behind)}"
    return any(one.start() < len(begun) < one.end() - 1 for one in _broken_date().finditer(joined))


@functools.cache
def _broken_date() -> re.Pattern[str]:
    """A day with its month, with or without a year, or a month with its year."""
    names = "|".join(sorted(map(re.escape, _months()), key=len, reverse=True))
    day, month, year = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:19|20)\d\d"
    nth = r"(?:st|nd|rd|th|\.)?"
    ways = (
        rf"{day}{nth} (?:of )?(?:ב-?)?(?:{names})(?:,? {year})?",
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
    found = list(_date().finditer(plain))
    if len(found) != 1:
        return None
    before, behind = plain[: found[0].start()], plain[found[0].end() :]
    if re.search(r"\w", before) and re.search(r"\w", behind):
        return None
    return None if _of_another().search(before) else _day(found[0])


def title_year(*titles: str) -> int | None:
    """The only year that these name, by itself: `price list 2025`."""
    years = {found for title in titles for found in _YEAR.findall(_bare(title.replace("_", " ")))}
    return int(years.pop()) if len(years) == 1 else None


def _day(found: re.Match[str]) -> date | None:
    said = {name.rstrip("12345"): value for name, value in found.groupdict().items() if value}
    try:
        return date(int(said["year"]), _months().get(said["month"]) or int(said["month"]), int(said["day"]))
    except ValueError:  # 30 February
        return None


def _bare(text: str) -> str:
    """The text in small letters without accents."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark))


@functools.cache
def _months() -> dict[str, int]:
    """The names of months as they are compared here -> number."""
    return {_bare(name): number for name, number in months().items()}


@functools.cache
def _date() -> re.Pattern[str]:
    """A day with month and year; the groups of each way to write it have its number behind their names."""
    names = "|".join(sorted(map(re.escape, _months()), key=len, reverse=True))
    year, day, month = r"(?:19|20)\d\d", r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
    ways = (
        rf"(?P<year1>{year})(?P<gap>[-./ ])(?P<month1>0[1-9]|1[0-2])(?P=gap)(?P<day1>0[1-9]|[12]\d|3[01])",
        rf"(?P<day2>{day})\. ?(?P<month2>{month})\. ?(?P<year2>{year})",
        rf"(?P<day3>{day})(?P<between>[-/ ])(?P<month3>{month})(?P=between)(?P<year3>{year})",
        rf"(?P<day4>{day})(?:st|nd|rd|th|\.)? (?:of )?(?:ב-?)?(?P<month4>{names}),? (?P<year4>{year})",
        rf"(?P<month5>{names}) (?P<day5>{day})(?:st|nd|rd|th)?,? (?P<year5>{year})",
    )
    return re.compile(rf"(?<![^\W_])(?<![\d.][-–./])(?:{'|'.join(ways)})(?![^\W_])(?![-./]\d)", re.IGNORECASE)


@functools.cache
def _before() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What stands between the beginning of a line and the date of a text: a label, or a place or nothing."""
    labels, at, on = ("|".join(_words(key)) for key in ("labels", "at", "on"))
    label = rf"{_MARKS}(?:{labels}){_MARKS}:{_MARKS}(?:[^\W\d_]+[,.]? )?"
    place = rf"{_MARKS}(?:(?:(?:{at}) {_PLACE},?|{_PLACE},|{_PLACE}(?= (?:{on}))) )?(?:(?:{on}) )?"
    return re.compile(label, re.IGNORECASE), re.compile(place, re.IGNORECASE)


@functools.cache
def _of_another() -> re.Pattern[str]:
    """What makes a date behind it that of something else, or the end of a range."""
    return re.compile(rf"(?:(?<!\w)(?:{'|'.join(_words('other'))})[\s.,:]*|\d\.?\s*[-–]\s*)$", re.IGNORECASE)


def _words(key: str) -> Iterator[str]:
    for language in LANGUAGES:
        path = Path(__file__).with_name(f"{language}.toml")
        yield from tomllib.loads(path.read_text(encoding="utf-8"))[key]
