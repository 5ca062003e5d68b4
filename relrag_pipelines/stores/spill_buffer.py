"""Collects tables by month before they are written: in memory as long as they are small, then on disk.

They lie in private/spill/<source>, which holds nothing between two exports; what a kill left there goes with the next
sync.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.files.atomic import make_private
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.records import PrivateRecord
from relrag_pipelines.stores.table_schema import arrow_schema

MOST_BYTES = 64 * 2**20
"""held in memory before it is put on disk"""
_OF_A_TABLE = 16 * 2**10
"""what a table takes beside its values, bytes"""

_NUMBERS = itertools.count()


class SpillBuffer:
    """Private records by month."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        """where they are put when they are too many; nowhere when None"""
        self._held: list[_Rows] = []
        self._files: dict[str, list[Path]] = {}
        self._bytes = 0

    def add(self, rows: pa.Table, months: Sequence[str]) -> None:
        """Adds records, each of its month."""
        ordered = rows.take(pc.sort_indices(pa.array(months, pa.string())))
        places, start = {}, 0
        for month, count in sorted(Counter(months).items()):
            places[month] = (start, count)
            start += count
        self._add(_Rows(ordered, places))

    def take(self, others: SpillBuffer) -> None:
        """Adds all records of another buffer."""
        for month, files in others._files.items():
            self._files.setdefault(month, []).extend(files)
        for rows in others._held:
            self._add(rows)

    def month(self, month: str) -> pa.Table:
        """The records of a month in the order in which they were added."""
        spilled = map(_spilled, self._files.get(month, ()))
        in_memory = (rows.month(month) for rows in self._held if month in rows.places)
        return pa.concat_tables([arrow_schema(PrivateRecord).empty_table(), *spilled, *in_memory])

    def ids(self) -> pa.ChunkedArray:
        """The asset_ids of all records; of no other column anything is read or put together."""
        spilled = map(_spilled, chain.from_iterable(self._files.values()))
        tables = chain(spilled, (rows.table for rows in self._held))
        chunks = chain.from_iterable(table["asset_id"].chunks for table in tables)
        return pa.chunked_array(list(chunks), pa.string())

    def clear(self) -> None:
        """Forgets everything."""
        self._held, self._files, self._bytes = [], {}, 0
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _add(self, rows: _Rows) -> None:
        self._held.append(rows)
        self._bytes += rows.table.nbytes + _OF_A_TABLE
        if self._bytes > MOST_BYTES and self.folder is not None:
            self._put_away(self.folder)

    def _put_away(self, folder: Path) -> None:
        make_private(folder)
        for month in dict.fromkeys(month for rows in self._held for month in rows.places):
            file = folder / f"{month}-{os.getpid()}-{next(_NUMBERS)}.arrow"
            failpoint("spill.write", file)
            with pa.ipc.new_file(str(file), arrow_schema(PrivateRecord)) as writer:
                for rows in self._held:
                    if month in rows.places:
                        writer.write_table(rows.month(month))
            self._files.setdefault(month, []).append(file)
        self._held, self._bytes = [], 0


@dataclass(frozen=True)
class _Rows:
    """Records ordered by month."""

    table: pa.Table
    places: dict[str, tuple[int, int]]
    """month -> where its records begin, and how many there are"""

    def month(self, month: str) -> pa.Table:
        return self.table.slice(*self.places[month])


def _spilled(file: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(file))).read_all()


def spill_folder(home: Path, source: str) -> Path:
    """Where the tables of a source are put."""
    return home / "private" / "spill" / source
