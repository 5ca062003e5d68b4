"""The forms of names in running texts: inflected, possessive, without accents."""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

from relrag_pipelines import languages
from relrag_pipelines.languages import cases, possessives
from relrag_pipelines.text.letter_case import fold
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.likeness import stands_for
from relrag_pipelines.text.names.personal_name import parse
from relrag_pipelines.text.names.spelling import is_roman

WORD = re.compile(r"[^\W\d_]+")
_ASIDE = re.compile(r"[(\[<|•].*")


@functools.lru_cache(1 << 15)
def words(alias: str) -> tuple[str, ...]:
    """The words of a name, given names first, with capitals and accents; none if it is no name."""
    parsed = parse(alias).words
    written = WORD.findall(_ASIDE.sub("", unicodedata.normalize("NFC", alias)))
    written = [word for word in written if tables.plain(word) not in tables.titles()]
    if not parsed or not written:
        return ()
    if "," in alias:
        first = next((position for position, word in enumerate(written) if tables.plain(word) == parsed[0]), 0)
        written = written[first:] + written[:first]
    return tuple(written)


def as_given(word: str) -> frozenset[str]:
    """A word in the nominative: with and without accents."""
    return frozenset({word, without_accents(word)})


@functools.lru_cache(1 << 15)
def inflections(word: str) -> frozenset[str]:
    """The other forms of a given name: its cases and possessives, with and without accents."""
    if not is_roman(word):
        return frozenset()
    forms = {form for of_case in cases(word, gender_of(word)) for form in of_case} | set(
        possessives(word, gender_of(word))
    )
    return frozenset(forms | set(map(without_accents, forms))) - as_given(word)


@functools.cache
def nominatives() -> Mapping[str, str]:
    """Inflected form that is no given name itself -> given name: Barboru is Barbora."""
    inflected = [language.code for language in languages.languages() if language.has_cases]
    names = sorted(name for code in inflected for name in tables.spellings(code))
    every = {form: name for name in names for of_case in cases(name, gender_of(name)) for form in of_case}
    return MappingProxyType(
        {form: name for form, name in every.items() if tables.plain(form) not in tables.given_names()}
    )


@functools.lru_cache(1 << 15)
def of_name(name_words: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """The forms of a name of several words, all in one case; the last alone as a possessive, as in `Petra Novákova`."""
    forms = {name_words}
    if is_roman(name_words[0]):
        tabled = [cases(word) or ((word,),) * 5 for word in name_words]
        for of_case in zip(*tabled, strict=True):
            forms |= set(itertools.product(*of_case))
        forms |= {(*name_words[:-1], form) for form in possessives(name_words[-1], "m")}
        forms |= {tuple(map(without_accents, form)) for form in forms}
    return frozenset(forms)


def gender_of(given: str) -> str:
    """m or f, if only men or only women bear a given name or the names that it is short for; else empty."""
    plain, genders = tables.plain(given), tables.genders()
    full = stands_for(plain) if plain in tables.short_forms() else ()
    sexes = genders.get(plain) or frozenset[str]().union(*(genders.get(name, "?") for name in full))
    return next(iter(sexes)) if len(sexes) == 1 and sexes != {"?"} else ""


def without_accents(word: str) -> str:
    """The word without accents, with its capitals."""
    if word.isascii():
        return word
    folded = fold(word)
    if len(folded) != len(word):
        return word
    return "".join(b.upper() if a.isupper() else b for a, b in zip(word, folded, strict=True))


def may_call(written: str, name: str) -> bool:
    """Whether a written form means a name: the whole name or its given name, in any case; Kubíkova is of Kubík."""
    first = name.split(" ")[0]
    return written.lower() in {name.lower(), *map(str.lower, (first, *inflections(first)))}
