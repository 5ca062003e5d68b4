"""Numbers that are known to be phones, found wherever a text holds them, however they look."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection

from relrag_pipelines.pii.spans import Span, resolve_overlaps

FEWEST_KNOWN = 3
"""digits or letters of a number that is known to be a phone; with less it would stand for half of all numbers"""
_NO_DIGITS = re.compile(r"\D+")


def find(text: str, phones: Collection[str]) -> list[Span]:
    """Where the phones stand in the text."""
    found = (match for one in present_candidates(text, phones) for match in flexible_pattern(one).finditer(text))
    return resolve_overlaps((Span(*match.span(), 1.0) for match in found), text)


def present_candidates(text: str, phones: Collection[str]) -> list[str]:
    """Those of the phones whose digits stand one after another in the text: far quicker than to look for each."""
    if not phones:
        return []
    digits = _NO_DIGITS.sub("", text)
    return [one for one in phones if _digits(one) in digits]


@functools.lru_cache(maxsize=4096)
def _digits(number: str) -> str:
    return _NO_DIGITS.sub("", number)


@functools.lru_cache(maxsize=4096)
def flexible_pattern(number: str) -> re.Pattern[str]:
    """A number known by its letters and digits, in whatever groups they stand; never within another number or word."""
    said = [re.escape(char) for char in number if char.isalnum()]
    if len(said) < FEWEST_KNOWN:
        return re.compile("(?!)")
    gap = r"[\W_]{0,3}"
    before, behind = (r"\d" if char.isdecimal() else r"[^\W_]" for char in (said[0], said[-1]))
    return re.compile(rf"(?<!{before})[+(]{{0,2}}{gap.join(said)}(?!{behind})", re.IGNORECASE)
