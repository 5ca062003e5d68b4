"""Looks outside private/ for the values that redaction replaced, by other means than the redactor's own.

What is looked for is in the vault, so it needs the archive's keys. Files are read table by table, binary columns
decoded; a find is told by table, record and entity, never by value. What a row may hold is said in
stages/leak_rules.py.
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
from relrag_pipelines.stores import catalog, retired_generations, vectors
from relrag_pipelines.workspace import Workspace

_BATCH, _THREADS = 4_096, 2
_NULS = re.compile(rb"\0+")
_ORIGIN = ("source", "rag_source_type")
_DAGSTER = "dagster/"


class Leak(NamedTuple):
    """A row that holds a value which was replaced elsewhere."""

    path: str
    """of the file, within the home"""
    table: str
    record: str
    """the row's id; its number where the id itself holds the value, or there is none"""
    entity: str
    row: int = 0
    """its place in the table, from 0"""


@dataclass
class LeakScan:
    """The result of a scan."""

    files: int = 0
    leaks: list[Leak] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """files that could not be read"""

    def add(self, other: LeakScan) -> None:
        """Adds what another scan found."""
        self.files += other.files
        self.leaks += other.leaks
        self.unread += other.unread


class _Rows(NamedTuple):
    """Some rows of a table, one after another."""

    table: str
    first: int
    rows: pa.Table


def scan_home(workspace: Workspace) -> LeakScan:
    """Everything that lies outside private/, Dagster's events and logs included. Nobody may be writing meanwhile."""
    names = [name for name in atomic.files(workspace.home) if not name.startswith("private/")]
    if workspace.settings.dagster_storage == "postgres":
        names.append(event_database.NAME)
    return scan(workspace, LeakRules(workspace), names, thorough=True)


def scan(
    workspace: Workspace,
    rules: LeakRules,
    names: Iterable[str],
    *,
    thorough: bool = False,
    since: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
    searched: Collection[str] = (),
) -> LeakScan:
    """The files of these names within the home; `thorough` as the rules have it.

    `since` gives numbers of rows by table for databases of SQLite, by name: of such a table only later rows are read.
    `searched` names files of the lake that were searched by the same rules: rows that a catalog has of them are the
    same, and are not read again.
    """
    seen = LeakScan()
    enabled = workspace.settings.pii_redaction_enabled
    there = [name for name in names if enabled and _is_there(workspace.home, name)]
    for name in there:
        entities = sorted(rules.known.entities_in(name))
        seen.leaks += [Leak(str(Path(name).parent), "name of a file", "-", entity) for entity in entities]
    months = [name for name in there if lake_rows.is_month(name)]
    for part in _scan_months(workspace.home, rules, months, thorough):
        seen.add(part)
    for name in there:
        if not lake_rows.is_month(name):
            tables = _tables_of_file(workspace.home / name, name, since.get(name), searched)
            seen.add(_scan_file(rules, name, tables, thorough))
    return seen


def _is_there(home: Path, name: str) -> bool:
    path = home / name
    return name == event_database.NAME or (path.is_file() and not path.is_symlink())


def _scan_months(home: Path, rules: LeakRules, names: Sequence[str], thorough: bool) -> Iterator[LeakScan]:
    """The months of the lake, many files at once; two threads, as Arrow works without Python's lock."""

    def scan_group(group: Sequence[str]) -> LeakScan:
        seen = LeakScan(files=len(group))
        for rows in lake_rows.read(home, group, seen.unread):
            seen.leaks += _find_in_months(rules, rows, thorough)
        return seen

    with ThreadPoolExecutor(1 if thorough else _THREADS) as threads:
        yield from threads.map(scan_group, lake_rows.group(home, names))


def _find_in_months(rules: LeakRules, rows: lake_rows.LakeRows, thorough: bool) -> Iterator[Leak]:
    for number, entities in sorted(rules.leaks(rows.rows, rows.source, thorough=thorough).items()):
        name, place = rows.place(number)
        record = _record(rows.rows.slice(number, 1).to_pylist()[0], place, rules.known)
        yield from (Leak(name, rows.table, record, entity, place) for entity in sorted(entities))


def _scan_file(rules: LeakRules, name: str, tables: Iterator[_Rows], thorough: bool) -> LeakScan:
    seen = LeakScan(files=1)
    try:
        for rows in tables:
            seen.leaks += find(rules, name, rows, thorough=thorough)
    except (OSError, ValueError, pa.ArrowException, duckdb.Error, sqlite3.Error, vectors.StoreError) as error:
        seen.unread.append(f"{name} ({type(error).__name__})")
    return seen


def find(rules: LeakRules, name: str, some: _Rows, *, thorough: bool = False) -> Iterator[Leak]:
    """The finds in some rows of the file of that name."""
    # no text of the archive belongs into Dagster's files, hidden or not
    found = rules.any_value(some.rows) if name.startswith(_DAGSTER) else rules.leaks(some.rows, thorough=thorough)
    for number, entities in sorted(found.items()):
        place = some.first + number
        record = _record(some.rows.slice(number, 1).to_pylist()[0], place, rules.known)
        yield from (Leak(name, some.table, record, entity, place) for entity in sorted(entities))


def _record(row: Mapping[str, Any], place: int, known: KnownValues) -> str:
    name = next((str(row[one]) for one in lake_rows.ROW_NAMES if row.get(one) is not None), "")
    return name if name and not known.entities_in(name) else f"row {place + 1}"


def _tables_of_file(
    path: Path, name: str, since: Mapping[str, int] | None, searched: Collection[str]
) -> Iterator[_Rows]:
    """What a file holds, or Dagster's database, table by table."""
    if name == event_database.NAME:
        for table, some in event_database.tables(since or {}):
            yield from _grouped_rows(table, some)
        return
    with path.open("rb") as file:
        head = file.read(16)
    parts = name.split("/")
    if head.startswith(b"PAR1"):
        table = parts[1] if parts[0] == "lake" else path.stem
        with pq.ParquetFile(path) as parquet:
            yield from _in_turn(parquet.iter_batches(_BATCH), table)
    elif head[8:12] == b"DUCK":
        for table, batches in catalog.tables(path, _BATCH, lake_rows.months_by_table(searched)):
            yield from _in_turn(batches, table)
    elif head.startswith(b"SQLite format 3"):
        yield from _sqlite(path, since or {})
    elif path.name in vectors.PACKED and path.parent.name == retired_generations.VECTORS:
        yield from _grouped_rows("payloads of points", vectors.payloads(path.parent))
    elif path.parent.name != retired_generations.VECTORS and path.parent.parent.name != retired_generations.VECTORS:
        with path.open("rb") as lines:
            yield from _line_rows(path.name, lines)


def _in_turn(batches: Iterable[pa.RecordBatch], table: str) -> Iterator[_Rows]:
    done = 0
    for batch in batches:
        yield _Rows(table, done, pa.Table.from_batches([batch]))
        done += batch.num_rows


def _grouped_rows(table: str, rows: Iterator[Mapping[str, Any]]) -> Iterator[_Rows]:
    """Rows whose columns hold now this, now that: what names each and where it comes from, and all that it says."""
    for done in itertools.count(0, _BATCH):
        some = list(itertools.islice(rows, _BATCH))
        if not some:
            return
        columns = {name: [_text(row.get(name)) for row in some] for name in (*lake_rows.ROW_NAMES, *_ORIGIN)}
        columns = {name: held for name, held in columns.items() if any(one is not None for one in held)}
        said = pa.array([list(nested_text.texts(row)) for row in some], pa.list_(pa.string()))
        yield _Rows(table, done, pa.table({**columns, "said": said}))


def _line_rows(name: str, lines: Iterable[bytes]) -> Iterator[_Rows]:
    """The lines of a file that is none of these, such as a database's journal or the engine's files.

    Most of the bytes of these are NUL, which parts texts and stands in none: of many in a row one mark stays.
    """
    texts = (_NULS.sub(b"\x01", line).decode("utf-8", "replace") for line in lines)
    for done in itertools.count(0, _BATCH):
        said = [[*nested_text.texts(text)] for text in itertools.islice(texts, _BATCH)]
        if not said:
            return
        yield _Rows(name, done, pa.table({"said": pa.array(said, pa.list_(pa.string()))}))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _sqlite(path: Path, since: Mapping[str, int]) -> Iterator[_Rows]:
    """The rows of each table; only those behind a number where `since` has one for it."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in sorted(names):
            quoted = name.replace('"', '""')
            where = f" WHERE rowid > {since[name]:d}" if name in since else ""
            rows = connection.execute(f'SELECT * FROM "{quoted}"{where}')  # noqa: S608
            columns = [one[0] for one in rows.description]
            yield from _grouped_rows(name, (dict(zip(columns, row, strict=True)) for row in rows))


def empty_journal(journal: Path) -> None:
    """Moves what stands in the journal of a database of SQLite into its tables, which are read in a tenth of the time.

    Where another process is using the database just then, the journal stays, and is searched byte by byte.
    """
    database = journal.with_name(journal.name.removesuffix("-wal"))
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True, timeout=0)) as one:
        one.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def last_row(path: Path, table: str) -> int:
    """The number of the last row of a table of SQLite; 0 where there is none."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        (found,) = connection.execute(f'SELECT max(rowid) FROM "{table}"').fetchone()  # noqa: S608
    return found or 0
