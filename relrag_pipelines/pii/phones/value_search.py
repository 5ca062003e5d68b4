"""Values that a record is known to hold, such as its phones, found wherever a text holds them, however they look."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection

from relrag_pipelines.pii.spans import Span, resolve_overlaps

FEWEST_KNOWN = 3
"""digits or letters of a number that is known to be a phone; with less it would stand for half of all numbers"""
_BETWEEN = re.compile(r"[\W_]+")


def find(text: str, values: Collection[str]) -> list[Span]:
    """Where the values stand in the text."""
    matches = (match for value in present_candidates(text, values) for match in flexible_pattern(value).finditer(text))
    return resolve_overlaps((Span(*match.span(), 1.0) for match in matches), text)


def present_candidates(text: str, values: Collection[str]) -> list[str]:
    """Those of the values whose letters and digits stand one after another in the text: far quicker than a search."""
    if not values:
        return []
    signs = _signs(text)
    return [value for value in values if _signs_of_value(value) in signs]


def _signs(text: str) -> str:
    return _BETWEEN.sub("", text).casefold()


_signs_of_value = functools.lru_cache(maxsize=4096)(_signs)


@functools.lru_cache(maxsize=4096)
def flexible_pattern(number: str) -> re.Pattern[str]:
    """A number known by its letters and digits, in whatever groups they stand; never within another number or word."""
    characters = [re.escape(char) for char in number if char.isalnum()]
    if len(characters) < FEWEST_KNOWN:
        return re.compile("(?!)")
    gap = r"[\W_]{0,3}"
    before, behind = (r"\d" if char.isdecimal() else r"[^\W_]" for char in (characters[0], characters[-1]))
    return re.compile(rf"(?<!{before})[+(]{{0,2}}{gap.join(characters)}(?!{behind})", re.IGNORECASE)
