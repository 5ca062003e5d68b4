"""What is stated of people, one entry of the journal a statement.

Who is who: ids that were given, merges, splits. What is known of them: facts, relationships, notes. And undoing.

An anchor names what an id was given to, and never changes: `email:<keyed>`, `phone:<keyed>`, `whatsapp:<keyed>`,
`card:<asset_id>`, `pin:<id>`, `name:<source>:<keyed>` of a name that stands alone, or `email:<keyed>/<keyed>` of an
address with a name beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

PERSON = "person"
"""the kind under which names are hashed in anchors"""
FIRST_ID = 100_000
"""the first id that is given; the smaller ones are left to those who write ids into their contacts"""


class _Tuples:
    """Lists, as the journal's JSON has them, become tuples."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))


@dataclass(frozen=True)
class Allocation(_Tuples):
    """The person of these anchors has that id from now on."""

    person_id: Annotated[int, "the id"]
    anchors: Annotated[tuple[str, ...], "what it is given to: keyed hashes of names and addresses, ids of cards"]


@dataclass(frozen=True)
class Merge(_Tuples):
    """These are one person, who keeps the first id."""

    into: Annotated[int, "the id that stays"]
    others: Annotated[tuple[int, ...], "ids that lead to it from now on"]
    names: Annotated[tuple[str, ...], "what they were called then, in the same order; empty of whom had no name"] = ()


@dataclass(frozen=True)
class Split(_Tuples):
    """Of what was one person, this is another."""

    out: Annotated[tuple[str, ...], "anchors of the other"]
    stay: Annotated[tuple[str, ...], "the anchors that the person keeps"]


@dataclass(frozen=True)
class StatedIdentifier(_Tuples):
    """A number or address that nobody named is this person's."""

    person_id: Annotated[int, "the person"]
    anchor: Annotated[str, "of the number or address: its kind and keyed hash"]
    anchors: Annotated[tuple[str, ...], "those of the person"]
    later_anchors: Annotated[tuple[str, ...], "`anchor` under pseudonym keys that came later"] = ()

    @property
    def every_anchor(self) -> tuple[str, ...]:
        """Of the number or address, under each key."""
        return (self.anchor, *self.later_anchors)


@dataclass(frozen=True)
class Undo:
    """That entry does not hold: what is stated of people, or an undo."""

    number: Annotated[int, "of the entry"]


@dataclass(frozen=True)
class StatedFact:
    """What the owner says of a person."""

    person_id: Annotated[int, "the person"]
    predicate: Annotated[str, "birthday, occupation, lives_in ..."]
    value: Annotated[str, "as said; dates in ISO 8601"]
    valid_from: Annotated[str | None, "since when it holds, ISO 8601"] = None
    valid_to: Annotated[str | None, "until when it held, ISO 8601"] = None


@dataclass(frozen=True)
class StatedRelationship:
    """What the owner says one person is to another; what it leaves open stays as it was said before."""

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
    """A note on a relationship that is there, whoever says so."""

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
        """Its number for ever."""

    @property
    def statement(self) -> Any:
        """What it says."""


@dataclass(frozen=True)
class Entry:
    """A statement with the number that it has for ever in the journal."""

    number: int
    statement: Statement


def holding(journal: Iterable[NumberedEntry]) -> list[Entry]:
    """The valid statements about people, in order: without undone ones and undos. Allocated ids stay allocated.

    Other entries of the journal are left out.
    """
    statements = (Entry(entry.number, entry.statement) for entry in journal if isinstance(entry.statement, Statement))
    entries = sorted(statements, key=lambda entry: entry.number)
    undone: set[int] = set()
    for entry in reversed(entries):
        if isinstance(entry.statement, Undo) and entry.number not in undone and entry.statement.number < entry.number:
            undone.add(entry.statement.number)
    return [entry for entry in entries if isinstance(entry.statement, Allocation) or not _is_void(entry, undone)]


def _is_void(entry: Entry, undone: set[int]) -> bool:
    return isinstance(entry.statement, Undo) or entry.number in undone


def number_statements(journal: Sequence[Entry], statements: Iterable[Statement]) -> list[Entry]:
    """The journal with further statements, which get the next numbers."""
    last = max((entry.number for entry in journal), default=0)
    return [*journal, *(Entry(number, statement) for number, statement in enumerate(statements, last + 1))]
