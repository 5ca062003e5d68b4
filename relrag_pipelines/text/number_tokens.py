"""Numbers and dates as tokens, however they are punctuated."""

from __future__ import annotations

import re

_SPACE_IN_NUMBER = re.compile(r"[0-9][ \u00a0\u202f][0-9]{3}")
SPACED_NUMBER = re.compile(r"(?<![\w.,])[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+(?!\w)")
_GROUPED_NUMBER = re.compile(r"\d{1,3}(?:[.,'’]\d{3})+")
_DECIMAL_NUMBER = re.compile(r"(\d{1,3}(?:[.,'’]\d{3})+|\d+)[.,](\d{1,2})")


def join_numbers(text: str) -> str:
    """The text with numbers in one piece: 12 500 as 12500."""
    return SPACED_NUMBER.sub(lambda match: re.sub(r"\s", "", match[0]), text) if _SPACE_IN_NUMBER.search(text) else text


def number_tokens(text: str) -> list[str]:
    """8,400 and 8.400 as 8400; 7.980,50 as 7980 and 7980.5; a date also as 2025-01-15 and 2025-01; others by part."""
    if _GROUPED_NUMBER.fullmatch(text):
        return ["".join(re.findall(r"\d+", text))]
    if decimal := _DECIMAL_NUMBER.fullmatch(text):
        whole, rest = "".join(re.findall(r"\d+", decimal[1])), decimal[2].rstrip("0")
        return [whole, f"{whole}.{rest}"] if rest else [whole]
    parts = re.findall(r"\d+", text)
    if len(parts) == 3 and (date := _date(*parts)):
        return date
    return [*parts, "-".join(parts)] if len(parts) > 1 else parts


def _date(first: str, second: str, third: str) -> list[str] | None:
    year, month, day = (first, second, third) if len(first) == 4 else (third, second, first)
    if len(year) != 4 or len(month) > 2 or len(day) > 2:
        return None
    if int(month) > 12:
        month, day = day, month
    return [f"{year}-{int(month):02}-{int(day):02}", f"{year}-{int(month):02}", year]
