"""Rates how likely two written names belong to one person, with a reason.

Names alone prove nothing: the result is a suggestion, or tells whether two users of a phone may be one person.
"""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.personal_name import WrittenName
from relrag_pipelines.text.names.spelling import romanise, same, script

SAME, OTHER_SCRIPT, SPELLED, SHORT, INITIAL = 1.0, 0.95, 0.93, 0.9, 0.6
FORMER, OF_SEVERAL, FEMININE = 0.9, 0.9, 0.85
_WHOLE, _GIVEN, _FAMILY = 0.92, 0.5, 0.4
"""factors for two whole names, for a given name and a whole name, and for a family name and a whole name"""


class Likeness(NamedTuple):
    """How alike two names are."""

    score: float
    """0 to 1"""
    why: str = ""


NONE = Likeness(0.0)


@functools.lru_cache(1 << 17)
def name_likeness(name: WrittenName, other: WrittenName) -> Likeness:
    """How likely both names belong to one person; how common they are is not considered."""
    if not name.words or not other.words or name.is_kin or other.is_kin:
        return NONE
    shorter, longer = _by_length(name, other)
    if len(shorter.words) == 1:
        return _single_word_likeness(shorter, longer)
    return max(_whole_name_likeness(a, b) for a in _orders(shorter) for b in _orders(longer))


def _by_length(name: WrittenName, other: WrittenName) -> tuple[WrittenName, WrittenName]:
    """The name with fewer words, then the other."""
    return (other, name) if len(name.words) > len(other.words) else (name, other)


def _fits_anybody(name: WrittenName) -> bool:
    """Whether a name does not tell one person from another: it is empty, a kin term or a firm's."""
    return not name.words or name.is_kin or name.is_organisation


@functools.lru_cache(1 << 17)
def compatible(name: WrittenName, other: WrittenName) -> bool:
    """Whether both may be names of one person, given that they share a number or address.

    The name of a firm, or `Mom`, is compatible with every name. Two family names may be one person's; two unrelated
    given names are two people's.
    """
    if _fits_anybody(name) or _fits_anybody(other):
        return True
    shorter, longer = _by_length(name, other)
    first = shorter.words[0]
    if len(shorter.words) == 1:
        return any(_given_name_likeness(first, part).score for part in longer.words) or _is_handle(first, longer)
    if _given_name_likeness(first, longer.words[0]).score > 0:
        return True
    firsts = itertools.product((first, shorter.words[-1]), (longer.words[0], longer.words[-1]))
    return name_likeness(shorter, longer).score > 0 and any(_given_name_likeness(a, b).score for a, b in firsts)


@functools.lru_cache(1 << 16)
def stands_for(word: str) -> frozenset[str]:
    """The full given names that a word may be short for, in all scripts; the word itself if none is known."""
    forms = tables.short_forms()
    return forms.get(word) or frozenset({word})


def accounts(name: WrittenName) -> frozenset[str]:
    """Account names that bearers of a name may have: `jkim`, `joekim`, `kimj` of Joe Kim."""
    given, *families = name.words or ("",)
    return frozenset(
        account
        for family in families
        if len(family) > 2
        for account in (given + family, given[0] + family, family + given[0], family + given)
    )


def _orders(name: WrittenName) -> tuple[WrittenName, ...]:
    """The name, and the name with its first word last."""
    return name, name._replace(words=(*name.words[1:], name.words[0]))


def _single_word_likeness(name: WrittenName, other: WrittenName) -> Likeness:
    word = name.words[0]
    given = _given_name_likeness(word, other.words[0])
    if len(other.words) == 1:
        return Likeness(_GIVEN * given.score, given.why)
    if given.score:
        return Likeness(_GIVEN * given.score, f"{given.why}, one has no family name")
    if word in accounts(other):
        return Likeness(_GIVEN * SHORT, "an account named for initial and family name")
    family = max(_word_likeness(word, part) for part in other.words[1:])
    return Likeness(_FAMILY * family, "the same family name, one has no given name") if family else NONE


def _whole_name_likeness(name: WrittenName, other: WrittenName) -> Likeness:
    given = _given_name_likeness(name.words[0], other.words[0])
    if not given.score:
        return NONE
    family, why = _family_likeness(name, other)
    return Likeness(_WHOLE * given.score * family, f"{given.why}, {why}") if family else NONE


@functools.lru_cache(1 << 17)
def _given_name_likeness(given: str, other: str) -> Likeness:
    if given == other:
        return Likeness(SAME, "the same given name")
    if same(given, other):
        if script(given) != script(other):
            return Likeness(OTHER_SCRIPT, "the given name in two scripts")
        return Likeness(SPELLED, "the given name spelled in two ways")
    if len(given) == 1 or len(other) == 1:
        return Likeness(INITIAL, "an initial") if given[0] == other[0] else NONE
    full_names, other_full_names = stands_for(given), stands_for(other)
    forms = itertools.product(full_names | {given}, other_full_names | {other})
    if full_names & other_full_names or any(same(a, b) for a, b in forms):
        return Likeness(SHORT, "a short form of the given name")
    return NONE


def _family_likeness(name: WrittenName, other: WrittenName) -> tuple[float, str]:
    """How alike the family names are, and why; a middle name may be left out."""
    families, others = name.words[1:], other.words[1:]
    whole = _word_likeness("".join(families), "".join(others))
    if whole:
        return whole, "the same family name" if whole >= SPELLED else "a family name in two forms"
    if _share_family_name(families, others):
        return OF_SEVERAL, "one of two family names"
    if _any_alike(name.former, others) or _any_alike(other.former, families):
        return FORMER, "a family name borne before"
    if _is_initial(families[-1], others[-1]) or _is_initial(others[-1], families[-1]):
        return INITIAL, "an initial of the family name"
    return 0.0, ""


def _share_family_name(families: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether the last family name of one is among those of the other, or one of them has more after the same first."""
    if len(families) != len(others) and _word_likeness(families[0], others[0]):
        return True
    return _any_alike(families[-1:], others) or _any_alike(others[-1:], families)


def _any_alike(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return any(_word_likeness(word, other) for word in words for other in others)


def _is_initial(letter: str, word: str) -> bool:
    return len(letter) == 1 and letter == word[0]


@functools.lru_cache(1 << 17)
def _word_likeness(word: str, other: str) -> float:
    if word == other:
        return SAME
    if same(word, other):
        return OTHER_SCRIPT if script(word) != script(other) else SPELLED
    return FEMININE if len(word) > 3 < len(other) and masculine(word) & masculine(other) else 0.0


def masculine(family: str) -> frozenset[str]:
    """Masculine forms of a Slavic family name: novakova is novak, svobodova svobod or svoboda, ruzicka ruzicky."""
    family = romanise(family) or family
    forms = {family}
    if family.endswith(("ova", "eva")):
        forms |= {family[:-3], family[:-1], f"{family[:-3]}a"}
    elif family.endswith(("ina", "ska", "cka")):
        forms |= {family[:-1], f"{family[:-1]}y"}
    return frozenset(forms)


def _is_handle(word: str, name: WrittenName) -> bool:
    """Whether a word is made of a name, as `jkim` and `joekim` are of Joe Kim."""
    return len(word) > 3 and any(len(part) > 2 and (part in word or word in part) for part in name.words)
