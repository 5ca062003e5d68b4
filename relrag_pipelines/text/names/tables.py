"""The data files of names, one a language: short forms of given names, titles, words for former names and for kin."""

from __future__ import annotations

import functools
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from relrag_pipelines.text.analyzer import fold

LANGUAGES = ("en", "he", "cs", "ru")


@functools.cache
def short_forms() -> Mapping[str, frozenset[str]]:
    """A given name or short form, folded -> the names that it may stand for, folded: `bill` -> {`william`}.

    A name of several languages is one word with the forms of all of them; each full name stands for itself.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for language in LANGUAGES:
        for name, forms in _table(language)["given"].items():
            for form in (name, *forms.split()):
                found[plain(form)].add(plain(name))
    return MappingProxyType({form: frozenset(names) for form, names in found.items()})


@functools.cache
def given_names() -> frozenset[str]:
    """Every given name and short form that is known, folded."""
    further = {plain(word) for language in LANGUAGES for word in _table(language).get("further", "").split()}
    return frozenset(further | short_forms().keys())


@functools.cache
def genders() -> Mapping[str, frozenset[str]]:
    """A given name, folded -> f and m, whoever bears it; without those of which nothing tells."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for language in LANGUAGES:
        for sex, name in (("f", "women"), ("m", "men")):
            for word in _list(language, name):
                found[plain(word)].add(sex)
    listed = frozenset(plain(word) for name in ("women", "men") for word in _list("cs", name))
    for word in {*_table("cs")["given"], *_list("cs", "further")}:
        if plain(word) not in listed:
            found[plain(word)].add("f" if plain(word).endswith(("a", "e")) else "m")
    return MappingProxyType({name: frozenset(some) for name, some in found.items()})


@functools.cache
def spellings(language: str) -> frozenset[str]:
    """The given names and short forms of a language as they are written."""
    return frozenset(one for name, forms in _table(language)["given"].items() for one in (name, *forms.split()))


@functools.cache
def titles() -> frozenset[str]:
    """What stands before or behind a name and is no part of it, folded."""
    return frozenset(plain(word) for language in LANGUAGES for word in _list(language, "titles"))


@functools.cache
def before_family_names() -> frozenset[str]:
    """What stands before a family name alone, in any case, folded."""
    further = {plain(word) for language in LANGUAGES for word in _table(language).get("before", "").split()}
    return frozenset(further | titles())


@functools.cache
def kin() -> frozenset[str]:
    """What stands in an address book for a person and is no name: `mom`, `אמא`, `home`; folded."""
    return frozenset(plain(word) for language in LANGUAGES for word in _list(language, "kin"))


@functools.cache
def organisations() -> frozenset[str]:
    """Words that make a name that of a company, a club or an office; folded."""
    return frozenset(plain(word) for language in LANGUAGES for word in _list(language, "organisations"))


@functools.cache
def common() -> frozenset[str]:
    """Names that are also common words, as they are written: Will, Rose, דוד."""
    return frozenset(word for language in LANGUAGES for word in _list(language, "common"))


@functools.cache
def former() -> tuple[str, ...]:
    """What stands before a name that somebody had: `née`, `roz.`, `לבית`."""
    return tuple(word for language in LANGUAGES for word in _table(language)["former"])


def plain(word: str) -> str:
    """A word of a name without what does not tell it from another: case, accents, points, marks within."""
    return fold(word).translate(_MARKS)


_MARKS = str.maketrans("", "", ".,'’‘`´\"״“”׳_")


def _list(language: str, name: str) -> list[str]:
    words: str = _table(language)[name]
    return words.split()


@functools.cache
def _table(language: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{language}.toml").read_text(encoding="utf-8"))
