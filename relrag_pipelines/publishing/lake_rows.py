"""The rows of months of the lake as the search for replaced values reads them: those of many small files at once."""

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
"""columns that name a row, the most telling first"""
_BATCH = 16_384
_MOST_BYTES, _MOST_BYTES_OF_FILES = 16_000_000, 4_000_000
"""of the rows that are searched at once, and of the files, compressed, that one thread reads"""


class LakeRows(NamedTuple):
    """Rows of one table and source, of several months."""

    table: str
    source: str
    rows: pa.Table
    starts: list[int]
    """where in `rows` those of each piece of a file begin"""
    pieces: list[tuple[str, int]]
    """of each piece the name of its file within the home, and where in that file it begins"""

    def place(self, number: int) -> tuple[str, int]:
        """The name of the file that a row is from, and its number there."""
        piece = bisect.bisect_right(self.starts, number) - 1
        name, first = self.pieces[piece]
        return name, first + number - self.starts[piece]


def is_month(name: str) -> bool:
    """Whether a file within the home is a month of the lake."""
    parts = name.split("/")
    return parts[0] == "lake" and len(parts) == 4 and parts[1] in lake.DERIVED and name.endswith(".parquet")


def group(home: Path, names: Sequence[str]) -> Iterator[list[str]]:
    """Files of one table and source each, not too large together."""
    for _, alike in itertools.groupby(names, _table_and_source):
        some: list[str] = []
        size = 0
        for name in alike:
            some.append(name)
            size += (home / name).stat().st_size
            if size > _MOST_BYTES_OF_FILES:
                yield some
                some, size = [], 0
        if some:
            yield some


def months_by_table(names: Iterable[str]) -> dict[str, set[str]]:
    """The months (<source>/<YYYY-MM>) of files of the lake, by table; none of a table of the whole archive."""
    months: dict[str, set[str]] = {}
    for name in names:
        _, table, *month = name.removesuffix(".parquet").split("/")
        months.setdefault(table, set()).update(["/".join(month)] if len(month) > 1 else ())
    return months


def read(home: Path, names: Sequence[str], unread: list[str]) -> Iterator[LakeRows]:
    """The rows of files of one table and source; those that cannot be read are added to `unread`, with the fault."""
    batches: list[pa.RecordBatch] = []
    pieces: list[tuple[str, int]] = []
    size = 0
    for name, first, batch in _batches(home, names, unread):
        if batches and (size > _MOST_BYTES or not batch.schema.equals(batches[0].schema)):
            yield _join(batches, pieces)
            batches, pieces, size = [], [], 0
        batches.append(batch)
        pieces.append((name, first))
        size += batch.nbytes
    if batches:
        yield _join(batches, pieces)


def _table_and_source(name: str) -> tuple[str, str]:
    _, table, source, _ = name.split("/")
    return table, source


def _batches(home: Path, names: Sequence[str], unread: list[str]) -> Iterator[tuple[str, int, pa.RecordBatch]]:
    """Rows one after another, with the name of their file and where in it they begin."""
    for name in names:
        first = 0
        try:
            with pq.ParquetFile(home / name) as opened:
                columns = [field.name for field in opened.schema_arrow if _is_searched(field)]
                for batch in opened.iter_batches(_BATCH, columns=columns, use_threads=False):
                    yield name, first, batch
                    first += batch.num_rows
        except (OSError, ValueError, pa.ArrowException) as error:
            unread.append(f"{name} ({type(error).__name__})")


def _is_searched(column: pa.Field) -> bool:
    """Whether a column may hold text, or names a row."""
    return column.name in ROW_NAMES or _holds_text(column.type)


def _holds_text(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind):
        return any(_holds_text(kind.field(number).type) for number in range(kind.num_fields))
    return not (pa.types.is_primitive(kind) or pa.types.is_null(kind))


def _join(batches: Sequence[pa.RecordBatch], pieces: list[tuple[str, int]]) -> LakeRows:
    starts = [0, *itertools.accumulate(batch.num_rows for batch in batches[:-1])]
    table, source = _table_and_source(pieces[0][0])
    return LakeRows(table, source, pa.Table.from_batches(batches), starts, pieces)
