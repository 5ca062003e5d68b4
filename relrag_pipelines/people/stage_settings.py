"""The settings and statements of the owner that the stage of people depends on."""

from __future__ import annotations

from relrag_pipelines.identity.journal_statements import Allocation, valid_entries
from relrag_pipelines.journal import journal
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.workspace import Workspace


def settings(workspace: Workspace) -> dict[str, object]:
    """All that changes people, apart from records: statements and settings. Allocated ids change nobody."""
    statements = [
        entry for entry in valid_entries(journal.entries(workspace.home)) if not isinstance(entry.statement, Allocation)
    ]
    return {
        "owner": workspace.settings.owner,
        "person_unnamed_after": workspace.settings.person_unnamed_after,
        "journal": fingerprint([[entry.number, repr(entry.statement)] for entry in statements]),
    }
