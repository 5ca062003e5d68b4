"""The country whose national numbers a text most likely holds, by its language."""

from __future__ import annotations

import functools
import re

from relrag_pipelines.pii import number_words
from relrag_pipelines.text import language

_WORD = re.compile(r"[^\W\d_]+")
_ENOUGH = 300
"""letters by which a language is told"""
_FEWEST_LETTERS = 12
"""letters of the shortest text whose language is told with some certainty"""


def region_of(text: str) -> str:
    """ISO 3166-1 code of the country; empty where the text is too short to tell its language."""
    said = " ".join(_WORD.findall(text[: 2 * _ENOUGH]))[:_ENOUGH]
    if sum(map(str.isalpha, said)) < _FEWEST_LETTERS:
        return ""
    return _region_of_words(said)


@functools.lru_cache(maxsize=1 << 12)
def _region_of_words(said: str) -> str:
    known = regions_by_language()
    return known.get(language.likeliest(said, frozenset(known)), "")


@functools.cache
def regions_by_language() -> dict[str, str]:
    """Countries by the code of their language, as number_words/ has them."""
    return {one.language: one.region[0] for one in number_words.load() if one.region}
