"""GraphRAG indexes stored elsewhere that have a name here, and the vectors of their entities."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import GraphRAGIndex
from relrag_pipelines.journal.journal import JournalError
from relrag_pipelines.stores import vector_cache


def load(home: Path) -> dict[str, str]:
    """The folders of registered indexes, by name. Raises JournalError where the journal is damaged."""
    said = {one.name: one.folder for one in journal.statements(home, GraphRAGIndex)}
    return {name: folder for name, folder in sorted(said.items()) if folder}


def drop_vectors(home: Path, name: str) -> None:
    """Removes the vectors of one index, and what a killed write of them left; nothing where there are none."""
    file = vector_cache.path_of_registered(home, name)
    for path in (file, file.with_name(f"{file.name}-journal")):
        path.unlink(missing_ok=True)


def sweep(home: Path) -> None:
    """Removes the vectors of indexes that have no name any more: a kill in between, or forgetting, can leave some.

    All stay where the journal is damaged and tells no names.
    """
    there = {path.name.split(".")[0] for path in vector_cache.path_of_registered(home, "x").parent.glob("*.db*")}
    with suppress(JournalError):
        for name in there - load(home).keys() if there else ():
            drop_vectors(home, name)
