"""Finds given values, such as the phones that a record declares, in a text, in any format."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection

from relrag_pipelines.pii.spans import Span, resolve_overlaps

MIN_SEARCHED_DIGITS = 3
"""shortest value, in digits and letters; a shorter one would match half of all numbers"""
_BETWEEN = re.compile(r"[\W_]+")


def find(text: str, values: Collection[str]) -> list[Span]:
    """The spans of the values in the text."""
    matches = (match for value in present_candidates(text, values) for match in flexible_pattern(value).finditer(text))
    return resolve_overlaps((Span(*match.span(), 1.0) for match in matches), text)


def present_candidates(text: str, values: Collection[str]) -> list[str]:
    """The values whose letters and digits occur in the text in sequence: a fast prefilter."""
    if not values:
        return []
    signs = _signs(text)
    return [value for value in values if _signs_of_value(value) in signs]


def _signs(text: str) -> str:
    return _BETWEEN.sub("", text).casefold()


_signs_of_value = functools.lru_cache(maxsize=4096)(_signs)


@functools.lru_cache(maxsize=4096)
def flexible_pattern(number: str) -> re.Pattern[str]:
    """A pattern of a value's letters and digits in any grouping, not within another number or word."""
    characters = [re.escape(char) for char in number if char.isalnum()]
    if len(characters) < MIN_SEARCHED_DIGITS:
        return re.compile("(?!)")
    gap = r"[\W_]{0,3}"
    before, behind = (r"\d" if char.isdecimal() else r"[^\W_]" for char in (characters[0], characters[-1]))
    return re.compile(rf"(?<!{before})[+(]{{0,2}}{gap.join(characters)}(?!{behind})", re.IGNORECASE)
