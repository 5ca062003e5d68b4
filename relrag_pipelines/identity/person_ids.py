"""Ids of people: allocated once, stable over runs, rebuilds and merges.

An id belongs to anchors. A group of anchors has the smallest id that was allocated to one of them, unless an earlier
group still has it; the other ids are former ids that lead to the group.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from relrag_pipelines.identity.journal_statements import FIRST_ID, Allocation, Entry, Merge, Split


def _former_ids(anchors: Iterable[str], allocated: Mapping[str, int]) -> set[int]:
    """The ids that were allocated to these anchors."""
    return {allocated[anchor] for anchor in anchors if anchor in allocated}


def _new_anchors(anchors: Iterable[str], allocated: Mapping[str, int], elsewhere: set[int]) -> tuple[str, ...]:
    """The anchors without an id, or with the id of another group."""
    return tuple(anchor for anchor in anchors if anchor not in allocated or allocated[anchor] in elsewhere)


def allocate(
    members: Mapping[str, Sequence[str]], statements: Sequence[Entry]
) -> tuple[dict[str, int], list[Allocation], dict[int, int]]:
    """The id of each group, the new allocations, and a map from every id to that of the group that it leads to."""
    allocated, first_numbers, used = _allocated(statements)
    pins = {root: _pins(nodes) for root, nodes in members.items()}
    used |= set(itertools.chain.from_iterable(pins.values()))
    fresh = (number for number in itertools.count(FIRST_ID) if number not in used)
    ids: dict[str, int] = {}
    group_ids: dict[int, int] = {}
    taken: set[int] = set()
    allocations = []
    for root in _earliest_first(members, pins, first_numbers):
        anchors = [node for node in members[root] if not node.startswith("entry:")]
        former = _former_ids(anchors, allocated)
        free = sorted(pins[root]) or sorted(former - taken)
        own = free[0] if free else next(fresh)
        taken.add(own)
        ids[root] = own
        # anchors of a group that has since been joined to this one keep their id, in case the groups part again
        elsewhere = (former & taken) - {own} - pins[root]
        if new := _new_anchors(anchors, allocated, elsewhere):
            allocations.append(Allocation(own, new))
        for person_id in former | pins[root] | {own}:
            group_ids.setdefault(person_id, own)
    return ids, allocations, group_ids | {own: own for own in taken}


def _earliest_first(
    members: Mapping[str, Sequence[str]], pins: Mapping[str, set[int]], first_numbers: Mapping[str, int]
) -> list[str]:
    """The groups, those with pinned ids first, then by the first allocation to one of their anchors."""
    never = max(first_numbers.values(), default=0) + 1

    def key(root: str) -> tuple[bool, int, str]:
        nodes = members[root]
        return not pins[root], min((first_numbers.get(node, never) for node in nodes), default=never), min(nodes)

    return sorted(members, key=key)


def _allocated(statements: Sequence[Entry]) -> tuple[dict[str, int], dict[str, int], set[int]]:
    """Anchor -> its id; anchor -> number of the entry that first allocated an id to it; all allocated ids."""
    allocated: dict[str, int] = {}
    first_numbers: dict[str, int] = {}
    used: set[int] = set()
    for entry in statements:
        if isinstance(entry.statement, Allocation):
            used.add(entry.statement.person_id)
            for anchor in entry.statement.anchors:
                allocated[anchor] = entry.statement.person_id
                first_numbers.setdefault(anchor, entry.number)
    return allocated, first_numbers, used


def with_merged_ids(group_ids: Mapping[int, int], statements: Sequence[Entry]) -> dict[int, int]:
    """`group_ids` with merged ids that have no anchor left: they lead to the people that they were merged with.

    Statements of the owner may use any of the merged ids, and hold for the person who is left. Ids that a later split
    parted from that person are left out.
    """
    anchors: defaultdict[int, set[str]] = defaultdict(set)
    for anchor, person_id in _allocated(statements)[0].items():
        anchors[person_id].add(anchor)
    merged = dict(group_ids)
    for entry in statements:
        if not isinstance(entry.statement, Merge):
            continue
        ids = (entry.statement.into, *entry.statement.others)
        survivor = next((person_id for person_id in ids if person_id in merged), None)
        if survivor is None:
            continue
        for person_id in ids:
            splits = _splits_after(entry, statements)
            if not any(_separates(split, anchors[survivor], anchors[person_id]) for split in splits):
                merged.setdefault(person_id, merged[survivor])
    return merged


def merge_groups(
    ids: Mapping[str, int],
    members: Mapping[str, Sequence[str]],
    group_ids: Mapping[int, int],
    statements: Sequence[Entry],
) -> dict[int, int]:
    """The id of each group -> its id after the owner's merges; a later split keeps groups apart."""
    survivors = {own: own for own in ids.values()}
    roots = {own: root for root, own in ids.items()}

    def nodes_of(survivor: int) -> set[str]:
        groups = [own for own, merged in survivors.items() if merged == survivor]
        return {node for own in groups for node in members[roots[own]]}

    for entry in statements:
        if not isinstance(entry.statement, Merge):
            continue
        splits = _splits_after(entry, statements)
        into = group_ids.get(entry.statement.into)
        for other in map(group_ids.get, entry.statement.others):
            if into is None or other is None:
                continue
            survivor, merged = survivors[into], survivors[other]
            nodes, merged_nodes = nodes_of(survivor), nodes_of(merged)
            if survivor == merged or any(_separates(split, nodes, merged_nodes) for split in splits):
                continue
            survivors |= {own: survivor for own, former in survivors.items() if former == merged}
    return survivors


def _splits_after(merge: Entry, statements: Sequence[Entry]) -> list[Split]:
    return [
        entry.statement for entry in statements if isinstance(entry.statement, Split) and entry.number > merge.number
    ]


def _separates(split: Split, nodes: set[str], others: set[str]) -> bool:
    """Whether a split has nodes of the two groups on different sides."""
    out, stay = set(split.out), set(split.stay)
    return bool((nodes & out and others & stay) or (nodes & stay and others & out))


def _pins(nodes: Sequence[str]) -> set[int]:
    return {int(node.removeprefix("pin:")) for node in nodes if node.startswith("pin:")}
