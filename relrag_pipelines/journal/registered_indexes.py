"""Named GraphRAG indexes outside the archive, and the vectors of their entities."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import GraphRAGIndex
from relrag_pipelines.journal.journal import JournalError
from relrag_pipelines.stores import vector_cache


def load(home: Path) -> dict[str, str]:
    """name -> folder of each registered index. Raises JournalError if the journal is damaged."""
    folders = {index.name: index.folder for index in journal.statements(home, GraphRAGIndex)}
    return {name: folder for name, folder in sorted(folders.items()) if folder}


def drop_vectors(home: Path, name: str) -> None:
    """Removes the vectors of an index and leftovers of a killed write, if there are any."""
    file = vector_cache.path_of_registered(home, name)
    for path in (file, file.with_name(f"{file.name}-journal")):
        path.unlink(missing_ok=True)


def sweep(home: Path) -> None:
    """Removes the vectors of indexes that are no longer registered, left by a kill or by forgetting.

    If the journal is damaged, all stay.
    """
    stored = {path.name.split(".")[0] for path in vector_cache.path_of_registered(home, "x").parent.glob("*.db*")}
    with suppress(JournalError):
        for name in stored - load(home).keys() if stored else ():
            drop_vectors(home, name)
