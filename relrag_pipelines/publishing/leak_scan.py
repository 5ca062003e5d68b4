"""Searches everything outside private/ for the values that redaction replaced, without using the redactor.

The values come from the vault, so the search needs the archive's keys. Files are read table by table, with binary
columns decoded. A leak is reported by table, record and entity, never by value. stages/leak_rules.py decides which
values a row may hold.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines.files import atomic
from relrag_pipelines.pii import nested_text
from relrag_pipelines.pii.known_values import KnownValues
from relrag_pipelines.publishing import event_database, lake_rows
from relrag_pipelines.stages.leak_rules import LeakRules
from relrag_pipelines.stores import catalog, retired_generations, vector_store
from relrag_pipelines.stores.vectors.protocol import StoreError
from relrag_pipelines.workspace import Workspace

_BATCH_ROWS, _THREADS = 4_096, 2
_NUL_RUN = re.compile(rb"\0+")
_SOURCE_COLUMNS = ("source", "rag_source_type")
_DAGSTER = "dagster/"


class Leak(NamedTuple):
    """A row that holds a value that was replaced elsewhere."""

    path: str
    """path of the file within the home"""
    table: str
    record: str
    """the row's id; its number if it has no id, or the id holds the value"""
    entity: str
    row: int = 0
    """index in the table, from 0"""


@dataclass
class LeakScan:
    """The result of a scan."""

    files: int = 0
    leaks: list[Leak] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """files that could not be read"""

    def add(self, result: LeakScan) -> None:
        """Adds the results of another scan."""
        self.files += result.files
        self.leaks += result.leaks
        self.unread += result.unread


class _Rows(NamedTuple):
    """Consecutive rows of a table; `first` is the index of the first row."""

    table: str
    first: int
    rows: pa.Table


def scan_home(workspace: Workspace) -> LeakScan:
    """Scans everything outside private/, with Dagster's events and logs. No other process may write meanwhile."""
    names = [name for name in atomic.files(workspace.home) if not name.startswith("private/")]
    if workspace.settings.dagster_storage == "postgres":
        names.append(event_database.NAME)
    return scan(workspace, LeakRules(workspace), names, thorough=True)


def _leaks_of_names(rules: LeakRules, names: Iterable[str]) -> Iterator[Leak]:
    """The replaced values in names of files."""
    for name in names:
        for entity in sorted(rules.known.entities_in(name)):
            yield Leak(str(Path(name).parent), "name of a file", "-", entity)


def scan(
    workspace: Workspace,
    rules: LeakRules,
    names: Iterable[str],
    *,
    thorough: bool = False,
    since: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
    searched: Collection[str] = (),
) -> LeakScan:
    """Scans these files of the home; LeakRules explains `thorough`.

    `since` gives, by database file and table, the row number after which rows are read.
    `searched` names lake files that the same rules have searched; a catalog's copies of their rows are skipped.
    """
    result = LeakScan()
    enabled = workspace.settings.pii_redaction_enabled
    existing = [name for name in names if enabled and _exists(workspace.home, name)]
    result.leaks += _leaks_of_names(rules, existing)
    months = [name for name in existing if lake_rows.is_month(name)]
    for month_result in _scan_months(workspace.home, rules, months, thorough):
        result.add(month_result)
    for name in existing:
        if not lake_rows.is_month(name):
            tables = _tables_of_file(workspace.home / name, name, since.get(name), searched)
            result.add(_scan_file(rules, name, tables, thorough))
    return result


def _exists(home: Path, name: str) -> bool:
    path = home / name
    return name == event_database.NAME or (path.is_file() and not path.is_symlink())


def _scan_months(home: Path, rules: LeakRules, names: Sequence[str], thorough: bool) -> Iterator[LeakScan]:
    """Scans monthly files of the lake in groups; in two threads, because Arrow releases the interpreter lock."""

    def scan_group(group: Sequence[str]) -> LeakScan:
        result = LeakScan(files=len(group))
        for rows in lake_rows.read(home, group, result.unread):
            result.leaks += _find_in_months(rules, rows, thorough)
        return result

    with ThreadPoolExecutor(1 if thorough else _THREADS) as threads:
        yield from threads.map(scan_group, lake_rows.group(home, names))


def _find_in_months(rules: LeakRules, rows: lake_rows.LakeRows, thorough: bool) -> Iterator[Leak]:
    for number, entities in sorted(rules.leaks(rows.rows, rows.source, thorough=thorough).items()):
        name, row_number = rows.location(number)
        record = _record(rows.rows.slice(number, 1).to_pylist()[0], row_number, rules.known)
        yield from (Leak(name, rows.table, record, entity, row_number) for entity in sorted(entities))


def _scan_file(rules: LeakRules, name: str, tables: Iterator[_Rows], thorough: bool) -> LeakScan:
    result = LeakScan(files=1)
    try:
        for rows in tables:
            result.leaks += find(rules, name, rows, thorough=thorough)
    except (OSError, ValueError, pa.ArrowException, duckdb.Error, sqlite3.Error, StoreError) as error:
        result.unread.append(f"{name} ({type(error).__name__})")
    return result


def find(rules: LeakRules, name: str, batch: _Rows, *, thorough: bool = False) -> Iterator[Leak]:
    """Yields the leaks in a batch of rows of the named file."""
    # Dagster's files must contain no text of the archive, hidden or not
    row_entities = (
        rules.any_value(batch.rows) if name.startswith(_DAGSTER) else rules.leaks(batch.rows, thorough=thorough)
    )
    for number, entities in sorted(row_entities.items()):
        row_number = batch.first + number
        record = _record(batch.rows.slice(number, 1).to_pylist()[0], row_number, rules.known)
        yield from (Leak(name, batch.table, record, entity, row_number) for entity in sorted(entities))


def _record(row: Mapping[str, Any], row_number: int, values: KnownValues) -> str:
    name = next((str(row[column]) for column in lake_rows.ROW_NAMES if row.get(column) is not None), "")
    return name if name and not values.entities_in(name) else f"row {row_number + 1}"


def _tables_of_file(
    path: Path, name: str, since: Mapping[str, int] | None, searched: Collection[str]
) -> Iterator[_Rows]:
    """Yields the rows of a file, or of Dagster's database, table by table."""
    if name == event_database.NAME:
        yield from _event_rows(since or {})
        return
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"PAR1"):
        yield from _parquet_rows(path, name)
    elif head[8:12] == b"DUCK":
        yield from _catalog_rows(path, searched)
    elif head.startswith(b"SQLite format 3"):
        yield from _sqlite(path, since or {})
    elif path.name in vector_store.PACKED and path.parent.name == retired_generations.VECTORS:
        yield from _grouped_rows("payloads of points", vector_store.payloads(path.parent))
    elif retired_generations.VECTORS not in (path.parent.name, path.parent.parent.name):
        with path.open("rb") as lines:
            yield from _line_rows(path.name, lines)


def _event_rows(since: Mapping[str, int]) -> Iterator[_Rows]:
    for table, rows in event_database.tables(since):
        yield from _grouped_rows(table, rows)


def _parquet_rows(path: Path, name: str) -> Iterator[_Rows]:
    parts = name.split("/")
    table = parts[1] if parts[0] == "lake" else path.stem
    with pq.ParquetFile(path) as parquet:
        yield from _batch_rows(parquet.iter_batches(_BATCH_ROWS), table)


def _catalog_rows(path: Path, searched: Collection[str]) -> Iterator[_Rows]:
    """Yields the rows of the catalog whose months in the lake were not searched."""
    for table, batches in catalog.tables(path, _BATCH_ROWS, lake_rows.months_by_table(searched)):
        yield from _batch_rows(batches, table)


def _batch_rows(batches: Iterable[pa.RecordBatch], table: str) -> Iterator[_Rows]:
    count = 0
    for batch in batches:
        yield _Rows(table, count, pa.Table.from_batches([batch]))
        count += batch.num_rows


def _grouped_rows(table: str, rows: Iterator[Mapping[str, Any]]) -> Iterator[_Rows]:
    """Yields rows whose columns have mixed types, as their id columns, source columns and all their texts."""
    for start in itertools.count(0, _BATCH_ROWS):
        batch = list(itertools.islice(rows, _BATCH_ROWS))
        if not batch:
            return
        columns = {name: [_text(row.get(name)) for row in batch] for name in (*lake_rows.ROW_NAMES, *_SOURCE_COLUMNS)}
        columns = {name: values for name, values in columns.items() if any(value is not None for value in values)}
        texts = pa.array([list(nested_text.texts(row)) for row in batch], pa.list_(pa.string()))
        yield _Rows(table, start, pa.table({**columns, "said": texts}))


def _line_rows(name: str, lines: Iterable[bytes]) -> Iterator[_Rows]:
    """Yields the lines of any other file, such as a database's journal or the engine's files.

    Most bytes of these are NUL, which separates texts; each run of NULs becomes one separator.
    """
    decoded = (_NUL_RUN.sub(b"\x01", line).decode("utf-8", "replace") for line in lines)
    for start in itertools.count(0, _BATCH_ROWS):
        said = [[*nested_text.texts(text)] for text in itertools.islice(decoded, _BATCH_ROWS)]
        if not said:
            return
        yield _Rows(name, start, pa.table({"said": pa.array(said, pa.list_(pa.string()))}))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _sqlite(path: Path, since: Mapping[str, int]) -> Iterator[_Rows]:
    """Yields the rows of each table; `since` gives, by table, the row number after which rows are read."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in sorted(names):
            quoted = name.replace('"', '""')
            condition = f" WHERE rowid > {since[name]:d}" if name in since else ""
            rows = connection.execute(f'SELECT * FROM "{quoted}"{condition}')  # noqa: S608
            columns = [column[0] for column in rows.description]
            yield from _grouped_rows(name, (dict(zip(columns, row, strict=True)) for row in rows))


def empty_journal(journal: Path) -> None:
    """Moves the contents of an SQLite journal into the database's tables, which are ten times faster to read.

    If another process is using the database, the journal stays: the rows are read through it, its bytes too.
    """
    database = journal.with_name(journal.name.removesuffix("-wal"))
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True, timeout=0)) as connection,
    ):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def last_row(path: Path, table: str) -> int:
    """The highest row number in an SQLite table; 0 if it is empty."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        (highest,) = connection.execute(f'SELECT max(rowid) FROM "{table}"').fetchone()  # noqa: S608
    return highest or 0
