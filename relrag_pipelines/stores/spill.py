"""Tables by month that are collected before they are written: in memory while they are few, else on disk.

They lie in private/spill/<source>, which holds nothing between two exports; what a kill left there is removed by the
next one.
"""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import pyarrow as pa

from relrag_pipelines.records import PrivateRecord, arrow_schema
from relrag_pipelines.stores.atomic import make_private

MOST_BYTES = 64 * 2**20
"""held in memory before it is put on disk"""
_OF_A_TABLE = 16 * 2**10
"""what a table takes beside its values, bytes"""

_NUMBERS = itertools.count()


class Tables:
    """Private records by month."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        """where they are put when they are too many; nowhere when None"""
        self._held: dict[str, list[pa.Table]] = {}
        self._files: dict[str, list[Path]] = {}
        self._bytes = 0

    def add(self, month: str, rows: pa.Table) -> None:
        """Adds records of a month."""
        self._held.setdefault(month, []).append(rows)
        self._bytes += rows.nbytes + _OF_A_TABLE
        if self._bytes > MOST_BYTES and self.folder is not None:
            self._put_away(self.folder)

    def take(self, others: Tables) -> None:
        """Adds all of another collection."""
        for month, files in others._files.items():
            self._files.setdefault(month, []).extend(files)
        for month, held in others._held.items():
            for rows in held:
                self.add(month, rows)

    def of(self, month: str) -> pa.Table:
        """The records of a month in the order in which they were added."""
        put_away = [pa.ipc.open_file(pa.memory_map(str(file))).read_all() for file in self._files.get(month, ())]
        return pa.concat_tables([arrow_schema(PrivateRecord).empty_table(), *put_away, *self._held.get(month, ())])

    def clear(self) -> None:
        """Forgets everything."""
        self._held, self._files, self._bytes = {}, {}, 0
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _put_away(self, folder: Path) -> None:
        make_private(folder)
        for month, held in self._held.items():
            file = folder / f"{month}-{next(_NUMBERS)}.arrow"
            with pa.ipc.new_file(str(file), held[0].schema) as writer:
                for rows in held:
                    writer.write_table(rows)
            self._files.setdefault(month, []).append(file)
        self._held, self._bytes = {}, 0


def spill_folder(home: Path, source: str) -> Path:
    """Where the tables of a source are put."""
    return home / "private" / "spill" / source
