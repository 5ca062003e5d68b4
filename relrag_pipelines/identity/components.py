"""Which entries are one person by what identifies for sure: an account, a phone, an address, a card, an id.

Something that two people use identifies neither: a family's phone, a number that went to somebody else, the sender of
a list. That is so where the names beside it cannot be those of one person. Then those who bear the same name beside it
are still one. A name alone holds together what bears it within one source.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from relrag_pipelines.identity.entries import Claim, NamingEntry
from relrag_pipelines.identity.journal_statements import Entry, Split
from relrag_pipelines.text.names.likeness import compatible
from relrag_pipelines.text.names.personal_name import WrittenName, parse

_MOST_SHARING = 40
"""people who share an address; one that has more is that of a list or a program, and holds nothing together"""

Labels = dict[str, object]


class Groups:
    """A union-find that refuses what must stay apart: nodes with two values of one label."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._labels: dict[str, Labels] = {}

    def add(self, node: str, labels: Labels | None = None) -> None:
        """A node by itself, where it is not there yet."""
        if node not in self._parent:
            self._parent[node] = node
            self._labels[node] = dict(labels or {})

    def __contains__(self, node: object) -> bool:
        return node in self._parent

    def root(self, node: str) -> str:
        """What stands for the group of a node."""
        while self._parent[node] != node:
            self._parent[node] = node = self._parent[self._parent[node]]
        return node

    def join(self, one: str, other: str) -> bool:
        """Joins two groups; False where a label forbids it."""
        one, other = sorted((self.root(one), self.root(other)))
        if one == other:
            return True
        mine, theirs = self._labels[one], self._labels[other]
        if any(mine[label] != theirs[label] for label in mine.keys() & theirs.keys()):
            return False
        self._parent[other] = one
        mine |= theirs
        return True

    def members(self) -> dict[str, list[str]]:
        """Root -> the nodes of its group, both in order."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for node in sorted(self._parent):
            found[self.root(node)].append(node)
        return dict(found)


def join_entries(entries: Sequence[NamingEntry], said: Iterable[Entry], keyed: Callable[[str], str]) -> Groups:
    """Groups of anchors and of entries (`entry:<position>`); `keyed` hashes a name, so that anchors reveal none."""
    sides: dict[str, Labels] = defaultdict(dict)
    for one in said:
        if isinstance(one.statement, Split):
            for side in ("out", "stay"):
                for anchor in getattr(one.statement, side):
                    sides[anchor][f"split {one.number}"] = side
    groups = Groups()
    uses: defaultdict[str, list[int]] = defaultdict(list)
    for position, entry in enumerate(entries):
        for claim in identifying(entry):
            uses[f"{claim.kind}:{claim.keyed}"].append(position)
    users = {anchor: _users([entries[position] for position in positions]) for anchor, positions in uses.items()}
    for position, entry in enumerate(entries):
        node = f"entry:{position}"
        groups.add(node)
        for anchor, labels in _anchors(entry, users, keyed):
            groups.add(anchor, labels | sides.get(anchor, {}))
            groups.join(node, anchor)
    for anchor, of_anchor in users.items():
        for names in of_anchor if len(of_anchor) <= _MOST_SHARING else ():
            pairs = sorted({f"{anchor}/{keyed(name.full)}" for name in names})
            for pair in pairs[1:]:
                groups.join(pairs[0], pair)
    return groups


def identifying(entry: NamingEntry) -> list[Claim]:
    """The claims that may identify: no names, and no addresses of offices."""
    return [claim for claim in entry.claims if claim.kind != "name" and not claim.shared]


def _users(entries: list[NamingEntry]) -> list[tuple[WrittenName, ...]]:
    """The people who use one identifier, each by the names beside it; one, or none, where it identifies."""
    named = {(names, entry.person_id) for entry in entries if (names := _telling(entry))}
    people: list[tuple[list[WrittenName], set[int]]] = []
    for names, pinned in sorted(named, key=lambda one: ([name.full for name in one[0]], one[1] or 0)):
        pin = set() if pinned is None else {pinned}
        for known, pins in people:
            if pin and pins and pin != pins:
                continue
            if pin & pins or any(_fit(a, b) for a in names for b in known):
                known.extend(names)
                pins |= pin
                break
        else:
            people.append((list(names), pin))
        if len(people) > _MOST_SHARING:
            break
    return [tuple(names) for names, _ in people]


def _telling(entry: NamingEntry) -> tuple[WrittenName, ...]:
    """The names of an entry that tell it from others; a card is somebody's whatever it says."""
    telling = tuple(name for name in entry.written_names if not (name.is_kin or name.is_organisation))
    return telling or (entry.written_names if entry.is_card else ())


def _fit(one: WrittenName, other: WrittenName) -> bool:
    if any(name.is_kin or name.is_organisation for name in (one, other)):
        return one.words == other.words
    return compatible(one, other)


def _anchors(
    entry: NamingEntry, users: dict[str, list[tuple[WrittenName, ...]]], keyed: Callable[[str], str]
) -> Iterable[tuple[str, Labels]]:
    """What an entry is held together with others by; first what is closest to it."""
    if entry.person_id is not None:
        yield f"pin:{entry.person_id}", {"pin": entry.person_id}
    if entry.is_card:
        yield f"card:{entry.entry}", {}
    own = []
    for claim in identifying(entry):
        anchor = f"{claim.kind}:{claim.keyed}"
        if len(users[anchor]) <= _MOST_SHARING:
            yield from ((f"{anchor}/{keyed(name.full)}", {}) for name in entry.written_names)
        if len(users[anchor]) <= 1:
            own.append(anchor)
    yield from ((anchor, {}) for anchor in own)
    if not own and not entry.is_card and entry.person_id is None:
        yield from ((name_anchor(entry.source, claim, keyed), {}) for claim in entry.names if parse(claim.value).words)


def possible_anchors(entry: NamingEntry, keyed: Callable[[str], str]) -> set[str]:
    """Every anchor that an entry may be held by, whoever else uses the same identifiers."""
    identifiers = {f"{claim.kind}:{claim.keyed}" for claim in identifying(entry)}
    pairs = {f"{anchor}/{keyed(name.full)}" for anchor in identifiers for name in entry.written_names}
    names = {name_anchor(entry.source, claim, keyed) for claim in entry.names if parse(claim.value).words}
    cards = {f"card:{entry.entry}"} if entry.is_card else set()
    pins = {f"pin:{entry.person_id}"} if entry.person_id is not None else set()
    return identifiers | pairs | names | cards | pins


def name_anchor(source: str, claim: Claim, keyed: Callable[[str], str]) -> str:
    """The anchor of a name that stands alone in a source."""
    return f"name:{source}:{keyed(parse(claim.value).full)}"
