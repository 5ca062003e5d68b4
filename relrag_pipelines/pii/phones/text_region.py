"""The country whose national numbers a text most likely contains, by its language."""

from __future__ import annotations

import functools
import re

from relrag_pipelines.pii import number_words
from relrag_pipelines.text import language

_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE_LETTERS = 300
"""characters that are read to detect a language"""
_MIN_LETTERS = 12
"""letters of the shortest text whose language is detected"""


def region_of(text: str) -> str:
    """ISO 3166-1 code of the country; empty if the text is too short to detect its language."""
    words = " ".join(_WORD.findall(text[: 2 * _SAMPLE_LETTERS]))[:_SAMPLE_LETTERS]
    if sum(map(str.isalpha, words)) < _MIN_LETTERS:
        return ""
    return _region_of_words(words)


@functools.lru_cache(maxsize=1 << 12)
def _region_of_words(words: str) -> str:
    regions = regions_by_language()
    return regions.get(language.likeliest(words, frozenset(regions)), "")


@functools.cache
def regions_by_language() -> dict[str, str]:
    """Countries by language code, from number_words/."""
    return {
        language_words.language: language_words.region[0]
        for language_words in number_words.load()
        if language_words.region
    }
