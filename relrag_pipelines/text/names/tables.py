"""The files `names.toml` of all languages: short forms of given names, titles, words for former names and for kin."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from relrag_pipelines import languages
from relrag_pipelines.text.letter_case import fold


@functools.cache
def short_forms() -> Mapping[str, frozenset[str]]:
    """A given name or short form, folded -> the names that it may stand for, folded: `bill` -> {`william`}.

    A name of several languages is one word with the forms of all of them; each full name stands for itself.
    """
    full_names: defaultdict[str, set[str]] = defaultdict(set)
    for table in _tables():
        for name, forms in table.get("given", {}).items():
            for form in (name, *forms.split()):
                full_names[plain(form)].add(plain(name))
    return MappingProxyType({form: frozenset(names) for form, names in full_names.items()})


@functools.cache
def given_names() -> frozenset[str]:
    """Every given name and short form that is known, folded."""
    return _plain_words("further") | short_forms().keys()


@functools.cache
def genders() -> Mapping[str, frozenset[str]]:
    """Folded given name -> the genders, f and m, of its bearers; names of unknown gender are left out."""
    by_name: defaultdict[str, set[str]] = defaultdict(set)
    for code in languages.codes("names"):
        table = languages.table(code, "names")
        for sex, name in (("f", "women"), ("m", "men")):
            for word in _words(table, name):
                by_name[plain(word)].add(sex)
        for name, sex in _genders_by_form(code, table):
            by_name[name].add(sex)
    return MappingProxyType({name: frozenset(sexes) for name, sexes in by_name.items()})


def _genders_by_form(code: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields (name, gender by its form) for the given names that are not listed as names of women or men."""
    listed = {plain(word) for name in ("women", "men") for word in _words(table, name)}
    names = {plain(word) for word in (*table.get("given", {}), *_words(table, "further"))} - listed
    for name in sorted(names):
        if sex := languages.morphology(code).gender(name):
            yield name, sex


@functools.cache
def spellings(language: str) -> frozenset[str]:
    """The given names and short forms of a language as they are written."""
    return frozenset(
        form for name, forms in languages.table(language, "names")["given"].items() for form in (name, *forms.split())
    )


@functools.cache
def titles() -> frozenset[str]:
    """Titles before or behind names, folded."""
    return _plain_words("titles")


@functools.cache
def before_family_names() -> frozenset[str]:
    """Words before a family name alone, in any case, folded."""
    return _plain_words("before") | titles()


@functools.cache
def kin() -> frozenset[str]:
    """Words that address books have instead of names: `mom`, `אמא`, `home`; folded."""
    return _plain_words("kin")


@functools.cache
def organisations() -> frozenset[str]:
    """Words of names of companies, clubs and offices; folded."""
    return _plain_words("organisations")


@functools.cache
def common() -> frozenset[str]:
    """Names that are also common words, as they are written: Will, Rose, דוד."""
    return frozenset(word for table in _tables() for word in _words(table, "common"))


@functools.cache
def former() -> tuple[str, ...]:
    """Words before a former name: `née`, `roz.`, `לבית`."""
    return tuple(word for table in _tables() for word in table.get("former", ()))


def plain(word: str) -> str:
    """A word of a name as names are compared: without case, accents, points and marks."""
    return fold(word).translate(_MARKS)


_MARKS = str.maketrans("", "", ".,'’‘`´\"״“”׳_")


def _plain_words(name: str) -> frozenset[str]:
    return frozenset(plain(word) for table in _tables() for word in _words(table, name))


def _words(table: Mapping[str, Any], name: str) -> list[str]:
    words: str = table.get(name, "")
    return words.split()


def _tables() -> Iterator[dict[str, Any]]:
    return (languages.table(code, "names") for code in languages.codes("names"))
