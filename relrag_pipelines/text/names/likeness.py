"""How likely two names as written are those of one person, and why.

Names alone prove nothing: what this finds is suggested, or tells whether two who share a phone may be one.
"""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.personal_name import WrittenName
from relrag_pipelines.text.names.spelling import same, script, to_latin

SAME, OTHER_SCRIPT, SPELLED, SHORT, INITIAL = 1.0, 0.95, 0.93, 0.9, 0.6
FORMER, OF_SEVERAL, FEMININE = 0.9, 0.9, 0.85
_WHOLE, _GIVEN, _FAMILY = 0.92, 0.5, 0.4
"""of two names with given and family name, of which one has but the given name, or the family name"""


class Likeness(NamedTuple):
    """How alike two names are."""

    score: float
    """0 to 1"""
    why: str = ""


NONE = Likeness(0.0)


@functools.lru_cache(1 << 17)
def name_likeness(one: WrittenName, other: WrittenName) -> Likeness:
    """How likely both are names of one person, without knowing how common they are."""
    if not one.words or not other.words or one.is_kin or other.is_kin:
        return NONE
    if len(one.words) > len(other.words):
        one, other = other, one
    if len(one.words) == 1:
        return _of_one_word(one, other)
    return max(_whole_name_likeness(a, b) for a in _orders(one) for b in _orders(other))


@functools.lru_cache(1 << 17)
def compatible(one: WrittenName, other: WrittenName) -> bool:
    """Whether both may be names of one person who is known to be reached in the same way: nothing speaks against it.

    The name of a firm, or `Mom`, speaks for nobody.

    Two family names may be one person's, two given names that have nothing to do with each other are two people's.
    """
    if any(not name.words or name.is_kin or name.is_organisation for name in (one, other)):
        return True
    if len(one.words) > len(other.words):
        one, other = other, one
    if len(one.words) == 1:
        word = one.words[0]
        return any(_given_name_likeness(word, part).score for part in other.words) or _is_handle(word, other)
    firsts = itertools.product((one.words[0], one.words[-1]), (other.words[0], other.words[-1]))
    return _given_name_likeness(one.words[0], other.words[0]).score > 0 or (
        name_likeness(one, other).score > 0 and any(_given_name_likeness(a, b).score for a, b in firsts)
    )


@functools.lru_cache(1 << 16)
def stands_for(word: str) -> frozenset[str]:
    """The full given names that a word may be short for, in all scripts; itself where none is known."""
    forms = tables.short_forms()
    return forms.get(word) or frozenset({word})


def accounts(name: WrittenName) -> frozenset[str]:
    """Words that people call accounts by who bear a name: `jkim`, `joekim`, `kimj` of Joe Kim."""
    given, *families = name.words or ("",)
    return frozenset(
        account
        for family in families
        if len(family) > 2
        for account in (given + family, given[0] + family, family + given[0], family + given)
    )


def _orders(name: WrittenName) -> tuple[WrittenName, ...]:
    """The name, and as if the family name stood first."""
    return name, name._replace(words=(*name.words[1:], name.words[0]))


def _of_one_word(one: WrittenName, other: WrittenName) -> Likeness:
    word = one.words[0]
    if len(other.words) == 1:
        found = _given_name_likeness(word, other.words[0])
        return Likeness(_GIVEN * found.score, found.why)
    given = _given_name_likeness(word, other.words[0])
    if given.score:
        return Likeness(_GIVEN * given.score, f"{given.why}, one has no family name")
    if word in accounts(other):
        return Likeness(_GIVEN * SHORT, "an account named for initial and family name")
    family = max(_word(word, part) for part in other.words[1:])
    return Likeness(_FAMILY * family, "the same family name, one has no given name") if family else NONE


def _whole_name_likeness(one: WrittenName, other: WrittenName) -> Likeness:
    given = _given_name_likeness(one.words[0], other.words[0])
    if not given.score:
        return NONE
    family, why = _families(one, other)
    return Likeness(_WHOLE * given.score * family, f"{given.why}, {why}") if family else NONE


@functools.lru_cache(1 << 17)
def _given_name_likeness(one: str, other: str) -> Likeness:
    if one == other:
        return Likeness(SAME, "the same given name")
    if same(one, other):
        apart = script(one) != script(other)
        return (
            Likeness(OTHER_SCRIPT, "the given name in two scripts")
            if apart
            else Likeness(SPELLED, "the given name spelled in two ways")
        )
    if len(one) == 1 or len(other) == 1:
        return Likeness(INITIAL, "an initial") if one[0] == other[0] else NONE
    full, others = stands_for(one), stands_for(other)
    if full & others or any(same(a, b) for a in full | {one} for b in others | {other}):
        return Likeness(SHORT, "a short form of the given name")
    return NONE


def _families(one: WrittenName, other: WrittenName) -> tuple[float, str]:
    """How alike the family names are; a middle name may be left out."""
    mine, theirs = one.words[1:], other.words[1:]
    whole = _word("".join(mine), "".join(theirs))
    if whole:
        return whole, "the same family name" if whole >= SPELLED else "a family name in two forms"
    if max(_word(mine[-1], theirs[-1]), _word(mine[0], theirs[0])) and min(len(mine), len(theirs)) < max(
        len(mine), len(theirs)
    ):
        return OF_SEVERAL, "one of two family names"
    if any(_word(mine[-1], part) for part in theirs) or any(_word(theirs[-1], part) for part in mine):
        return OF_SEVERAL, "one of two family names"
    if any(_word(part, last) for part in one.former for last in theirs) or any(
        _word(part, last) for part in other.former for last in mine
    ):
        return FORMER, "a family name borne before"
    if (len(mine[-1]) == 1 and mine[-1] == theirs[-1][0]) or (len(theirs[-1]) == 1 and theirs[-1] == mine[-1][0]):
        return INITIAL, "an initial of the family name"
    return 0.0, ""


@functools.lru_cache(1 << 17)
def _word(one: str, other: str) -> float:
    if one == other:
        return SAME
    if same(one, other):
        return OTHER_SCRIPT if script(one) != script(other) else SPELLED
    return FEMININE if len(one) > 3 < len(other) and masculine(one) & masculine(other) else 0.0


def masculine(family: str) -> frozenset[str]:
    """A Slavic family name as a man may bear it: novakova is novak, svobodova svobod or svoboda, ruzicka ruzicky."""
    family = to_latin(family) or family
    found = {family}
    if family.endswith(("ova", "eva")):
        found |= {family[:-3], family[:-1], f"{family[:-3]}a"}
    elif family.endswith(("ina", "ska", "cka")):
        found |= {family[:-1], f"{family[:-1]}y"}
    return frozenset(found)


def _is_handle(word: str, name: WrittenName) -> bool:
    """Whether a word is made of a name, as `jkim` and `joekim` are of Joe Kim."""
    return len(word) > 3 and any(len(part) > 2 and (part in word or word in part) for part in name.words)
