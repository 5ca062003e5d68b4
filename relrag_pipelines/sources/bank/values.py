"""Amounts and days as the statements of a column write them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import pairwise

from relrag_pipelines import languages
from relrag_pipelines.text.month_names import month_names

_NUMBER = re.compile(r"[-+−–]?\d[\d.,' \u00a0\u202f’]*[-+]?")
_CURRENCY = re.compile(r"(?<![A-Z])([A-Z]{3})(?![A-Z])")
_SIGNS = {"€": "EUR", "£": "GBP", "Kč": "CZK", "₪": "ILS", "zł": "PLN", "₽": "RUB", "¥": "JPY"}
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{4})(\d\d)(\d\d)")
_THREE = re.compile(r"(\d{1,2})[-/. ]+(\d{1,2})(?:[-/. ]+'?|')(\d{4}|\d\d)")
_NAMED_MONTH_DATE = re.compile(
    r"(\d{1,2})[-/. ]+([^\W\d_]{3,})\.?[-/., ]+(\d{4}|\d\d)|([^\W\d_]{3,})\.? (\d{1,2}),? (\d{4})"
)
_LATEST = 2100


def decimal_mark(texts: Sequence[str], usual: str = ".") -> str:
    """The decimal mark of a column of amounts; `usual` if all of them are ambiguous."""
    votes = {".": 0, ",": 0}
    for text in texts:
        last = max(text.rfind("."), text.rfind(","))
        if last < 0:
            continue
        mark, other = text[last], "," if text[last] == "." else "."
        tail = text[last + 1 :]
        digits = len(tail) - len(tail.lstrip("0123456789"))
        if other in text[:last] or (digits != 3 and text.count(mark) == 1):
            votes[mark] += 1
        elif text.count(mark) > 1:
            votes[other] += 1
    return usual if votes["."] == votes[","] else max(votes, key=votes.__getitem__)


def amount(text: str, mark: str) -> Decimal | None:
    """The amount in a text whose decimal mark is `mark`; None if there is none. `(12.50)` and `12.50-` are negative."""
    match = _NUMBER.search(text)
    if match is None:
        return None
    digits = re.sub(r"[^\d,.]", "", match[0]).replace("," if mark == "." else ".", "").replace(mark, ".")
    sign = text[: match.start()] + match[0]
    is_negative = any(character in sign for character in "-−–") or (text.strip().startswith("(") and ")" in text)
    try:
        number = Decimal(digits.rstrip("."))
    except InvalidOperation:
        return None
    return -number if is_negative else number


def currency(text: str) -> str:
    """The currency that a text names by its code or sign; empty if it names none."""
    if match := _CURRENCY.search(text.upper() if len(text) == 3 else text):
        return match[1]
    return next((code for sign, code in _SIGNS.items() if sign in text), "")


def day_reader(texts: Sequence[str], order: str = "auto") -> Callable[[str], date | None]:
    """What reads the days of a column, in the order of day and month that fits it best."""
    if order in ("dmy", "mdy"):
        return functools.partial(_day, is_month_first=order == "mdy")
    sample = [text for text in texts if text][:2_000]
    day_first = [_day(text, is_month_first=False) for text in sample]
    month_first = [_day(text, is_month_first=True) for text in sample]
    return functools.partial(_day, is_month_first=_disorder(month_first) < _disorder(day_first))


def is_day(text: str) -> bool:
    """Whether a text is a day in either order of day and month."""
    return bool(_day(text, is_month_first=False) or _day(text, is_month_first=True))


def _disorder(days: Sequence[date | None]) -> tuple[int, int]:
    """How little a column of days looks like one: days that don't exist, then changes of direction in time."""
    dated = [day for day in days if day]
    steps = [(after - before).days for before, after in pairwise(dated)]
    forward, back = sum(max(0, step) for step in steps), sum(max(0, -step) for step in steps)
    return len(days) - len(dated), min(forward, back)


def _day(text: str, *, is_month_first: bool) -> date | None:
    text = text.strip()
    if match := _ISO.match(text):
        year, month, day = (int(part) for part in match.groups() if part)
        return _date(year, month, day)
    if match := _THREE.match(text):
        first, second, full_year = int(match[1]), int(match[2]), _year(match[3])
        return _date(full_year, first, second) if is_month_first else _date(full_year, second, first)
    if match := _NAMED_MONTH_DATE.match(text):
        number, name, written_year = match.group(1, 2, 3) if match[1] else match.group(5, 4, 6)
        named = _months().get(name.casefold())
        return _date(_year(written_year), named, int(number)) if named else None
    return None


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else 2000 + int(text) if int(text) < 70 else 1900 + int(text)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day) if 1970 <= year < _LATEST else None
    except ValueError:
        return None


@functools.cache
def _months() -> dict[str, int]:
    """Names of months in all languages; one that means two of them is left out."""
    numbers: dict[str, set[int]] = {}
    for language in languages.codes():
        for name, number in month_names(language).items():
            numbers.setdefault(name, set()).add(number)
    return {name: next(iter(months)) for name, months in numbers.items() if len(months) == 1}
