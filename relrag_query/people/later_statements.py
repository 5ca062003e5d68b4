"""Statements that the owner made after a generation was published; readers overlay them.

A merge, a fact, a relationship and a note count at once. A split, and the undoing of what the generation knows already,
take another look at all records: they count from the next sync on.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path

from relrag_pipelines.identity.journal_statements import Entry, Merge, Split, StatedIdentifier, Undo, holding
from relrag_pipelines.journal import journal
from relrag_pipelines.people import own_words
from relrag_pipelines.settings import Settings
from relrag_pipelines.workspace import Workspace


@dataclass(frozen=True)
class LaterStatements:
    """What was said since, in order."""

    entries: tuple[Entry, ...] = ()
    survivors: dict[int, int] = field(default_factory=dict)
    """an id -> who that is since"""
    waits: bool = False
    """something was said that counts from the next sync on"""

    def survivor(self, person_id: int) -> int:
        """Who a person is now."""
        return self.survivors.get(person_id, person_id)

    def former(self, person_id: int) -> list[int]:
        """The ids of the generation that mean a person."""
        return sorted({person_id, *(old for old, now in self.survivors.items() if now == person_id)})


def read(settings: Settings, since: int) -> LaterStatements:
    """What was said behind an entry of that number. Raises JournalError where the journal cannot be read."""
    home = settings.home_path
    return _read(settings.model_dump_json(), settings.folder, home, journal.state(home), since)


@functools.lru_cache(4)
def _read(dumped: str, folder: Path, home: Path, state: object, since: int) -> LaterStatements:
    # the folder, by which paths are resolved, is no part of what is dumped
    workspace = Workspace(Settings.model_validate_json(dumped).model_copy(update={"folder": folder}))
    every = [entry for entry in journal.entries(home) if entry.statement is not None]
    since_then = [entry for entry in every if entry.number > since]
    said = [entry for entry in holding(every) if entry.number > since]
    if workspace.settings.pii_redaction_enabled:
        said = [own_words.redact_entry(entry, lambda: workspace.redactor) for entry in said]
    merged: dict[int, int] = {}
    for entry in said:
        if isinstance(entry.statement, Merge):
            into = merged.get(entry.statement.into, entry.statement.into)
            for other in (merged.get(one, one) for one in entry.statement.others):
                merged = {old: into if now == other else now for old, now in merged.items()}
                if other != into:
                    merged[other] = into
    later = {entry.number for entry in since_then}
    waits = any(
        isinstance(entry.statement, Split | StatedIdentifier)
        or (isinstance(entry.statement, Undo) and entry.statement.number not in later)
        for entry in since_then
    )
    return LaterStatements(tuple(said), merged, waits)
