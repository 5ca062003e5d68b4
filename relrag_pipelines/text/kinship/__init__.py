"""Words for what one person is to another, a file a language, each under its relationship type."""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ahocorasick_rs import AhoCorasick, Implementation

from relrag_pipelines.text.analyzer import PREFIXED
from relrag_pipelines.text.names.czech_forms import cases
from relrag_pipelines.text.names.tables import given_names, kin, plain

LANGUAGES = ("en", "cs", "he")
_SHORTEST = 3
"""letters of a word in a name that tells what somebody is: בן and בת are as often part of a family name"""
ROLES = frozenset(
    {
        "doctor",
        "dentist",
        "therapist",
        "vet",
        "teacher",
        "lawyer",
        "accountant",
        "architect",
        "plumber",
        "electrician",
        "carpenter",
        "mechanic",
        "gardener",
        "cleaner",
        "hairdresser",
        "photographer",
        "babysitter",
        "estate_agent",
        "notary",
        "heating_engineer",
        "contractor",
    }
)
"""relationship types that are occupations: whoever has one is that to others too"""


@functools.cache
def types_of(language: str, part: str = "") -> Mapping[str, str]:
    """Word -> relationship type; of a part of the file, `latin`, `mine`, `yours`, `of` or `said_of`."""
    table = _table(language)
    of_part = table.get(part, {}) if part else {name: said for name, said in table.items() if isinstance(said, str)}
    return MappingProxyType({word.replace("_", " "): kind for kind, said in of_part.items() for word in said.split()})


@functools.cache
def question_forms(language: str, part: str = "asked") -> Mapping[str, str]:
    """Form that questions are read for -> the word of the file that it is of; `asked_mine` has those that say `my`."""
    return MappingProxyType(dict(_table(language).get(part, {})))


@functools.cache
def lookalikes(language: str) -> tuple[str, ...]:
    """Words of another meaning that look like a form of such a word: `máme` (we have) like a form of `máma`."""
    return tuple(_table(language)["unlike"]["words"].split())


@functools.cache
def relationship_types() -> frozenset[str]:
    """Every relationship type that there is a word for."""
    return frozenset(types_of("en").values())


@functools.cache
def genders() -> Mapping[str, str]:
    """The words that tell whether a relative is a woman or a man, plain -> f or m."""
    tables = [_table(language)["gender"] for language in LANGUAGES]
    found = {plain(word): sex for table in tables for sex, said in table.items() for word in said.split()}
    czech = ((word, sex) for sex, said in _table("cs")["gender"].items() for word in said.split())
    oblique = {plain(form): sex for word, sex in czech for of_case in cases(word) for form in of_case}
    return MappingProxyType({**oblique, **found})


def gender(word: str) -> str:
    """f or m where a word says so, in Hebrew with the letters that are written before it too; else empty."""
    known = plain(word)
    for place in range(3):
        if known[:place].strip(PREFIXED) == "" and (sex := genders().get(known[place:])):
            return sex
    return ""


@functools.cache
def owners(language: str, part: str = "owners") -> Mapping[str, str]:
    """Word that says whose somebody is -> writer, reader, his, her or own; `oblique_owners` in the other cases."""
    said = ((word, owner) for owner, words in _table(language)[part].items() for word in words.split())
    return MappingProxyType({word.replace("_", " "): owner for word, owner in said})


@functools.cache
def shared_words() -> frozenset[str]:
    """The words that say that somebody is a relative of several: `our`."""
    return frozenset(word for language in LANGUAGES for word in _table(language)["shared"]["words"].split())


@functools.cache
def adjectives(language: str) -> tuple[str, ...]:
    """What may stand between `my` and such a word and says no less of who it is: `older`, `nejlepší`."""
    return tuple(_table(language)["adjectives"]["words"].split())


@functools.cache
def types_of_names() -> Mapping[str, str]:
    """What an address book calls somebody instead of a name, as names are compared -> relationship type."""
    parts = (
        *map(types_of, LANGUAGES),
        types_of("he", "latin"),
        types_of("he", "mine"),
        types_of("he", "yours"),
    )
    return MappingProxyType({plain(word): kind for part in parts for word, kind in part.items()})


@functools.cache
def _plain_forms() -> Mapping[str, str]:
    """Every word for what somebody is to another in any form, as names are compared -> relationship type."""
    cases = {plain(word): kind for word, kind in czech_cases().items()}
    return MappingProxyType({**cases, **types_of_names()})


def roles_in(text: str) -> frozenset[str]:
    """The occupations of ROLES that a text names in whatever form: `praktický lékař` is a doctor."""
    words = [plain(word) for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text)]
    pairs = [f"{one} {two}" for one, two in itertools.pairwise(words)]
    found = {_plain_forms().get(word, "") for word in (*words, *pairs)}
    return frozenset(found) & ROLES


def type_in_name(words: Sequence[str]) -> str | None:
    """What somebody is whom an address book calls `Máma Zdena` or `Vadim Plumber`, by words as names are compared.

    None where no word at either end says so, or where it may be a name: דוד is an uncle and a David.
    """
    ends = [(" ".join(words[:1]), words[1:]), (" ".join(words[-1:]), words[:-1]), (" ".join(words[-2:]), words[:-2])]
    for word, rest in ends:
        kind = types_of_names().get(word)
        if kind and (rest or word in kin()) and word not in given_names() and len(word) >= _SHORTEST:
            return kind
    return None


def types_of_word(word: str) -> frozenset[str]:
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
            if form not in types_of("cs") and form not in lookalikes("cs")
        }
    )


@functools.lru_cache(1)  # asked of a text several times in a row
def may_name(text: str) -> bool:
    """Whether such a word stands in a text, in any of its forms; a Hebrew one with what is written before it too."""
    said = text.lower()
    for _, start, end in _forms().find_matches_as_indexes(said, overlapping=True):
        if not said[end : end + 1].isalnum() and _begins(said, start):
            return True
    return False


def _begins(text: str, start: int) -> bool:
    """Whether a word begins there, or at most two letters before it that Hebrew writes before words."""
    for place in range(start, max(-1, start - 3), -1):
        if not place or not text[place - 1].isalnum():
            return True
        if text[place - 1] not in PREFIXED:
            return False
    return False


@functools.cache
def _forms() -> AhoCorasick:
    return AhoCorasick(sorted(_nominatives() | czech_cases().keys()), implementation=Implementation.DFA)


def _nominatives() -> set[str]:
    said = [types_of(language) for language in LANGUAGES]
    said += [types_of("he", part) for part in ("mine", "yours", "of")]
    plurals = {*question_forms("en"), *question_forms("cs"), *(f"{word}s" for word in types_of("en"))}
    return plurals | {word for table in said for word in table}


@functools.cache
def _table(language: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{language}.toml").read_text(encoding="utf-8"))
