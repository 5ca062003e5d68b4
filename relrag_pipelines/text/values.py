"""Values that a text names, by type: amounts, shares, times, days, contacts, and every other number or code.

A value has a normal form, so that the same value in two spellings is equal: `1 250,00 €` and `€1,250`, `14.30` and
`14:30`, `3. Mai` and `May 3rd`. Names of months and days of the week are those of the CLDR, of all languages at once.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from relrag_pipelines import languages
from relrag_pipelines.text.month_names import month_names, weekday_numbers, without_accents

ValueType = Literal["contact", "share", "amount", "day", "time", "number"]

_GROUPED = r"\d{1,3}(?:[ .,'’\u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?"
_NUMBER = rf"(?:{_GROUPED}|\d+(?:[.,]\d+)?)"
_SIGN = "[€$£₪¥₽₴₺₸]"
_CODE = "(?:EUR|USD|GBP|CHF|CZK|PLN|HUF|RUB|UAH|TRY|ILS|NIS|SEK|NOK|DKK|RON|KZT|JOD|LBP|EGP|AED|SAR)"
_HOUR, _MINUTE, _NOON = r"(?:[01]?\d|2[0-3])", r"[0-5]\d", r"[ap]\.?m\b\.?"
_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:19|20)\d\d"
_ORDINAL = r"(?:\.|st|nd|rd|th|º|er|\.º)?"
_WEEKDAY_LETTERS = 5
"""letters of a day of the week in Latin letters; shorter ones are words of other languages"""


@dataclass(frozen=True)
class Value:
    """A value in a text."""

    type: ValueType
    normal: str
    """its normal form"""
    start: int
    end: int
    """its offsets in the text"""


@functools.lru_cache(maxsize=8192)
def values_in(text: str) -> tuple[Value, ...]:
    """The values of a text in its order. None is part of another: the day of a date is no number."""
    return tuple(sorted(_values(_ascii_digits(text)), key=lambda value: value.start))


def _values(text: str) -> Iterator[Value]:
    rest = text
    for type_, pattern in _patterns().items():
        for match in pattern.finditer(rest):
            yield Value(type_, _NORMAL_FORMS[type_](match[0]), match.start(), match.end())
        rest = pattern.sub(lambda match: "\0" * len(match[0]), rest)


def _ascii_digits(text: str) -> str:
    """The text with digits of all scripts in ASCII, sign for sign."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(sign, sign)) for sign in text)


@functools.cache
def _patterns() -> Mapping[ValueType, re.Pattern[str]]:
    """A pattern a type; what an earlier type takes is left to no later one."""
    months, weekdays = _either(_months()), _either(_weekdays())
    currency, percent, hour = (_words(name) for name in ("currencies", "percents", "hours"))
    prefix = f"(?:[{''.join(language.prefixes for language in languages.languages())}]{{1,2}}-?)?"
    patterns: dict[ValueType, tuple[str, ...]] = {
        "contact": (
            r"<(?:PHONE_NUMBER|EMAIL_ADDRESS)[^>]*>",
            r"[\w.+-]+@[\w-]+\.[\w.-]+",
            r"(?:https?://|www\.)\S+",
            r"(?<![\w.])(?:\+\d[\d ()/-]{7,}|0\d{1,3}[ /-]?\d{2,4}[ -]?\d{2,4}[ -]?)\d(?![\w.])",
        ),
        "share": (rf"(?<![\w.,]){_NUMBER} ?(?:[%٪]|(?:{percent})(?!\w))",),
        "amount": (
            rf"(?:{_SIGN}|(?<!\w){_CODE})\s?{_NUMBER}(?!\d)",
            rf"(?<![\w.,]){_NUMBER}\s?(?:{_SIGN}|,-|,–|(?:{_CODE}|(?:{currency}))(?!\w))",
        ),
        "day": (
            rf"(?<![\d.,]){_YEAR}-{_MONTH}-{_DAY}(?!\d)",
            rf"(?<![\d.,/]){_DAY}(?:\. ?|/|-){_MONTH}(?:(?:\. ?|/|-)(?:{_YEAR}|\d\d)(?!\d)|\.(?!\d)|(?![\d.,/€$%-]))",
            rf"(?<![\d.,]){_DAY}{_ORDINAL} ?(?:of |de |d['’])?{prefix}(?:{months})(?!\w)(?:,? (?:de )?{_YEAR})?",
            rf"(?<!\w)(?:{months}) {_DAY}(?:st|nd|rd|th)?(?!\d|[:.]\d\d)(?:,? {_YEAR})?",
            rf"(?<!\w){prefix}(?:{weekdays})(?!\w)",
        ),
        "time": (
            rf"(?<![\d.:,]){_HOUR}(?::|\.|h){_MINUTE}(?!\d|[.:/]\d)(?:\s?{_NOON})?",
            rf"(?<![\d.,:])(?:1[0-2]|[1-9])\s?{_NOON}",
            rf"(?<![\d.,:]){_HOUR} ?(?:h|{hour})(?!\w)",
        ),
        "number": (
            rf"(?<![\w.,]){_GROUPED}(?!\w)",
            r"(?<!\w)[^\W_]*\d[^\W_]*(?:[-/.,][^\W_]*\d[^\W_]*)*",
        ),
    }
    return {type_: re.compile("|".join(ways), re.IGNORECASE) for type_, ways in patterns.items()}


def names_amount(text: str) -> bool:
    """Whether a text names an amount of money with its currency."""
    return any(map(str.isdigit, text)) and any(value.type == "amount" for value in values_in(text))


def _words(field: str) -> str:
    """A pattern of the words that all languages have for something."""
    return "|".join(pattern for language in languages.languages() for pattern in getattr(language, field))


def _either(names: Mapping[str, int]) -> str:
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


@functools.cache
def _months() -> Mapping[str, int]:
    """Names of months in all languages -> month; in Latin letters of three letters at least."""
    names = {name: number for language in reversed(languages.codes()) for name, number in month_names(language).items()}
    return _with_plain_forms({name: number for name, number in names.items() if len(name) > 2 and name[0].isalpha()})


@functools.cache
def _weekdays() -> Mapping[str, int]:
    """Names of days of the week in all languages -> day, from 0 for Monday."""
    names = {
        name: number for language in reversed(languages.codes()) for name, number in weekday_numbers(language).items()
    }
    whole = {name: day for name, day in names.items() if len(name) >= _WEEKDAY_LETTERS or not name[0].isascii()}
    return _with_plain_forms({name: day for name, day in whole.items() if len(name) > 2})


def _with_plain_forms(names: Mapping[str, int]) -> Mapping[str, int]:
    """The names, also as they are typed without accents."""
    return {without_accents(name): number for name, number in names.items()} | dict(names)


def _number(text: str) -> str:
    """The digits of a number, without a fraction of zeros."""
    whole = re.sub(r"[.,]0{1,2}(?!\d)", "", re.search(_NUMBER, text)[0])  # type: ignore[index]
    fraction = re.search(r"[.,]\d{1,2}$", whole)
    digits = re.sub(r"\D", "", whole[: fraction.start()] if fraction else whole)
    return f"{digits}.{fraction[0][1:]}" if fraction else digits


def _first_number(names: Iterable[str], numbers: Mapping[str, int]) -> int | None:
    """The number of the first of these names that has one."""
    return next((numbers[name] for name in names if name in numbers), None)


def _day(text: str) -> str:
    """`month-day`, or the number of the day of the week."""
    words = [word.lower() for word in re.findall(r"[^\W\d_]+", text)]
    names = [word for prefixed in words for word in (prefixed, prefixed[1:], prefixed[2:])]
    figures = [int(number) for number in re.findall(r"\d+", text)]
    if month := _first_number(names, _months()):
        return f"{month}-{next(number for number in figures if number < 32)}"
    if not figures:
        weekday = _first_number(names, _weekdays())
        return "" if weekday is None else str(weekday)
    first, second, third = (*figures, 0, 0)[:3]
    return f"{second}-{third}" if first > 31 else f"{second}-{first}"


def _time(text: str) -> str:
    """Minutes since midnight."""
    hour, minute = (*map(int, re.findall(r"\d+", text)), 0)[:2]
    afternoon = re.search("p", text, re.IGNORECASE) is not None and hour < 12
    return str(60 * (hour + 12 * afternoon) + minute)


_NORMAL_FORMS: Mapping[ValueType, Callable[[str], str]] = {
    "contact": lambda text: re.sub(r"[\s()/-]", "", text).lower(),
    "share": _number,
    "amount": _number,
    "day": _day,
    "time": _time,
    "number": lambda text: re.sub(r"\W", "", text).lower(),
}
