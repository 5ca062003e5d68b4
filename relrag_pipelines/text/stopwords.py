"""Function words: they tell the language of a line, and nothing about the content of a text."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType

from relrag_pipelines import languages
from relrag_pipelines.languages import Language
from relrag_pipelines.text.letter_case import fold

_SHARED, _OWN = 1, 2
"""weight of a function word that is also one of the default language, and of one that is not"""


def folded(word: str) -> str:
    """A word as words are compared: without accents, capitals and final letters."""
    return fold(word).translate(languages.final_letters())


@functools.cache
def stop_words(code: str) -> frozenset[str]:
    """The function words of a language, folded."""
    return frozenset(map(folded, languages.language(code).stop_words))


@functools.cache
def function_words() -> frozenset[str]:
    """The function words of all languages, folded; without those that are content words of the default language."""
    every = frozenset[str]().union(*(stop_words(language.code) for language in languages.languages()))
    return every - languages.language(languages.DEFAULT).lookalikes


@functools.cache
def always_empty() -> frozenset[str]:
    """Function words in lines of any language: those of the default language and of languages with another script."""
    return frozenset[str]().union(
        *(stop_words(language.code) for language in languages.languages() if _is_apart(language))
    )


def _is_apart(language: Language) -> bool:
    return language.code == languages.DEFAULT or bool(language.script)


@functools.cache
def names() -> frozenset[str]:
    """Function words that may have another meaning when they begin with a capital letter."""
    return frozenset[str]().union(*(language.capitalised for language in languages.languages()))


@functools.cache
def default_signs() -> frozenset[str]:
    """Function words of the default language as they are written."""
    words = languages.language(languages.DEFAULT).stop_words
    return frozenset(form for word in words for form in (word, word.capitalize()))


@functools.cache
def own_signs() -> frozenset[str]:
    """Function words of other languages that are no words of the default one, as they are written."""
    return frozenset(word for word, weights in _weights().items() if _OWN in weights.values())


@functools.cache
def clear_signs() -> frozenset[str]:
    """Function words that identify the default language if no word speaks for another, as they are written."""
    unclear = languages.language(languages.DEFAULT).unclear
    return default_signs() - unclear - {word.capitalize() for word in unclear}


@functools.cache
def _weights() -> Mapping[str, Mapping[str, int]]:
    """Word, with and without its accents -> languages in Latin letters -> how much it speaks for them."""
    default = languages.language(languages.DEFAULT)
    weights: dict[str, dict[str, int]] = {}
    for language in languages.languages():
        if not _is_apart(language):
            for word in _spellings(language) - default.lookalikes:
                weights.setdefault(word, {})[language.code] = _SHARED if word in default.stop_words else _OWN
    return MappingProxyType(weights)


def _spellings(language: Language) -> frozenset[str]:
    """The function words of a language with and without their accents."""
    return frozenset(form for word in language.stop_words for form in (word, fold(word)))


def foreign_weight(words: Collection[str]) -> int:
    """How much these words, as written, speak for the language that they speak for most, besides the default one."""
    totals: dict[str, int] = {}
    for word in words:
        for code, weight in _weights().get(word, {}).items():
            totals[code] = totals.get(code, 0) + weight
    return max(totals.values(), default=0)


def votes(words: Iterable[str]) -> dict[str, int]:
    """Other languages than the default one -> how many of these words, in small letters, speak for them.

    Letters count only where no function word does, so that words typed without accents are analysed alike.
    """
    words = sorted(words)
    return _count(words, lambda word: _voters().get(folded(word), ())) or _count(words, _codes_by_letters)


def _count(words: Iterable[str], codes: Callable[[str], Iterable[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        for code in codes(word):
            counts[code] = counts.get(code, 0) + 1
    return counts


def _codes_by_letters(word: str) -> list[str]:
    """The languages with a rare letter that the word has, and the languages of its script."""
    if not word or word.isascii():
        return []
    by_letter = [code for letter in sorted(set(word) & _letters().keys()) for code in _letters()[letter]]
    return by_letter + [
        language.code
        for language in languages.languages()
        if language.script and languages.is_in_script(word[0], language)
    ]


@functools.cache
def _voters() -> Mapping[str, tuple[str, ...]]:
    voters: dict[str, list[str]] = {}
    for language in languages.languages():
        if language.code != languages.DEFAULT:
            for word in stop_words(language.code):
                voters.setdefault(word, []).append(language.code)
    return {word: tuple(codes) for word, codes in voters.items()}


@functools.cache
def _letters() -> Mapping[str, tuple[str, ...]]:
    codes_by_letter: dict[str, list[str]] = {}
    for language in languages.languages():
        for letter in language.letters:
            codes_by_letter.setdefault(letter, []).append(language.code)
    return {letter: tuple(codes) for letter, codes in codes_by_letter.items()}


def foreign_signs() -> frozenset[str]:
    """Function words of other languages that count in `foreign_weight`."""
    return frozenset(_weights())
