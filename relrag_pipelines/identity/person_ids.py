"""Ids of people: given once, kept over re-runs, rebuilds and merges.

An id belongs to anchors. A group of anchors has the smallest id that was given to one of them, unless a group that had
it earlier holds it still; the others are ids that somebody had, and lead to the group.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence

from relrag_pipelines.identity.journal_statements import FIRST_ID, Allocation, Entry, Merge, Split


def allocate(
    members: Mapping[str, Sequence[str]], said: Sequence[Entry]
) -> tuple[dict[str, int], list[Allocation], dict[int, int]]:
    """The id of each group, what has to be given, and of all ids known the one of the group that they lead to."""
    given, since, used = _allocated(said)
    pins = {root: _pins(nodes) for root, nodes in members.items()}
    used |= {pin for found in pins.values() for pin in found}
    fresh = (number for number in itertools.count(FIRST_ID) if number not in used)
    never = max(since.values(), default=0) + 1

    def earliest(root: str) -> tuple[bool, int, str]:
        nodes = members[root]
        return not pins[root], min((since.get(node, never) for node in nodes), default=never), min(nodes)

    ids: dict[str, int] = {}
    known: dict[int, int] = {}
    taken: set[int] = set()
    allocations = []
    for root in sorted(members, key=earliest):
        anchors = [node for node in members[root] if not node.startswith("entry:")]
        had = {given[anchor] for anchor in anchors if anchor in given}
        free = sorted(pins[root]) or sorted(had - taken)
        own = free[0] if free else next(fresh)
        taken.add(own)
        ids[root] = own
        # what was given to a group that has since been joined to this one keeps its id, in case they part again
        elsewhere = (had & taken) - {own} - pins[root]
        new = tuple(anchor for anchor in anchors if anchor not in given or given[anchor] in elsewhere)
        if new:
            allocations.append(Allocation(own, new))
        for one in had | pins[root] | {own}:
            known.setdefault(one, own)
    return ids, allocations, known | {own: own for own in taken}


def _allocated(said: Sequence[Entry]) -> tuple[dict[str, int], dict[str, int], set[int]]:
    """By anchor the id that it has and the entry that first gave it one; and all ids that were ever given."""
    given: dict[str, int] = {}
    since: dict[str, int] = {}
    used: set[int] = set()
    for entry in said:
        if isinstance(entry.statement, Allocation):
            used.add(entry.statement.person_id)
            for anchor in entry.statement.anchors:
                given[anchor] = entry.statement.person_id
                since.setdefault(anchor, entry.number)
    return given, since, used


def with_merged_ids(known: Mapping[int, int], said: Sequence[Entry]) -> dict[int, int]:
    """`known` with the ids of merged people of whom no anchor is left: they lead to those they were merged with.

    What the owner said of the merged person is said of the one id or the other, and holds for who is left. Whom a
    later split parted is nobody's.
    """
    anchors: defaultdict[int, set[str]] = defaultdict(set)
    for anchor, person_id in _allocated(said)[0].items():
        anchors[person_id].add(anchor)
    found = dict(known)
    for entry in said:
        if not isinstance(entry.statement, Merge):
            continue
        ids = (entry.statement.into, *entry.statement.others)
        left = next((one for one in ids if one in found), None)
        if left is None:
            continue
        for one in ids:
            if not any(_parts(split, anchors[left], anchors[one]) for split in _splits_after(entry, said)):
                found.setdefault(one, found[left])
    return found


def merge_groups(
    ids: Mapping[str, int], members: Mapping[str, Sequence[str]], known: Mapping[int, int], said: Sequence[Entry]
) -> dict[int, int]:
    """The id of each group -> the id that it has after the owner's merges; a later split keeps groups apart."""
    survivors = {own: own for own in ids.values()}
    root_of = {own: root for root, own in ids.items()}
    for entry in said:
        if not isinstance(entry.statement, Merge):
            continue
        splits = _splits_after(entry, said)
        into = known.get(entry.statement.into)
        for other in map(known.get, entry.statement.others):
            if into is None or other is None:
                continue
            keep, gone = survivors[into], survivors[other]
            mine, theirs = (
                {node for own, now in survivors.items() if now == one for node in members[root_of[own]]}
                for one in (keep, gone)
            )
            if keep == gone or any(_parts(split, mine, theirs) for split in splits):
                continue
            survivors = {own: keep if now == gone else now for own, now in survivors.items()}
    return survivors


def _splits_after(merge: Entry, said: Sequence[Entry]) -> list[Split]:
    return [one.statement for one in said if isinstance(one.statement, Split) and one.number > merge.number]


def _parts(split: Split, mine: set[str], theirs: set[str]) -> bool:
    out, stay = set(split.out), set(split.stay)
    return bool((mine & out and theirs & stay) or (mine & stay and theirs & out))


def _pins(nodes: Sequence[str]) -> set[int]:
    return {int(node.removeprefix("pin:")) for node in nodes if node.startswith("pin:")}
