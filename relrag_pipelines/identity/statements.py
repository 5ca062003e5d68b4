"""What is stated of people, one entry of the journal a statement: ids that were given, merges, splits, undoing.

An anchor names what an id was given to, and never changes: `email:<keyed>`, `phone:<keyed>`, `whatsapp:<keyed>`,
`card:<asset_id>`, `pin:<id>`, `name:<source>:<keyed>` of a name that stands alone, or `email:<keyed>/<keyed>` of an
address with a name beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

FIRST_ID = 100_000
"""the first id that is given; the smaller ones are left to those who write ids into their contacts"""


@dataclass(frozen=True)
class Allocation:
    """The person of these anchors has that id from now on."""

    person_id: int
    anchors: tuple[str, ...]


@dataclass(frozen=True)
class Merge:
    """These are one person, who keeps the first id."""

    into: int
    others: tuple[int, ...]


@dataclass(frozen=True)
class Split:
    """Of what was one person, this is another."""

    out: tuple[str, ...]
    """anchors of the other"""
    stay: tuple[str, ...]
    """the anchors that the person keeps"""


@dataclass(frozen=True)
class Undo:
    """That statement does not hold: of a merge, of a split, or of an undo."""

    number: int


Statement = Allocation | Merge | Split | Undo
_WORDS: dict[str, type[Any]] = {"id": Allocation, "merge": Merge, "split": Split, "undo": Undo}


@dataclass(frozen=True)
class Entry:
    """A statement with the number that it has for ever in the journal."""

    number: int
    said: Statement


def to_line(said: Statement) -> dict[str, Any]:
    """The statement as a line of the journal, whose `word` says what it is."""
    (word,) = (word for word, kind in _WORDS.items() if isinstance(said, kind))
    return {"word": word, **asdict(said)}


def from_line(line: dict[str, Any]) -> Statement:
    """The statement of a line. Raises ValueError for a word that is none of people's."""
    if line.get("word") not in _WORDS:
        raise ValueError(f"word is {line.get('word')!r}; known: {', '.join(_WORDS)}")
    kind = _WORDS[line["word"]]
    fields = {name: line[name] for name in kind.__dataclass_fields__}
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})  # type: ignore[no-any-return]


def holding(journal: Iterable[Entry]) -> list[Entry]:
    """What holds, in order: all but what was undone, and not the undoing. An id that was given stays given."""
    entries = sorted(journal, key=lambda entry: entry.number)
    undone: set[int] = set()
    for entry in reversed(entries):
        if isinstance(entry.said, Undo) and entry.number not in undone and entry.said.number < entry.number:
            undone.add(entry.said.number)
    return [
        entry
        for entry in entries
        if isinstance(entry.said, Allocation) or not (isinstance(entry.said, Undo) or entry.number in undone)
    ]


def numbered(journal: Sequence[Entry], said: Iterable[Statement]) -> list[Entry]:
    """The journal with further statements, numbered on."""
    last = max((entry.number for entry in journal), default=0)
    return [*journal, *(Entry(number, one) for number, one in enumerate(said, last + 1))]
