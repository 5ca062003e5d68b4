"""Groups entries into people by certain identifiers: an account, a phone, an address, a card, an id.

An identifier that two people use identifies neither: a family's phone, a number with a new owner, the sender of a
list. It has several users if the names next to it cannot be those of one person; entries with the same name next to it
are still joined. A name alone joins the entries of one source.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from relrag_pipelines.identity.entries import Claim, NamingEntry
from relrag_pipelines.identity.journal_statements import Entry, Split
from relrag_pipelines.text.names.likeness import compatible
from relrag_pipelines.text.names.personal_name import WrittenName, parse

_MAX_USERS = 40
"""people who share an address; one with more users belongs to a list or a program, and joins nothing"""

Labels = dict[str, object]


class Groups:
    """A union-find that refuses to join nodes with different values of one label."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._labels: dict[str, Labels] = {}

    def add(self, node: str, labels: Labels | None = None) -> None:
        """Adds a node as a group of its own, unless it exists."""
        if node not in self._parent:
            self._parent[node] = node
            self._labels[node] = dict(labels or {})

    def __contains__(self, node: object) -> bool:
        return node in self._parent

    def root(self, node: str) -> str:
        """The node that represents the group of a node."""
        while self._parent[node] != node:
            self._parent[node] = node = self._parent[self._parent[node]]
        return node

    def join(self, node: str, other: str) -> bool:
        """Joins the groups of two nodes; False if a label forbids it."""
        root, joined = sorted((self.root(node), self.root(other)))
        if root == joined:
            return True
        labels, joined_labels = self._labels[root], self._labels[joined]
        if any(labels[label] != joined_labels[label] for label in labels.keys() & joined_labels.keys()):
            return False
        self._parent[joined] = root
        labels |= joined_labels
        return True

    def members(self) -> dict[str, list[str]]:
        """Root -> the nodes of its group, both in order."""
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for node in sorted(self._parent):
            groups[self.root(node)].append(node)
        return dict(groups)


def _entries_by_anchor(entries: Iterable[NamingEntry]) -> dict[str, list[NamingEntry]]:
    """Number or address -> the entries that have it."""
    entries_by_anchor: defaultdict[str, list[NamingEntry]] = defaultdict(list)
    for entry in entries:
        for claim in identifying(entry):
            entries_by_anchor[f"{claim.kind}:{claim.keyed}"].append(entry)
    return entries_by_anchor


def join_entries(entries: Sequence[NamingEntry], statements: Iterable[Entry], keyed: Callable[[str], str]) -> Groups:
    """Groups of anchors and of entries (`entry:<position>`); `keyed` hashes a name, so that anchors reveal none."""
    sides = _split_sides(statements)
    groups = Groups()
    users = {anchor: _users(anchor_entries) for anchor, anchor_entries in _entries_by_anchor(entries).items()}
    for position, entry in enumerate(entries):
        node = f"entry:{position}"
        groups.add(node)
        for anchor, labels in _anchors(entry, users, keyed):
            groups.add(anchor, labels | sides.get(anchor, {}))
            groups.join(node, anchor)
    for anchor, anchor_users in users.items():
        for names in anchor_users if len(anchor_users) <= _MAX_USERS else ():
            pairs = sorted({f"{anchor}/{keyed(name.full)}" for name in names})
            for pair in pairs[1:]:
                groups.join(pairs[0], pair)
    return groups


def _split_sides(statements: Iterable[Entry]) -> dict[str, Labels]:
    """Anchor -> the side of each split that it is on."""
    sides: dict[str, Labels] = defaultdict(dict)
    for entry in statements:
        if isinstance(entry.statement, Split):
            for side in ("out", "stay"):
                for anchor in getattr(entry.statement, side):
                    sides[anchor][f"split {entry.number}"] = side
    return sides


def identifying(entry: NamingEntry) -> list[Claim]:
    """The claims that may identify: no names, and no addresses of offices."""
    return [claim for claim in entry.claims if claim.kind != "name" and not claim.shared]


def _users(entries: list[NamingEntry]) -> list[tuple[WrittenName, ...]]:
    """The people who use one identifier, each by the names next to it; at most one if it identifies a person."""
    named = {(names, entry.person_id) for entry in entries if (names := _distinctive_names(entry))}
    users: list[_User] = []
    for names, pinned in sorted(named, key=lambda pair: ([name.full for name in pair[0]], pair[1] or 0)):
        pins = set() if pinned is None else {pinned}
        user = next((user for user in users if _may_be(user, names, pins)), None)
        if user is None:
            users.append(_User(list(names), pins))
        else:
            user.names.extend(names)
            user.pins.update(pins)
        if len(users) > _MAX_USERS:
            break
    return [tuple(user.names) for user in users]


class _User(NamedTuple):
    """A user of an identifier."""

    names: list[WrittenName]
    pins: set[int]
    """ids that sources pin"""


def _may_be(user: _User, names: Iterable[WrittenName], pins: set[int]) -> bool:
    """Whether names with these pinned ids may be of a user: pinned ids decide, else the names."""
    if pins and user.pins and pins != user.pins:
        return False
    return bool(pins & user.pins) or any(_fit(name, user_name) for name in names for user_name in user.names)


def _distinctive_names(entry: NamingEntry) -> tuple[WrittenName, ...]:
    """The names of an entry without kin terms and organisations; of a card that has no others, all."""
    distinctive = tuple(name for name in entry.written_names if not (name.is_kin or name.is_organisation))
    return distinctive or (entry.written_names if entry.is_card else ())


def _fit(name: WrittenName, other: WrittenName) -> bool:
    if any(side.is_kin or side.is_organisation for side in (name, other)):
        return name.words == other.words
    return compatible(name, other)


def _anchors(
    entry: NamingEntry, users: dict[str, list[tuple[WrittenName, ...]]], keyed: Callable[[str], str]
) -> Iterable[tuple[str, Labels]]:
    """The anchors that join an entry with others, the most specific first."""
    if entry.person_id is not None:
        yield f"pin:{entry.person_id}", {"pin": entry.person_id}
    if entry.is_card:
        yield f"card:{entry.entry}", {}
    own = []
    for claim in identifying(entry):
        anchor = f"{claim.kind}:{claim.keyed}"
        if len(users[anchor]) <= _MAX_USERS:
            yield from ((f"{anchor}/{keyed(name.full)}", {}) for name in entry.written_names)
        if len(users[anchor]) <= 1:
            own.append(anchor)
    yield from ((anchor, {}) for anchor in own)
    if not own and not entry.is_card and entry.person_id is None:
        yield from ((name_anchor(entry.source, claim, keyed), {}) for claim in entry.names if parse(claim.value).words)


def possible_anchors(entry: NamingEntry, keyed: Callable[[str], str]) -> set[str]:
    """Every anchor that an entry may have, whoever else uses the same identifiers."""
    identifiers = {f"{claim.kind}:{claim.keyed}" for claim in identifying(entry)}
    pairs = {f"{anchor}/{keyed(name.full)}" for anchor in identifiers for name in entry.written_names}
    names = {name_anchor(entry.source, claim, keyed) for claim in entry.names if parse(claim.value).words}
    cards = {f"card:{entry.entry}"} if entry.is_card else set()
    pins = {f"pin:{entry.person_id}"} if entry.person_id is not None else set()
    return identifiers | pairs | names | cards | pins


def name_anchor(source: str, claim: Claim, keyed: Callable[[str], str]) -> str:
    """The anchor of a name without identifiers in a source."""
    return f"name:{source}:{keyed(parse(claim.value).full)}"
