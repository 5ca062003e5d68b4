"""Builds people from entries and the journal: a pure function, the same people for the same input.

Certain identifiers join entries (`components`). A name on a card that nobody else bears resolves to the card's person;
any other name alone is a person of its own, for whom `suggest` finds candidates. Then the owner's merges apply.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from relrag_pipelines.identity.components import Groups, identifying, join_entries
from relrag_pipelines.identity.entries import NamingEntry
from relrag_pipelines.identity.journal_statements import (
    Allocation,
    Entry,
    NumberedEntry,
    StatedIdentifier,
    valid_entries,
)
from relrag_pipelines.identity.person_ids import allocate, merge_groups, with_merged_ids
from relrag_pipelines.text.names.personal_name import WrittenName, parse

UNNAMED_AFTER = 10
"""records after which a sender without a name counts as a person"""


@dataclass
class ResolvedPerson:
    """A person with all entries."""

    person_id: int
    name: str
    """the fullest of the names, those of cards first; of people whom the owner merged the one that the survivor had.
    Empty if there is none"""
    entries: list[NamingEntry]
    anchors: list[str]
    """the anchors of the id; a split names some of them"""
    names: list[WrittenName] = field(default_factory=list)


@dataclass
class Resolution:
    """The resolved people."""

    people: dict[int, ResolvedPerson]
    person_of: dict[tuple[str, str, int | None], int]
    """source, entry and pinned id -> the person; entries without a person are missing"""
    redirects: dict[int, int]
    """former id -> present id"""
    allocations: list[Allocation]
    """allocations that are new to the journal; resolving with them gives the same ids"""


def resolve(
    entries: Sequence[NamingEntry],
    journal: Iterable[NumberedEntry],
    keyed: Callable[[str], str],
    unnamed_after: int = UNNAMED_AFTER,
    owner: str = "",
) -> Resolution:
    """The people of all entries. `keyed` hashes a name for the journal, which contains no names.

    Every bearer of the whole name of the archive's `owner` is the owner.
    """
    statements = valid_entries(journal)
    groups = join_entries(entries, statements, keyed)
    _join_owner(entries, groups, parse(owner))  # else two addresses of the owner count as two bearers of the given name
    _resolve_names(entries, groups)
    _join_stated(groups, statements)
    members = {
        root: nodes for root, nodes in groups.members().items() if _is_person(_entries(nodes, entries), unnamed_after)
    }
    ids, allocations, group_ids = allocate(members, statements)
    group_ids = with_merged_ids(group_ids, statements)
    survivors = merge_groups(ids, members, group_ids, statements)
    merged_nodes: defaultdict[int, list[str]] = defaultdict(list)
    for root in members:
        merged_nodes[survivors[ids[root]]] += members[root]
    own = {ids[root]: nodes for root, nodes in members.items()}
    people = {
        person_id: _person(person_id, nodes, own.get(person_id, ()), entries)
        for person_id, nodes in sorted(merged_nodes.items())
    }
    person_of = {
        (entry.source, entry.entry, entry.person_id): person_id
        for person_id, person in people.items()
        for entry in person.entries
    }
    return Resolution(people, person_of, _redirects(group_ids, survivors, people), allocations)


def _redirects(group_ids: Mapping[int, int], survivors: Mapping[int, int], people: Collection[int]) -> dict[int, int]:
    """Id of a merged person -> id of the person that it was merged into."""
    leads_to = {old: survivors[group_id] for old, group_id in sorted(group_ids.items())}
    return {old: survivor for old, survivor in leads_to.items() if survivor != old and old not in people}


def _entries(nodes: Iterable[str], entries: Sequence[NamingEntry]) -> list[NamingEntry]:
    positions = sorted(int(node.removeprefix("entry:")) for node in nodes if node.startswith("entry:"))
    return [entries[position] for position in positions]


def _is_stated(entry: NamingEntry) -> bool:
    """Whether an entry is a card, or a source pins its person."""
    return entry.is_card or entry.person_id is not None


def _is_person(entries: Sequence[NamingEntry], unnamed_after: int) -> bool:
    """Whether there is a card, an id, a name that is no company's, or an address that many records are sent from."""
    for entry in entries:
        if _is_stated(entry) or not all(name.is_organisation for name in entry.written_names):
            return True
    own = [entry for entry in entries if identifying(entry)]
    return bool(own) and sum(entry.sent for entry in own) >= unnamed_after


def _resolve_names(entries: Sequence[NamingEntry], groups: Groups) -> None:
    """Joins people who have only a name to its only bearer, if a card or the same source has that name.

    A name of one word must be on the card, and nobody else may have it as given name.
    """
    stated: defaultdict[str, set[str]] = defaultdict(set)
    bearers: defaultdict[str, set[str]] = defaultdict(set)
    source_bearers: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    names_alone: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for position, entry in enumerate(entries):
        root = groups.root(f"entry:{position}")
        if not identifying(entry) and not _is_stated(entry):
            names_alone[root] |= {(entry.source, name.full) for name in entry.written_names}
            continue
        for name in entry.written_names:
            bearers[name.full].add(root)
            bearers[name.words[0]].add(root)
            source_bearers[entry.source, name.full].add(root)
            if _is_stated(entry):
                stated[name.full].add(root)
    identified = set[str]().union(*bearers.values())
    for root, names in sorted(names_alone.items()):
        if root in identified or len(names) != 1:
            continue
        ((source, full),) = names
        candidates = stated[full] | (source_bearers[source, full] if " " in full else set())
        if len(candidates) == 1 and bearers[full] == candidates:
            groups.join(root, next(iter(candidates)))


def _join_stated(groups: Groups, statements: Iterable[Entry]) -> None:
    """Joins numbers and addresses to the people whom the owner states they belong to."""
    for entry in statements:
        if not isinstance(entry.statement, StatedIdentifier):
            continue
        anchors = [anchor for anchor in entry.statement.anchors if anchor in groups]
        for identifier in entry.statement.every_anchor:
            if identifier in groups:
                _join_first(groups, identifier, anchors)


def _join_first(groups: Groups, identifier: str, anchors: Iterable[str]) -> None:
    """Joins an identifier to the first of the anchors whose labels allow it."""
    for anchor in anchors:
        if groups.join(identifier, anchor):
            return


def _join_owner(entries: Sequence[NamingEntry], groups: Groups, name: WrittenName) -> None:
    """Joins entries with the owner's whole name; a given name alone is left to `lookup.owner`."""
    if len(name.words) < 2:
        return
    nodes = [
        f"entry:{position}"
        for position, entry in enumerate(entries)
        if name.full in {written.full for written in entry.written_names}
    ]
    for node in nodes[1:]:
        groups.join(nodes[0], node)


def _person(person_id: int, nodes: Iterable[str], own: Iterable[str], entries: Sequence[NamingEntry]) -> ResolvedPerson:
    """The person of these nodes, of which `own` were the survivor's before any merge by the owner."""
    nodes = sorted(nodes)
    person_entries = _entries(nodes, entries)
    best = _best_name(_entries(own, entries)) or _best_name(person_entries)
    names = sorted({name for entry in person_entries for name in entry.written_names})
    anchors = [node for node in nodes if not node.startswith("entry:")]
    return ResolvedPerson(person_id, best, person_entries, anchors, names)


def _best_name(entries: Iterable[NamingEntry]) -> str:
    """The fullest name, those of cards first; empty if there is none."""
    ranks: dict[str, tuple[bool, bool, bool, int]] = {}
    for entry in entries:
        for claim in entry.names:
            name = parse(claim.value)
            rank = (not name.is_kin, _is_stated(entry), len(name.words) > 1, entry.sent)
            ranks[claim.value] = max(rank, ranks.get(claim.value, rank))
    return max(sorted(ranks), key=lambda value: ranks[value], default="")
