"""The forms in which people are named, as a table: by it questions find people, and texts those who may be in them."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable

from relrag_pipelines.identity.mentions import MAX_NAME_WORDS
from relrag_pipelines.identity.resolve import ResolvedPerson
from relrag_pipelines.records import GivenForm, PersonName
from relrag_pipelines.text.analyzer import PREFIXED, only_function_words
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import WORD, inflections, words
from relrag_pipelines.text.names.likeness import stands_for
from relrag_pipelines.text.names.personal_name import parse
from relrag_pipelines.text.names.spelling import skeletons

_SOUND = "~"
"""begins a form that is how a word sounds"""
_MAX_PREFIX_LETTERS, _MIN_LETTERS = 5, 3
"""letters that are written before a name as part of the word, and letters of a name that has some"""
_PREFIXES = frozenset(PREFIXED)


def person_names(person: ResolvedPerson) -> list[PersonName]:
    """Rows of person_names for all names of a person."""
    names = {claim.value for entry in person.entries for claim in entry.names}
    forms = {form for name in names for form in forms_of(name)}
    return [PersonName(form, person.person_id, rank) for form, rank in sorted(forms)]


@functools.lru_cache(1 << 15)
def forms_of(name: str) -> frozenset[tuple[str, str]]:
    """A name as a whole, its given and its family name, each with its rank; none of what is no name of a person."""
    name_words, parsed = _name_words(name), parse(name)
    if not name_words:
        return frozenset()
    forms = {(_plain(name_words), "whole"), (_plain(name_words[:1]), "given")}
    if len(name_words) > 1:
        forms.add((_plain(name_words[-1:]), "family"))
    return frozenset(forms | {(former, "family") for former in parsed.former})


def _full_names_and_sounds(given: str) -> set[tuple[str, str, str]]:
    """Rows of the names that a given name without accents may be short for, and of how it sounds."""
    return {(full, given, "short") for full in stands_for(given)} | {(key, given, "sound") for key in _sounds(given)}


def given_forms(names: Iterable[str]) -> list[GivenForm]:
    """Rows of given_forms for the given names of all these names, and the cases of the family names."""
    rows: set[tuple[str, str, str]] = set()
    every_name = [name_words for name_words in map(_name_words, names) if name_words]
    for family in {name_words[-1] for name_words in every_name if len(name_words) > 1}:
        rows |= _cases(family)
    for given in {name_words[0] for name_words in every_name}:
        rows |= _cases(given) | _full_names_and_sounds(tables.plain(given))
    return [GivenForm(*row) for row in sorted(rows)]


def _cases(word: str) -> set[tuple[str, str, str]]:
    """Rows for the cases of a word of a name that differ from it."""
    plain = tables.plain(word)
    forms = {tables.plain(form) for form in inflections(word)} - {plain}
    return {(form, plain, "case") for form in forms}


def question_forms(text: str, *, sounds: bool, is_name: bool = False) -> set[str]:
    """The forms under which the tables have names that a text may hold; with `sounds` in any script and spelling.

    With `is_name` the text is a name, and each word a part of it, even `Or`, which is no name in a sentence.
    """
    first_words = beginnings([text])
    words = first_words | {tables.plain(word) for word in text.split()}
    if not sounds:
        return words
    # one consonant is that of many words, so it counts only where a word may be a name
    short = {word for word in first_words if is_name or not only_function_words(word)}
    return words | {key for word in words for key in _sounds(word) if word in short or len(key) > len(_SOUND) + 1}


def _sounds(word: str) -> set[str]:
    """The forms that a word shares with names that sound like it, in any script: those of its consonants."""
    keys = skeletons(word)
    return {_SOUND + key for key in keys if key or len(keys) == 1}


def _name_words(name: str) -> tuple[str, ...]:
    """The words of a name that is looked for."""
    name_words, parsed = words(name), parse(name)
    return () if len(name_words) > MAX_NAME_WORDS or parsed.is_kin or parsed.is_organisation else name_words


def _plain(name_words: Iterable[str]) -> str:
    return " ".join(map(tables.plain, name_words))


def beginnings(texts: Iterable[str]) -> set[str]:
    """The words of texts with which a name may begin, plain; also what may be left of a prefix."""
    pieces = set[str]()  # most words come again and again, and no word goes across a blank
    for text in texts:
        pieces.update(text.split())
    # most words of a Latin text are written small, and begin no name
    may_begin = (piece for piece in pieces if not (piece.isascii() and piece.islower()))
    capitalised = set(WORD.findall(unicodedata.normalize("NFC", " ".join(may_begin))))
    return set().union(*map(_beginnings, capitalised))


@functools.lru_cache(1 << 16)
def _beginnings(word: str) -> frozenset[str]:
    if word[0].islower():
        return frozenset()
    beginnings = {word}
    for cut in range(1, min(_MAX_PREFIX_LETTERS, len(word) - _MIN_LETTERS) + 1):
        if word[cut - 1] not in _PREFIXES:
            break
        beginnings.add(word[cut:])
    return frozenset(map(tables.plain, beginnings))
