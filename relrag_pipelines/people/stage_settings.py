"""What the owner stated of people, as the stage that makes them depends on it."""

from __future__ import annotations

from relrag_pipelines.identity.journal_statements import Allocation, holding
from relrag_pipelines.journal import journal
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.workspace import Workspace


def settings(workspace: Workspace) -> dict[str, object]:
    """What changes people beside records: what the owner stated, and settings. Ids that were given change nobody."""
    said = [entry for entry in holding(journal.entries(workspace.home)) if not isinstance(entry.statement, Allocation)]
    return {
        "owner": workspace.settings.owner,
        "person_unnamed_after": workspace.settings.person_unnamed_after,
        "journal": fingerprint([[entry.number, repr(entry.statement)] for entry in said]),
    }
