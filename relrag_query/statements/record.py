"""Writes statements to the journal, under the lock of the archive."""

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
    """The receipt of a statement in the journal."""

    number: int
    """number of the journal's entry, for `undo`"""
    people: tuple[IndexedPerson, ...]
    """the people in the statement, in the order given; empty for `undo`"""
    notice: str = ""
    """what remains to be done, or failed"""

    @property
    def about(self) -> tuple[IndexedPerson, ...]:
        """The older name of `people`, still read."""
        return self.people


@contextmanager
def writable_archive(config: Path | None, wait: float) -> Iterator[Archive]:
    """The archive, opened under the lock, which is held until the statement is written.

    So a statement cannot name a person who was forgotten while it waited for the lock.
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
