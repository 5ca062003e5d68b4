"""From entries and the journal to people: pure, and the same people whenever the same is given.

What identifies for sure joins (`components`). A name that a card states, and that nobody else bears, resolves to whom
the card is of; any other name alone is somebody of its own, for whom `suggest` finds candidates. Then the owner's
merges.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from relrag_pipelines.identity.components import Groups, identifying, join_entries
from relrag_pipelines.identity.entries import NamingEntry
from relrag_pipelines.identity.journal_statements import Allocation, Entry, NumberedEntry, StatedIdentifier, holding
from relrag_pipelines.identity.person_ids import allocate, merge_groups, with_merged_ids
from relrag_pipelines.text.names.personal_name import WrittenName, parse

UNNAMED_AFTER = 10
"""records after which the sender counts as a person although nobody named him"""


@dataclass
class ResolvedPerson:
    """Somebody, with all that names him."""

    person_id: int
    name: str
    """the fullest of the names, those of cards first; of people whom the owner merged the one that the survivor had.
    Empty where there is none"""
    entries: list[NamingEntry]
    anchors: list[str]
    """what his id was given to; a split names some of them"""
    names: list[WrittenName] = field(default_factory=list)


@dataclass
class Resolution:
    """Who is who."""

    people: dict[int, ResolvedPerson]
    person_of: dict[tuple[str, str, int | None], int]
    """source, entry and pinned id -> the person; an entry that is nobody's is missing"""
    redirects: dict[int, int]
    """an id that was somebody's -> who that is now"""
    allocations: list[Allocation]
    """what the journal does not hold yet; resolving again with them gives the same ids"""


def resolve(
    entries: Sequence[NamingEntry],
    journal: Iterable[NumberedEntry],
    keyed: Callable[[str], str],
    unnamed_after: int = UNNAMED_AFTER,
    owner: str = "",
) -> Resolution:
    """The people of all entries. `keyed` hashes a name for the journal, which holds no name.

    Whoever bears the whole name of the archive's `owner` is the owner: he says so himself.
    """
    said = holding(journal)
    groups = join_entries(entries, said, keyed)
    _join_owner(entries, groups, parse(owner))  # his two addresses are not two who bear his given name
    _resolve_names(entries, groups)
    _join_stated(groups, said)
    members = {
        root: nodes for root, nodes in groups.members().items() if _is_somebody(_entries(nodes, entries), unnamed_after)
    }
    ids, allocations, known = allocate(members, said)
    known = with_merged_ids(known, said)
    survivors = merge_groups(ids, members, known, said)
    gathered: defaultdict[int, list[str]] = defaultdict(list)
    for root in members:
        gathered[survivors[ids[root]]] += members[root]
    own = {ids[root]: nodes for root, nodes in members.items()}
    people = {
        person_id: _person(person_id, nodes, own.get(person_id, ()), entries)
        for person_id, nodes in sorted(gathered.items())
    }
    person_of = {
        (entry.source, entry.entry, entry.person_id): person_id
        for person_id, person in people.items()
        for entry in person.entries
    }
    redirects = {
        old: survivors[now] for old, now in sorted(known.items()) if survivors[now] != old and old not in people
    }
    return Resolution(people, person_of, redirects, allocations)


def _entries(nodes: Iterable[str], entries: Sequence[NamingEntry]) -> list[NamingEntry]:
    places = sorted(int(node.removeprefix("entry:")) for node in nodes if node.startswith("entry:"))
    return [entries[place] for place in places]


def _is_somebody(entries: Sequence[NamingEntry], unnamed_after: int) -> bool:
    """Somebody has a card, an id or a name that is no company's, or writes often from an address of his own."""
    if any(
        entry.is_card or entry.person_id is not None or not all(name.is_organisation for name in entry.written_names)
        for entry in entries
    ):
        return True
    own = [entry for entry in entries if identifying(entry)]
    return bool(own) and sum(entry.sent for entry in own) >= unnamed_after


def _resolve_names(entries: Sequence[NamingEntry], groups: Groups) -> None:
    """Joins who is known by a name alone to the one person who bears it, if a card or the same source says so.

    A name of one word has to stand on the card, and nobody else may have it as given name.
    """
    stated: defaultdict[str, set[str]] = defaultdict(set)
    borne: defaultdict[str, set[str]] = defaultdict(set)
    beside: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    alone: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for position, entry in enumerate(entries):
        root = groups.root(f"entry:{position}")
        named_alone = not (identifying(entry) or entry.is_card or entry.person_id is not None)
        for name in entry.written_names:
            if named_alone:
                alone[root].add((entry.source, name.full))
                continue
            borne[name.full].add(root)
            borne[name.words[0]].add(root)
            beside[entry.source, name.full].add(root)
            if entry.is_card or entry.person_id is not None:
                stated[name.full].add(root)
    identified = {root for roots in borne.values() for root in roots}
    for root, names in sorted(alone.items()):
        if root in identified or len(names) != 1:
            continue
        ((source, full),) = names
        saying = stated[full] | (beside[source, full] if " " in full else set())
        if len(saying) == 1 and borne[full] == saying:
            groups.join(root, next(iter(saying)))


def _join_stated(groups: Groups, said: Iterable[Entry]) -> None:
    """Joins numbers and addresses to whom the owner says they are of."""
    for entry in said:
        if not isinstance(entry.statement, StatedIdentifier):
            continue
        for identifier in (one for one in entry.statement.every_anchor if one in groups):
            for anchor in entry.statement.anchors:
                if anchor in groups and groups.join(identifier, anchor):
                    break


def _join_owner(entries: Sequence[NamingEntry], groups: Groups, name: WrittenName) -> None:
    """A given name alone may be somebody else's, and is left to `lookup.owner`."""
    if len(name.words) > 1:
        nodes = [
            f"entry:{place}"
            for place, entry in enumerate(entries)
            if name.full in {one.full for one in entry.written_names}
        ]
        for node in nodes[1:]:
            groups.join(nodes[0], node)


def _person(person_id: int, nodes: Iterable[str], own: Iterable[str], entries: Sequence[NamingEntry]) -> ResolvedPerson:
    """The person of these nodes, of which `own` were the survivor's before any merge by the owner."""
    nodes = sorted(nodes)
    of_person = _entries(nodes, entries)
    best = _best_name(_entries(own, entries)) or _best_name(of_person)
    names = sorted({name for entry in of_person for name in entry.written_names})
    anchors = [node for node in nodes if not node.startswith("entry:")]
    return ResolvedPerson(person_id, best, of_person, anchors, names)


def _best_name(entries: Iterable[NamingEntry]) -> str:
    """The fullest name, those of cards first; empty where there is none."""
    said: dict[str, tuple[bool, bool, bool, int]] = {}
    for entry in entries:
        is_stated = entry.is_card or entry.person_id is not None
        for claim in entry.names:
            name = parse(claim.value)
            rank = (not name.is_kin, is_stated, len(name.words) > 1, entry.sent)
            said[claim.value] = max(rank, said.get(claim.value, rank))
    return max(sorted(said), key=lambda value: said[value], default="")
