"""List the owner's statements about people, and withdraw them."""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines.identity.journal_statements import (
    Allocation,
    Entry,
    Merge,
    RelationshipNote,
    Split,
    StatedFact,
    StatedIdentifier,
    StatedRelationship,
    Statement,
    Undo,
    valid_entries,
)
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import DistinctPair
from relrag_pipelines.people import own_words
from relrag_pipelines.settings import Settings
from relrag_pipelines.workspace import Workspace
from relrag_query.people.indexed_person import PeopleError
from relrag_query.statements.record import FROM_NEXT_SYNC, StatementReceipt, record, writable_archive
from relrag_query.statements.suggestions import refused_pairs


def undo(number: int, *, config: Path | None = None, wait: float = 0) -> StatementReceipt:
    """Withdraws the statement about people with this number, or an earlier `undo`.

    Raises PeopleError if no statement about people has the number.
    """
    with writable_archive(config, wait) as archive:
        entries = {entry.number: entry.statement for entry in journal.entries(archive.settings.home_path)}
        statement = entries.get(number)
        if not isinstance(
            statement,
            Merge | Split | StatedIdentifier | Undo | StatedFact | StatedRelationship | RelationshipNote | DistinctPair,
        ):
            numbers = ", ".join(str(entry_number) for entry_number, _ in list_statements(archive.settings)) or "none"
            raise PeopleError(
                f"no statement about people has number {number}; numbers: {numbers}",
                code="statement_absent",
                number=str(number),
            )
        is_newer = number > archive.generation.manifest["journal"]
        at_once = isinstance(statement, DistinctPair) or (
            is_newer and not isinstance(statement, Split | StatedIdentifier)
        )
        return record(archive, (), [Undo(number)], "" if at_once else FROM_NEXT_SYNC)


def list_statements(settings: Settings) -> list[tuple[int, Statement | DistinctPair]]:
    """The valid statements about people, with their numbers and redacted texts; without allocations of ids."""
    workspace = Workspace(settings)
    entries = [
        entry for entry in valid_entries(journal.entries(workspace.home)) if not isinstance(entry.statement, Allocation)
    ]

    def clean(entry: Entry) -> Statement:
        redacted = own_words.redact_entry(entry, lambda: workspace.redactor)
        return own_words.redact_names(redacted, lambda: workspace.redactor).statement

    stated = [(entry.number, clean(entry)) for entry in entries]
    return sorted([*stated, *refused_pairs(workspace.home)], key=lambda numbered: numbered[0])
