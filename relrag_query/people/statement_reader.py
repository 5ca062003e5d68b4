"""Reads the owner's statements that are later than a generation from the journal."""

from __future__ import annotations

import functools
from pathlib import Path

from relrag_pipelines.identity.journal_statements import (
    Entry,
    Merge,
    NumberedEntry,
    Split,
    StatedIdentifier,
    Undo,
    valid_entries,
)
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import DistinctPair
from relrag_pipelines.people import own_words
from relrag_pipelines.settings import Settings
from relrag_pipelines.workspace import Workspace
from relrag_query.people.later_statements import LaterStatements


def read(settings: Settings, since: int) -> LaterStatements:
    """The statements after the entry with the number `since`. Raises JournalError if the journal cannot be read."""
    home = settings.home_path
    return _read(settings.model_dump_json(), settings.folder, home, journal.state(home), since)


@functools.lru_cache(4)
def _read(dumped: str, folder: Path, home: Path, state: object, since: int) -> LaterStatements:
    # the dump lacks the folder that relative paths are resolved against
    workspace = Workspace(Settings.model_validate_json(dumped).model_copy(update={"folder": folder}))
    every = [entry for entry in journal.entries(home) if entry.statement is not None]
    later = [entry for entry in every if entry.number > since]
    valid = [entry for entry in valid_entries(every) if entry.number > since]
    if workspace.settings.pii_redaction_enabled:
        valid = [own_words.redact_entry(entry, lambda: workspace.redactor) for entry in valid]
    at_once = {entry.number for entry in every if isinstance(entry.statement, DistinctPair)}
    numbers = {entry.number for entry in later} | at_once
    waits = any(_needs_sync(entry, numbers) for entry in later)
    return LaterStatements(tuple(valid), _merged_into(valid), waits)


def _merged_into(entries: list[Entry]) -> dict[int, int]:
    """id of a merged person -> id of the person that is left."""
    survivors: dict[int, int] = {}
    for entry in entries:
        if isinstance(entry.statement, Merge):
            into = survivors.get(entry.statement.into, entry.statement.into)
            for person_id in entry.statement.others:
                survivors = _with_merge(survivors, survivors.get(person_id, person_id), into)
    return survivors


def _with_merge(survivors: dict[int, int], other: int, into: int) -> dict[int, int]:
    moved = {old: into if survivor == other else survivor for old, survivor in survivors.items()}
    return moved if other == into else moved | {other: into}


def _needs_sync(entry: NumberedEntry, later: set[int]) -> bool:
    """Whether a statement takes effect with the next sync; an undo of one in `later` does not."""
    if isinstance(entry.statement, Undo):
        return entry.statement.number not in later
    return isinstance(entry.statement, Split | StatedIdentifier)
