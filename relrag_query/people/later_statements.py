"""Statements that the owner made after a generation was published; readers overlay them.

A merge, a fact, a relationship and a note take effect at once. A split, and the undoing of a statement that the
generation contains, need all records: they take effect with the next sync.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from relrag_pipelines.identity.journal_statements import Entry


@dataclass(frozen=True)
class LaterStatements:
    """The statements after a generation, in order."""

    entries: tuple[Entry, ...] = ()
    survivors: dict[int, int] = field(default_factory=dict)
    """id of a merged person -> id of the person that it was merged into"""
    waits: bool = False
    """a statement takes effect with the next sync"""

    def survivor(self, person_id: int) -> int:
        """The id of a person after the merges."""
        return self.survivors.get(person_id, person_id)

    def former(self, person_id: int) -> list[int]:
        """The ids by which the generation knows a person."""
        return sorted({person_id, *(old for old, new in self.survivors.items() if new == person_id)})
