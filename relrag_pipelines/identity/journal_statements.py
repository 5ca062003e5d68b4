"""The statements about people, each an entry of the journal.

Identity: allocated ids, merges, splits. Knowledge: facts, relationships, notes. And undos.

An anchor names what an id was given to, and never changes: `email:<keyed>`, `phone:<keyed>`, `whatsapp:<keyed>`,
`card:<asset_id>`, `pin:<id>`, `name:<source>:<keyed>` of a name that stands alone, or `email:<keyed>/<keyed>` of an
address with a name beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

PERSON = "person"
"""kind of the keyed hashes of names in anchors"""
FIRST_ID = 100_000
"""the first allocated id; smaller ids are for users who write ids into their contacts"""


class _Tuples:
    """Converts the lists of the journal's JSON to tuples."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))


@dataclass(frozen=True)
class Allocation(_Tuples):
    """Allocates an id to the person of these anchors."""

    person_id: Annotated[int, "the id"]
    anchors: Annotated[tuple[str, ...], "what it is given to: keyed hashes of names and addresses, ids of cards"]


@dataclass(frozen=True)
class Merge(_Tuples):
    """States that these ids are one person, who keeps the first."""

    into: Annotated[int, "the id that stays"]
    others: Annotated[tuple[int, ...], "ids that lead to it from now on"]
    names: Annotated[tuple[str, ...], "what they were called then, in the same order; empty of whom had no name"] = ()


@dataclass(frozen=True)
class Split(_Tuples):
    """States that some anchors of a person are another person's."""

    out: Annotated[tuple[str, ...], "anchors of the other"]
    stay: Annotated[tuple[str, ...], "the anchors that the person keeps"]


@dataclass(frozen=True)
class StatedIdentifier(_Tuples):
    """States that an unnamed number or address is this person's."""

    person_id: Annotated[int, "the person"]
    anchor: Annotated[str, "of the number or address: its kind and keyed hash"]
    anchors: Annotated[tuple[str, ...], "those of the person"]
    later_anchors: Annotated[tuple[str, ...], "`anchor` under pseudonym keys that came later"] = ()

    @property
    def every_anchor(self) -> tuple[str, ...]:
        """The anchors of the number or address, one for each key."""
        return (self.anchor, *self.later_anchors)


@dataclass(frozen=True)
class Undo:
    """Withdraws an entry: a statement about people, or an undo."""

    number: Annotated[int, "of the entry"]


@dataclass(frozen=True)
class StatedFact:
    """A fact about a person that the owner states."""

    person_id: Annotated[int, "the person"]
    predicate: Annotated[str, "birthday, occupation, lives_in ..."]
    value: Annotated[str, "as said; dates in ISO 8601"]
    valid_from: Annotated[str | None, "since when it holds, ISO 8601"] = None
    valid_to: Annotated[str | None, "until when it held, ISO 8601"] = None


@dataclass(frozen=True)
class StatedRelationship:
    """A relationship that the owner states; empty fields leave earlier values unchanged."""

    from_person_id: Annotated[int, "whose mentor, child, spouse it is"]
    to_person_id: Annotated[int, "the mentor, child, spouse"]
    relationship_type: Annotated[str, "mentor, child, spouse, friend ..."]
    description: Annotated[str | None, "in the owner's words"] = None
    attitude: Annotated[int | None, "1 (very negative) to 5 (very positive)"] = None
    proximity: Annotated[int | None, "1 (distant) to 5 (very close)"] = None
    valid_from: Annotated[str | None, "since when it holds, ISO 8601"] = None
    valid_to: Annotated[str | None, "until when it held, ISO 8601"] = None
    deleted: Annotated[bool, "there is no such relationship, whatever else says so"] = False


@dataclass(frozen=True)
class RelationshipNote:
    """A note on an existing relationship."""

    from_person_id: Annotated[int, "as of the relationship"]
    to_person_id: Annotated[int, "as of the relationship"]
    relationship_type: Annotated[str, "as of the relationship"]
    note: Annotated[str, "in the owner's words"]


Statement = Allocation | Merge | Split | StatedIdentifier | Undo | StatedFact | StatedRelationship | RelationshipNote
KINDS: dict[str, type] = {
    "person_id": Allocation,
    "merge": Merge,
    "split": Split,
    "identifier": StatedIdentifier,
    "undo": Undo,
    "fact": StatedFact,
    "relationship": StatedRelationship,
    "relationship_note": RelationshipNote,
}
"""name in the journal -> type"""


class NumberedEntry(Protocol):
    """An entry of the journal."""

    @property
    def number(self) -> int:
        """The number of the entry, which never changes."""

    @property
    def statement(self) -> Any:
        """The statement of the entry."""


@dataclass(frozen=True)
class Entry:
    """A statement with its number in the journal, which never changes."""

    number: int
    statement: Statement


def valid_entries(journal: Iterable[NumberedEntry]) -> list[Entry]:
    """The valid statements about people, in order: without undone ones and undos. Allocated ids stay allocated.

    Other entries of the journal are left out.
    """
    statements = (Entry(entry.number, entry.statement) for entry in journal if isinstance(entry.statement, Statement))
    entries = sorted(statements, key=lambda entry: entry.number)
    undone = undone_numbers(entries)
    return [entry for entry in entries if isinstance(entry.statement, Allocation) or not _is_void(entry, undone)]


def undone_numbers(journal: Iterable[NumberedEntry]) -> set[int]:
    """Numbers of the entries that an undo withdraws which is not withdrawn itself."""
    undone: set[int] = set()
    for entry in sorted(journal, key=lambda entry: entry.number, reverse=True):
        if isinstance(entry.statement, Undo) and entry.number not in undone and entry.statement.number < entry.number:
            undone.add(entry.statement.number)
    return undone


def _is_void(entry: Entry, undone: set[int]) -> bool:
    return isinstance(entry.statement, Undo) or entry.number in undone


def number_statements(journal: Sequence[Entry], statements: Iterable[Statement]) -> list[Entry]:
    """The journal with further statements, which get the next numbers."""
    last = max((entry.number for entry in journal), default=0)
    return [*journal, *(Entry(number, statement) for number, statement in enumerate(statements, last + 1))]
