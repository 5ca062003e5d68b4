"""Who may be the same person: candidates for the owner to judge, with the evidence and a score.

No library for record linkage: what joins for sure needs none, and the rest is a matter of names in three scripts, for
which a model would have to be trained on this one archive, and could not tell the owner why.
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

LEAST = 0.2
"""the score of the weakest that is suggested"""
_SAME_CONTACT = 0.35
"""of two whose names do not fit, but who are reached in the same way: a family, or somebody with another name"""


_MOST = 100
"""of more people than these who share a name none is suggested for it: nobody judges so many pairs"""


class Suggestion(NamedTuple):
    """Two people who may be one."""

    score: float
    """0 to 1"""
    person_id: int
    other_id: int
    """the greater of the two"""
    evidence: tuple[str, ...]


def suggest(people: Mapping[int, ResolvedPerson], least: float = LEAST) -> list[Suggestion]:
    """Suggestions from the surest to the weakest."""
    found: dict[tuple[int, int], Suggestion] = {}
    fits: defaultdict[int, int] = defaultdict(int)
    likenesses: dict[tuple[int, int], Likeness] = {}
    contacts = _same_contacts(people)
    for one, other in sorted(_candidates(people) | contacts.keys()):
        likeness = _likeness(people[one], people[other])
        if likeness.score:
            likenesses[one, other] = likeness
            if likeness.score <= 0.5:
                fits[one] += 1
                fits[other] += 1
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
            found[pair] = Suggestion(round(score, 3), *pair, tuple(evidence))
    return sorted(found.values(), key=lambda one: (-one.score, one.person_id, one.other_id))


def _candidates(people: Mapping[int, ResolvedPerson]) -> set[tuple[int, int]]:
    """Pairs that share a given name and, where both have one, a family name, however these are written."""
    whole: defaultdict[str, set[int]] = defaultdict(set)
    given: defaultdict[str, set[int]] = defaultdict(set)
    single: defaultdict[str, set[int]] = defaultdict(set)
    for person_id, person in people.items():
        for name in person.names:
            place = single if len(name.words) == 1 else given
            for word in {name.words[0], name.words[-1], *accounts(name)}:
                for key in _given_keys(word):
                    place[key].add(person_id)
            for key in _whole_keys(name):
                whole[key].add(person_id)
    found: set[tuple[int, int]] = set()
    for block in whole.values():
        if len(block) <= _MOST:
            found.update(itertools.combinations(sorted(block), 2))
    for key, block in single.items():
        fitting = block | given.get(key, set())
        if len(fitting) <= _MOST:
            found.update((min(a, b), max(a, b)) for a, b in itertools.product(block, fitting) if a != b)
    return found


def _likeness(one: ResolvedPerson, other: ResolvedPerson) -> Likeness:
    """Of the names that are most alike; a name of one word counts only where one of the two has no other."""
    mine, theirs = one.names, other.names
    if any(len(name.words) > 1 for name in mine) and any(len(name.words) > 1 for name in theirs):
        mine, theirs = ([name for name in names if len(name.words) > 1] for names in (mine, theirs))
    return max((name_likeness(a, b) for a, b in itertools.product(mine, theirs)), default=Likeness(0.0))


@functools.lru_cache(1 << 15)
def _given_keys(word: str) -> frozenset[str]:
    return frozenset(key for full in stands_for(word) | {word} for key in skeletons(full) if key)


@functools.lru_cache(1 << 15)
def _whole_keys(name: WrittenName) -> frozenset[str]:
    """Keys of given and family name together, in both orders; a given name may be an initial."""
    found = set()
    for given, families in ((name.words[0], name.words[1:]), (name.words[-1], name.words[:-1])):
        firsts = _given_keys(given) | {given[0]}
        lasts = {key for word in (*families, *name.former) for form in masculine(word) for key in skeletons(form)}
        lasts |= skeletons("".join(families))
        found |= {f"{first} {last}" for first in firsts for last in lasts if last}
    return frozenset(found)


def _same_contacts(people: Mapping[int, ResolvedPerson]) -> dict[tuple[int, int], str]:
    users: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for kind, keyed, person_id in _contacts(people):
        users[kind, keyed].add(person_id)
    return {
        pair: "address" if kind == "email" else "number"
        for (kind, _), some in sorted(users.items())
        if 1 < len(some) <= 4
        for pair in itertools.combinations(sorted(some), 2)
    }


def _contacts(people: Mapping[int, ResolvedPerson]) -> Iterator[tuple[str, str, int]]:
    for person_id, person in people.items():
        for entry in person.entries:
            yield from (
                (one.kind, one.keyed, person_id) for one in entry.claims if one.kind != "name" and not one.shared
            )
