"""Reads the monthly files of the lake for the search for replaced values, many small files together."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines.stores import lake

ROW_NAMES = ("asset_id", "chunk_id", "src_asset_ref", "asset_ref", "source_ref", "person_id", "location", "id", "rowid")
"""columns that identify a row, the most specific first"""
_BATCH_ROWS = 16_384
_MAX_ROW_BYTES, _MAX_FILE_BYTES = 16_000_000, 4_000_000
"""size of the rows searched together, and of the compressed files that a thread reads"""


class LakeRows(NamedTuple):
    """Rows of one table and source, from several months."""

    table: str
    source: str
    rows: pa.Table
    starts: list[int]
    """index in `rows` of each piece's first row"""
    pieces: list[tuple[str, int]]
    """of each piece, its file's name within the home, and the number of its first row in that file"""

    def location(self, number: int) -> tuple[str, int]:
        """The file of a row, and the row's number in that file."""
        piece = bisect.bisect_right(self.starts, number) - 1
        name, first = self.pieces[piece]
        return name, first + number - self.starts[piece]


def is_month(name: str) -> bool:
    """Whether the name, within the home, is that of a monthly file of the lake."""
    parts = name.split("/")
    return parts[0] == "lake" and len(parts) == 4 and parts[1] in lake.DERIVED and name.endswith(".parquet")


def group(home: Path, names: Sequence[str]) -> Iterator[list[str]]:
    """Groups files by table and source, with a limit on each group's size."""
    for _, table_names in itertools.groupby(names, _table_and_source):
        batch: list[str] = []
        size = 0
        for name in table_names:
            batch.append(name)
            size += (home / name).stat().st_size
            if size > _MAX_FILE_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


def months_by_table(names: Iterable[str]) -> dict[str, set[str]]:
    """The months (<source>/<YYYY-MM>) of lake files, by table; empty for tables of the whole archive."""
    months: dict[str, set[str]] = {}
    for name in names:
        _, table, *month = name.removesuffix(".parquet").split("/")
        months.setdefault(table, set()).update(["/".join(month)] if len(month) > 1 else ())
    return months


def read(home: Path, names: Sequence[str], unread: list[str]) -> Iterator[LakeRows]:
    """Yields the rows of files of one table and source; adds unreadable files, with the fault, to `unread`."""
    batches: list[pa.RecordBatch] = []
    pieces: list[tuple[str, int]] = []
    size = 0
    for name, start, batch in _batches(home, names, unread):
        if batches and (size > _MAX_ROW_BYTES or not batch.schema.equals(batches[0].schema)):
            yield _join(batches, pieces)
            batches, pieces, size = [], [], 0
        batches.append(batch)
        pieces.append((name, start))
        size += batch.nbytes
    if batches:
        yield _join(batches, pieces)


def _table_and_source(name: str) -> tuple[str, str]:
    _, table, source, _ = name.split("/")
    return table, source


def _batches(home: Path, names: Sequence[str], unread: list[str]) -> Iterator[tuple[str, int, pa.RecordBatch]]:
    """Yields batches of rows, each with its file's name and the number of its first row."""
    for name in names:
        start = 0
        try:
            with pq.ParquetFile(home / name) as parquet:
                columns = [field.name for field in parquet.schema_arrow if _is_searched(field)]
                for batch in parquet.iter_batches(_BATCH_ROWS, columns=columns, use_threads=False):
                    yield name, start, batch
                    start += batch.num_rows
        except (OSError, ValueError, pa.ArrowException) as error:
            unread.append(f"{name} ({type(error).__name__})")


def _is_searched(column: pa.Field) -> bool:
    """Whether a column may hold text or identifies a row."""
    return column.name in ROW_NAMES or _holds_text(column.type)


def _holds_text(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind):
        return any(_holds_text(kind.field(number).type) for number in range(kind.num_fields))
    return not (pa.types.is_primitive(kind) or pa.types.is_null(kind))


def _join(batches: Sequence[pa.RecordBatch], pieces: list[tuple[str, int]]) -> LakeRows:
    starts = [0, *itertools.accumulate(batch.num_rows for batch in batches[:-1])]
    table, source = _table_and_source(pieces[0][0])
    return LakeRows(table, source, pa.Table.from_batches(batches), starts, pieces)
