"""The forms in which people are named, as a table: by it questions find people, and texts those who may be in them."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable

from relrag_pipelines.identity.mentions import MOST_WORDS
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
_LONGEST_PREFIX, _FEWEST = 5, 3
"""letters that are written before a name as part of the word, and letters of a name that has some"""
_PREFIXES = frozenset(PREFIXED)


def person_names(person: ResolvedPerson) -> list[PersonName]:
    """Rows of person_names for all names of a person."""
    names = {claim.value for entry in person.entries for claim in entry.names}
    found = {form for name in names for form in forms_of(name)}
    return [PersonName(form, person.person_id, rank) for form, rank in sorted(found)]


@functools.lru_cache(1 << 15)
def forms_of(name: str) -> frozenset[tuple[str, str]]:
    """A name as a whole, its given and its family name, each with its rank; none of what is no name of a person."""
    said, parsed = _name_words(name), parse(name)
    if not said:
        return frozenset()
    found = {(_plain(said), "whole"), (_plain(said[:1]), "given")}
    if len(said) > 1:
        found.add((_plain(said[-1:]), "family"))
    return frozenset(found | {(former, "family") for former in parsed.former})


def given_forms(names: Iterable[str]) -> list[GivenForm]:
    """Rows of given_forms for the given names of all these names, and the cases of the family names."""
    found: set[tuple[str, str, str]] = set()
    every = [said for name in names if (said := _name_words(name))]
    for family in {said[-1] for said in every if len(said) > 1}:
        plain = tables.plain(family)
        found |= {(form, plain, "case") for one in inflections(family) if (form := tables.plain(one)) != plain}
    for given in {said[0] for said in every}:
        plain = tables.plain(given)
        found |= {(form, plain, "case") for one in inflections(given) if (form := tables.plain(one)) != plain}
        found |= {(full, plain, "short") for full in stands_for(plain)}
        found |= {(key, plain, "sound") for key in _sounds(plain)}
    return [GivenForm(*one) for one in sorted(found)]


def question_forms(text: str, *, sounds: bool, is_name: bool = False) -> set[str]:
    """The forms under which the tables have names that a text may hold; with `sounds` in any script and spelling.

    With `is_name` the text is a name, and each word a part of it: so may `Or` be, which is none in a sentence.
    """
    named = beginnings([text])
    words = named | {tables.plain(word) for word in text.split()}
    if not sounds:
        return words
    # one consonant is that of many words, so it counts only where a word may be a name
    short = {word for word in named if is_name or not only_function_words(word)}
    return words | {key for word in words for key in _sounds(word) if word in short or len(key) > len(_SOUND) + 1}


def _sounds(word: str) -> set[str]:
    """The forms that a word shares with names that sound like it, in any script: those of its consonants."""
    keys = skeletons(word)
    return {_SOUND + key for key in keys if key or len(keys) == 1}


def _name_words(name: str) -> tuple[str, ...]:
    """The words of a name that is looked for."""
    said, parsed = words(name), parse(name)
    return () if len(said) > MOST_WORDS or parsed.is_kin or parsed.is_organisation else said


def _plain(said: Iterable[str]) -> str:
    return " ".join(map(tables.plain, said))


def beginnings(texts: Iterable[str]) -> set[str]:
    """The words of texts with which a name may begin, plain; also what may be left of a prefix."""
    pieces = set[str]()  # most words come again and again, and no word goes across a blank
    for text in texts:
        pieces.update(text.split())
    # most words of a Latin text are written small, and begin no name
    may_begin = (piece for piece in pieces if not (piece.isascii() and piece.islower()))
    found = set(WORD.findall(unicodedata.normalize("NFC", " ".join(may_begin))))
    return set().union(*map(_beginnings, found))


@functools.lru_cache(1 << 16)
def _beginnings(word: str) -> frozenset[str]:
    if word[0].islower():
        return frozenset()
    found = {word}
    for cut in range(1, min(_LONGEST_PREFIX, len(word) - _FEWEST) + 1):
        if word[cut - 1] not in _PREFIXES:
            break
        found.add(word[cut:])
    return frozenset(map(tables.plain, found))
