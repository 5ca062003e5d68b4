"""Writes statements into the journal one after another, under the lock of the archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.identity.journal_statements import Statement
from relrag_pipelines.journal import journal
from relrag_pipelines.stores import lock
from relrag_query.archive import Archive
from relrag_query.people.indexed_person import IndexedPerson

FROM_NEXT_SYNC = "it takes effect with the next `relrag sync`"


@dataclass(frozen=True)
class StatementReceipt:
    """A statement as it stands in the journal."""

    number: int
    """of the entry, for `undo`"""
    people: tuple[IndexedPerson, ...]
    """of whom it speaks, in the order in which they were given; empty for `undo`"""
    notice: str = ""
    """what is still to be done, or could not be"""

    @property
    def about(self) -> tuple[IndexedPerson, ...]:
        """The older name of `people`, still read."""
        return self.people


@contextmanager
def writable_archive(config: Path | None, wait: float) -> Iterator[Archive]:
    """The archive as it stays until the statement is written.

    It is opened under the lock: somebody who is forgotten while a statement waits cannot be named by it any more.
    """
    settings = settings_module.load(config)
    with lock.writing(settings.home_path, "relrag people", wait), Archive.of(settings) as archive:
        yield archive


def record(
    archive: Archive, people: tuple[IndexedPerson, ...], statements: Sequence[Statement], notice: str = ""
) -> StatementReceipt:
    """Writes statements to the journal; the receipt has the number of the first."""
    numbers = journal.append(archive.settings.home_path, statements)
    return StatementReceipt(numbers[0], people, notice)
