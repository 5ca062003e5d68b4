"""Kin terms and roles with their relationship types, from `kinship.toml` of each language."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ahocorasick_rs import AhoCorasick, Implementation

from relrag_pipelines import languages
from relrag_pipelines.text.analyzer import PREFIXED
from relrag_pipelines.text.names.tables import given_names, kin, plain

LANGUAGES = languages.codes("kinship")
"""those in which a question may ask for relatives"""
STATING = tuple(code for code in LANGUAGES if not languages.table(code, "kinship").get("questions_only"))
"""those whose texts and address books may state relatives too"""
_MIN_LETTERS = 3
"""letters of a kin term in a name: the shorter בן and בת are as often part of a family name"""
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
"""relationship types that are occupations"""


@functools.cache
def types_of(language: str, part: str = "") -> Mapping[str, str]:
    """Word -> relationship type; of a part of the file, `latin`, `mine`, `yours`, `of` or `said_of`."""
    table = _table(language)
    of_part = table.get(part, {}) if part else {name: words for name, words in table.items() if isinstance(words, str)}
    return MappingProxyType({word.replace("_", " "): kind for kind, words in of_part.items() for word in words.split()})


@functools.cache
def question_forms(language: str, part: str = "asked") -> Mapping[str, str]:
    """Form in questions -> the word that it is a form of, or a relationship type; `asked_mine` has forms with `my`."""
    return MappingProxyType(dict(_table(language).get(part, {})))


def singulars(language: str) -> frozenset[str]:
    """The forms of `question_forms` that mean one person: `hubby`."""
    return frozenset(_part(language, "singular").get("words", "").split())


@functools.cache
def lookalikes(language: str) -> tuple[str, ...]:
    """Words of another meaning that look like a form of a kin term: `máme` (we have) like a form of `máma`."""
    return tuple(_part(language, "unlike").get("words", "").split())


@functools.cache
def relationship_types() -> frozenset[str]:
    """Every relationship type with a word in some language."""
    return frozenset(kind for language in LANGUAGES for kind in types_of(language).values())


@functools.cache
def genders() -> Mapping[str, str]:
    """Plain kin term -> f or m; terms for both are left out."""
    words = [
        (language, word, sex)
        for language in LANGUAGES
        for sex, listed in _part(language, "gender").items()
        for word in listed.split()
    ]
    nominatives = {plain(word): sex for _, word, sex in words}
    oblique = {plain(form): sex for language, word, sex in words for form in _inflected(language, word)}
    return MappingProxyType({**oblique, **nominatives})


def gender(word: str) -> str:
    """f or m, if a word, with or without prefixed letters, is a kin term for a woman or a man; else empty."""
    folded = plain(word)
    for length in range(3):
        if folded[:length].strip(PREFIXED) == "" and (sex := genders().get(folded[length:])):
            return sex
    return ""


@functools.cache
def owners(language: str, part: str = "owners") -> Mapping[str, str]:
    """Possessive word -> writer, reader, his, her or own; `oblique_owners` has the other cases."""
    pairs = ((word, owner) for owner, words in _part(language, part).items() for word in words.split())
    return MappingProxyType({word.replace("_", " "): owner for word, owner in pairs})


@functools.cache
def adjectives(language: str) -> tuple[str, ...]:
    """Adjectives between `my` and a kin term that do not change its meaning: `older`, `nejlepší`."""
    return tuple(_part(language, "adjectives").get("words", "").split())


@functools.cache
def types_of_names() -> Mapping[str, str]:
    """Plain kin term or role that address books use instead of names -> relationship type."""
    return _types_of_words(STATING)


@functools.cache
def _types_of_words(codes: Sequence[str]) -> Mapping[str, str]:
    parts = [types_of(language, part) for language in codes for part in ("", "transliterated", "mine", "yours")]
    return MappingProxyType({plain(word): kind for part in parts for word, kind in part.items()})


@functools.cache
def _plain_forms() -> Mapping[str, str]:
    """Plain kin term or role in any form -> relationship type."""
    cases = {plain(word): kind for word, kind in inflected_forms().items()}
    return MappingProxyType({**cases, **types_of_names()})


def roles_in(text: str) -> frozenset[str]:
    """The occupations of ROLES that a text names in any form: `praktický lékař` is a doctor."""
    words = [plain(word) for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text)]
    pairs = [f"{word} {two}" for word, two in itertools.pairwise(words)]
    types = {_plain_forms().get(word, "") for word in (*words, *pairs)}
    return frozenset(types) & ROLES


def type_in_name(words: Sequence[str]) -> str | None:
    """The relationship type in the plain words of an address book's name: `Máma Zdena`, `Vadim Plumber`.

    None if no word at either end is a kin term or a role, or if it may be a name: דוד is an uncle and a David.
    """
    ends = [(" ".join(words[:1]), words[1:]), (" ".join(words[-1:]), words[:-1]), (" ".join(words[-2:]), words[:-2])]
    for word, rest in ends:
        kind = types_of_names().get(word)
        if kind and (rest or word in kin()) and word not in given_names() and len(word) >= _MIN_LETTERS:
            return kind
    return None


def types_of_word(word: str) -> frozenset[str]:
    """The relationship types that a word of any language and case may mean, with or without prefixed letters."""
    folded = plain(word)
    stripped = [
        folded[length:] for length in (1, 2) if folded[:length].strip(PREFIXED) == "" and len(folded) > length + 1
    ]
    forms = (folded, folded.removesuffix("s"), *stripped)
    types = [table.get(form) for table in (types_of_names(), inflected_forms()) for form in forms]
    return frozenset(filter(None, types))


def words_for(types: Collection[str]) -> frozenset[str]:
    """Every plain word for one of these relationship types in any language."""
    return frozenset(
        word for table in (types_of_names(), inflected_forms()) for word, type_ in table.items() if type_ in types
    )


def type_of(written: str) -> tuple[str, str | None]:
    """The relationship type of a word, and the word itself if it is more specific: a brother is a sibling.

    A word that is no kin term or role is its own type.
    """
    word = plain(written.strip().lower().replace("_", " "))
    types = _types_of_words(LANGUAGES)
    kind = types.get(word) or types.get(word.replace(" ", "-"))
    if kind is None or kind == word.replace(" ", "_").replace("-", "_"):
        return written, None
    return kind, written


@functools.cache
def inflected_forms(*codes: str) -> Mapping[str, str]:
    """Inflected form, nominatives left out -> relationship type; of all languages if no code is given."""
    return MappingProxyType(
        {
            form: kind
            for language in codes or LANGUAGES
            for word, kind in types_of(language).items()
            for form in _inflected(language, word)
            if form not in types_of(language) and form not in lookalikes(language)
        }
    )


def _inflected(language: str, word: str) -> list[str]:
    return [form for of_case in languages.morphology(language).cases(word) for form in of_case]


@functools.lru_cache(1)  # called several times in a row with the same text
def may_name(text: str) -> bool:
    """Whether a text contains a kin term or role in any form, with or without prefixed letters."""
    lower_text = text.lower()
    for _, start, end in _forms().find_matches_as_indexes(lower_text, overlapping=True):
        if not lower_text[end : end + 1].isalnum() and _begins(lower_text, start):
            return True
    return False


def _begins(text: str, start: int) -> bool:
    """Whether a word begins at `start`, or up to two prefixed letters before it."""
    for position in range(start, max(-1, start - 3), -1):
        if not position or not text[position - 1].isalnum():
            return True
        if text[position - 1] not in PREFIXED:
            return False
    return False


@functools.cache
def _forms() -> AhoCorasick:
    return AhoCorasick(sorted(_nominatives() | inflected_forms().keys()), implementation=Implementation.DFA)


def _nominatives() -> set[str]:
    words = {
        word
        for language in STATING
        for part in ("", "mine", "yours", "his", "hers")
        for word in (*types_of(language, part), *question_forms(language))
    }
    return words | {form for language in STATING for word in types_of(language) for form in plurals(language, word)}


def plurals(language: str, word: str) -> tuple[str, ...]:
    """The plurals of a word by the rules of its language; irregular ones are among `question_forms`."""
    return tuple(form for form in languages.morphology(language).plurals(word) if form not in lookalikes(language))


def _part(language: str, part: str) -> dict[str, str]:
    entries: dict[str, str] = _table(language).get(part, {})
    return entries


def _table(language: str) -> dict[str, Any]:
    return languages.table(language, "kinship")
