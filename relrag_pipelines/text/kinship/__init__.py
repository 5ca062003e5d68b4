"""Words for what one person is to another, a file a language, each under its relationship type."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from relrag_pipelines.text.analyzer import PREFIXED
from relrag_pipelines.text.names.czech_forms import cases
from relrag_pipelines.text.names.tables import plain


@functools.cache
def types_of(language: str, part: str = "") -> Mapping[str, str]:
    """Word -> relationship type; of a part of the file, `mine` or `of`."""
    table = _table(language)
    of_part = table[part] if part else {name: said for name, said in table.items() if isinstance(said, str)}
    return MappingProxyType({word.replace("_", " "): kind for kind, said in of_part.items() for word in said.split()})


@functools.cache
def relationship_types() -> frozenset[str]:
    """Every relationship type that there is a word for."""
    return frozenset(types_of("en").values())


@functools.cache
def genders() -> Mapping[str, str]:
    """The words that tell whether a relative is a woman or a man, plain -> f or m."""
    tables = [_table(language)["gender"] for language in ("en", "cs", "he")]
    return MappingProxyType(
        {plain(word): sex for table in tables for sex, said in table.items() for word in said.split()}
    )


@functools.cache
def types_of_names() -> Mapping[str, str]:
    """What an address book calls somebody instead of a name, as names are compared -> relationship type."""
    parts = (types_of("en"), types_of("cs"), types_of("he"), types_of("he", "mine"))
    return MappingProxyType({plain(word): kind for part in parts for word, kind in part.items()})


def types_named(word: str) -> frozenset[str]:
    """The relationship types that a word of any language and case may mean; Hebrew may write letters before it."""
    known = plain(word)
    stripped = [known[place:] for place in (1, 2) if known[:place].strip(PREFIXED) == "" and len(known) > place + 1]
    forms = (known, known.removesuffix("s"), *stripped)
    found = [table.get(form) for table in (types_of_names(), czech_cases()) for form in forms]
    return frozenset(filter(None, found))


def words_for(types: Collection[str]) -> frozenset[str]:
    """Every word, as names are compared, that means one of these relationship types in any language."""
    return frozenset(
        word for table in (types_of_names(), czech_cases()) for word, type_ in table.items() if type_ in types
    )


def type_of(written: str) -> tuple[str, str | None]:
    """The relationship type that a word names, and the word itself where that tells more: a brother is a sibling.

    What is no such word stays what it is.
    """
    word = plain(written.strip().lower().replace("_", " "))
    found = types_of_names().get(word) or types_of_names().get(word.replace(" ", "-"))
    if found is None or found == word.replace(" ", "_").replace("-", "_"):
        return written, None
    return found, written


@functools.cache
def czech_cases() -> Mapping[str, str]:
    """The forms of the Czech words that are not their nominative -> relationship type."""
    return MappingProxyType(
        {
            form: kind
            for word, kind in types_of("cs").items()
            for of_case in cases(word)
            for form in of_case
            if form not in types_of("cs")
        }
    )


@functools.cache
def _table(language: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{language}.toml").read_text(encoding="utf-8"))
