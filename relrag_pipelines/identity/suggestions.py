"""Suggests pairs of people who may be the same person, with evidence and a score, for the owner to judge.

No library for record linkage: certain identifiers need none, and the rest are names in three scripts, for which a
model would have to be trained on this one archive, and could not give the owner its reasons.
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from relrag_pipelines.identity.resolve import ResolvedPerson
from relrag_pipelines.text.names.likeness import Likeness, accounts, masculine, name_likeness, stands_for
from relrag_pipelines.text.names.personal_name import WrittenName
from relrag_pipelines.text.names.spelling import skeletons

MIN_SCORE = 0.2
"""score of the weakest suggestion"""
_SAME_CONTACT = 0.35
"""score of two people with a number or address in common whose names differ: a family, or one person"""
_MAX_SHARING = 100
"""names that more people share suggest no pairs, which would be too many to judge"""
_MAX_CONTACT_USERS = 4
"""numbers and addresses of more people suggest no pairs"""


class Suggestion(NamedTuple):
    """Two people who may be one."""

    score: float
    """0 to 1"""
    person_id: int
    other_id: int
    """the greater of the two"""
    evidence: tuple[str, ...]


def suggest(people: Mapping[int, ResolvedPerson], least: float = MIN_SCORE) -> list[Suggestion]:
    """Suggestions with a score of at least `least`, the surest first."""
    suggestions: dict[tuple[int, int], Suggestion] = {}
    fits: defaultdict[int, int] = defaultdict(int)
    likenesses: dict[tuple[int, int], Likeness] = {}
    contacts = _same_contacts(people)
    for person_id, other_id in sorted(_candidates(people) | contacts.keys()):
        likeness = _likeness(people[person_id], people[other_id])
        if likeness.score:
            likenesses[person_id, other_id] = likeness
            if likeness.score <= 0.5:
                fits[person_id] += 1
                fits[other_id] += 1
    for pair in sorted(likenesses.keys() | contacts):
        likeness = likenesses.get(pair, Likeness(0.0))
        score = likeness.score
        if 0 < score <= 0.5:  # a name of one word fits many
            score /= max(1, min(fits[pair[0]], fits[pair[1]]))
        evidence = [likeness.why] if score else []
        if pair in contacts:
            score = 1 - (1 - score) * (1 - _SAME_CONTACT)
            evidence.append(f"the same {contacts[pair]}")
        if score >= least:
            suggestions[pair] = Suggestion(round(score, 3), *pair, tuple(evidence))
    return sorted(suggestions.values(), key=lambda pair: (-pair.score, pair.person_id, pair.other_id))


def _candidates(people: Mapping[int, ResolvedPerson]) -> set[tuple[int, int]]:
    """Pairs that share a given name and, if both have one, a family name, in any script and spelling."""
    blocks = _people_by_key(people)
    pairs: set[tuple[int, int]] = set()
    for block in blocks.whole.values():
        if len(block) <= _MAX_SHARING:
            pairs.update(itertools.combinations(sorted(block), 2))
    for key, block in blocks.single.items():
        bearers = block | blocks.given.get(key, set())
        if len(bearers) <= _MAX_SHARING:
            pairs.update((min(a, b), max(a, b)) for a, b in itertools.product(block, bearers) if a != b)
    return pairs


class _Blocks(NamedTuple):
    """Key of a name -> the people who bear it."""

    whole: defaultdict[str, set[int]]
    """by given and family name together"""
    given: defaultdict[str, set[int]]
    """by a word of a name that has others"""
    single: defaultdict[str, set[int]]
    """by the only word of a name"""


def _people_by_key(people: Mapping[int, ResolvedPerson]) -> _Blocks:
    blocks = _Blocks(defaultdict(set), defaultdict(set), defaultdict(set))
    for person_id, person in people.items():
        for name in person.names:
            by_word = blocks.single if len(name.words) == 1 else blocks.given
            for key in _word_keys(name):
                by_word[key].add(person_id)
            for key in _whole_keys(name):
                blocks.whole[key].add(person_id)
    return blocks


def _word_keys(name: WrittenName) -> set[str]:
    """Keys of the first and last word of a name and of its account names."""
    return {key for word in {name.words[0], name.words[-1], *accounts(name)} for key in _given_keys(word)}


def _likeness(person: ResolvedPerson, other: ResolvedPerson) -> Likeness:
    """The likeness of the most similar names; names of one word count only if one of the two has no other."""
    names, other_names = person.names, other.names
    whole_names, other_whole_names = _whole_names(person), _whole_names(other)
    if whole_names and other_whole_names:
        names, other_names = whole_names, other_whole_names
    return max((name_likeness(a, b) for a, b in itertools.product(names, other_names)), default=Likeness(0.0))


def _whole_names(person: ResolvedPerson) -> list[WrittenName]:
    return [name for name in person.names if len(name.words) > 1]


@functools.lru_cache(1 << 15)
def _given_keys(word: str) -> frozenset[str]:
    return frozenset(key for full in stands_for(word) | {word} for key in skeletons(full) if key)


@functools.lru_cache(1 << 15)
def _whole_keys(name: WrittenName) -> frozenset[str]:
    """Keys of given and family name together, in both orders; a given name may be an initial."""
    keys = set()
    for given, families in ((name.words[0], name.words[1:]), (name.words[-1], name.words[:-1])):
        firsts = _given_keys(given) | {given[0]}
        forms = [form for word in (*families, *name.former) for form in masculine(word)]
        lasts = {key for form in forms for key in skeletons(form)} | skeletons("".join(families))
        keys |= {f"{first} {last}" for first in firsts for last in lasts if last}
    return frozenset(keys)


def _same_contacts(people: Mapping[int, ResolvedPerson]) -> dict[tuple[int, int], str]:
    users: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for kind, keyed, person_id in _contacts(people):
        users[kind, keyed].add(person_id)
    contacts: dict[tuple[int, int], str] = {}
    for (kind, _), ids in sorted(users.items()):
        if 1 < len(ids) <= _MAX_CONTACT_USERS:
            name = "address" if kind == "email" else "number"
            contacts |= dict.fromkeys(itertools.combinations(sorted(ids), 2), name)
    return contacts


def _contacts(people: Mapping[int, ResolvedPerson]) -> Iterator[tuple[str, str, int]]:
    for person_id, person in people.items():
        for entry in person.entries:
            for claim in entry.claims:
                if claim.kind != "name" and not claim.shared:
                    yield claim.kind, claim.keyed, person_id
