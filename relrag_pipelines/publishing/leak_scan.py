"""Looks outside private/ for the values that redaction replaced, by other means than the redactor's own.

What is looked for is in the vault, so it needs the archive's keys. Every table is read row by row, binary columns
decoded; a find is told by table, record and entity, never by value. A channel may show what another one hides: in a
record a value counts as a find where the record's channel hides its entity, elsewhere where no record shows it.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines.files import atomic
from relrag_pipelines.pii import redact_tables, reveal, stored_text
from relrag_pipelines.pii.known_values import APART, Held, KnownValues
from relrag_pipelines.stages.monthly import possible_channels
from relrag_pipelines.stores import catalog, lake, retired_generations, vectors
from relrag_pipelines.workspace import Workspace

_BATCH = 4_096
_NAMES = ("asset_id", "chunk_id", "src_asset_ref", "asset_ref", "source_ref", "person_id", "location", "id", "rowid")
"""columns that name a row, the most telling first"""


class Leak(NamedTuple):
    """A row that holds a value which was replaced elsewhere."""

    path: str
    """of the file, within the home"""
    table: str
    record: str
    """the row's id; its number where the id itself holds the value, or there is none"""
    entity: str


@dataclass
class LeakScan:
    """What a scan saw."""

    files: int = 0
    leaks: list[Leak] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """files that could not be read"""


class _Row(NamedTuple):
    table: str
    number: int
    values: Mapping[str, Any]
    source: str | None


def scan_home(workspace: Workspace) -> LeakScan:
    """Everything that lies outside private/, Dagster's events and logs included. Nobody may be writing meanwhile."""
    return scan(workspace, [name for name in atomic.files(workspace.home) if not name.startswith("private/")])


def scan(workspace: Workspace, names: Iterable[str]) -> LeakScan:
    """The files of these names within the home. Raises VaultError where the values cannot be read."""
    seen = LeakScan()
    if not workspace.settings.pii_redaction_enabled:
        return seen
    known = KnownValues(reveal.every_value(workspace.home, workspace.keys), workspace.settings.pii_allow_list)
    rules = _Rules(workspace, known)
    for name in names:
        path = workspace.home / name
        if path.is_symlink() or not path.is_file():
            continue
        seen.files += 1
        seen.leaks += [Leak(str(Path(name).parent), "name of a file", "-", one) for one in sorted(known.entities(name))]
        try:
            for row in _rows(path, name, known):
                held = known.held(APART.join(stored_text.texts(row.values)))
                if name.startswith("dagster/"):  # no text of the archive belongs there, hidden or not
                    entities = {one.entity for one in held}
                else:
                    entities = rules.forbidden(held, row) if held else set()
                seen.leaks += [Leak(name, row.table, _record(row, known), one) for one in sorted(entities)]
        except (OSError, ValueError, pa.ArrowException, duckdb.Error, sqlite3.Error, vectors.StoreError) as error:
            seen.unread.append(f"{name} ({type(error).__name__})")
    return seen


class _Rules:
    """What a row may hold, by the policies of the channels that it can come from."""

    def __init__(self, workspace: Workspace, known: KnownValues) -> None:
        self._workspace, self._known = workspace, known
        self._sources = {one.name: one for one in workspace.settings.sources}
        self._hidden = functools.cache(workspace.redactor.hidden)

    def forbidden(self, held: Set[Held], row: _Row) -> set[str]:
        """The entities of those values that may not stand in the row.

        A row that is not of one record may hold what any record shows.
        """
        source, kind = row.source or row.values.get("source"), row.values.get("rag_source_type")
        if kind and source in self._sources:
            channel = redact_tables.channel_of(kind, self._workspace.channel(self._sources[source]))
            return {one.entity for one in held if one.entity in self._hidden(channel)}
        return {one.entity for one in held if one.entity in self._everywhere or one.told not in self._shown}

    @functools.cached_property
    def _everywhere(self) -> frozenset[str]:
        """The entities that no channel shows."""
        channels = {name for one in self._sources.values() for name in possible_channels(self._workspace, one)}
        each = [self._hidden(channel) for channel in sorted(channels)]
        return frozenset.intersection(*each) if each else frozenset()

    @functools.cached_property
    def _shown(self) -> frozenset[str]:
        """The values that records of the lake show as their policy has it."""
        shown: set[str] = set()
        home = self._workspace.home
        for name, source in self._sources.items():
            for month in lake.manifest(home, "records", name):
                rows = lake.read(home, "records", name, month)
                for row in rows.to_pylist() if stored_text.may_hold(rows, self._known) else ():
                    held = self._known.held(APART.join(stored_text.texts(row)))
                    hidden = self._hidden(
                        redact_tables.channel_of(row["rag_source_type"], self._workspace.channel(source))
                    )
                    shown.update(one.told for one in held if one.entity not in hidden)
        return frozenset(shown)


def _record(row: _Row, known: KnownValues) -> str:
    name = next((str(row.values[one]) for one in _NAMES if row.values.get(one) is not None), "")
    return name if name and not known.entities(name) else f"row {row.number}"


def _rows(path: Path, name: str, known: KnownValues) -> Iterator[_Row]:
    """Rows of a file that may hold a value; those that hold none at all are left out where that is told quickly."""
    with path.open("rb") as file:
        head = file.read(16)
    parts = name.split("/")
    if head.startswith(b"PAR1"):
        of_month = parts[0] == "lake" and parts[1] in lake.DERIVED
        table = parts[1] if parts[0] == "lake" else path.stem
        with pq.ParquetFile(path) as parquet:
            yield from _held(parquet.iter_batches(_BATCH), table, known, parts[2] if of_month else None)
    elif head[8:12] == b"DUCK":
        yield from _duckdb(path, known)
    elif head.startswith(b"SQLite format 3"):
        yield from _sqlite(path)
    elif path.name in vectors.PACKED and path.parent.name == retired_generations.VECTORS:
        payloads = enumerate(vectors.payloads(path.parent), 1)
        yield from (_Row("payloads of points", number, payload, None) for number, payload in payloads)
    elif path.parent.name != retired_generations.VECTORS and path.parent.parent.name != retired_generations.VECTORS:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                yield _Row(path.name, number, {"line": line}, None)


def _held(batches: Iterable[pa.RecordBatch], table: str, known: KnownValues, source: str | None) -> Iterator[_Row]:
    done = 0
    for batch in batches:
        if stored_text.may_hold(batch, known):
            for number, row in enumerate(batch.to_pylist(), done + 1):
                yield _Row(table, number, row, source)
        done += batch.num_rows


def _duckdb(path: Path, known: KnownValues) -> Iterator[_Row]:
    with catalog.connect(str(path), read_only=True) as connection:
        names = connection.execute("SELECT DISTINCT table_name FROM duckdb_columns() WHERE NOT internal").fetchall()
        for (name,) in sorted(names):
            yield from _held(connection.table(name).to_arrow_reader(_BATCH), name, known, None)


def _sqlite(path: Path) -> Iterator[_Row]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in sorted(names):
            quoted = name.replace('"', '""')
            rows = connection.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608
            columns = [one[0] for one in rows.description]
            for number, row in enumerate(rows, 1):
                yield _Row(name, number, dict(zip(columns, row, strict=True)), None)
