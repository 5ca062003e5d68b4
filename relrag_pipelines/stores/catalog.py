"""The published catalog: one DuckDB file with the records, passages, identifiers, edges and failures that exist.

It is never changed once it is built (`catalog_build.py`). A catalog may lie on top of another, its base: then it holds
the months that differ, whole, and hides those of the base. So a new message costs its month, however large the archive
is. Whoever reads opens both as one.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa

from relrag_pipelines.records import TABLES
from relrag_pipelines.stores import archive_tables
from relrag_pipelines.stores import catalog_sql as sql

NAME, BASE = "catalog.duckdb", "base.duckdb"
"""the file's name within a generation, and that of the one it lies on top of"""
BATCH = 1_024
"""passages that are indexed at a time"""
_LAKE_MONTH = '"lake_month" VARCHAR NOT NULL'
"""<source>/<YYYY-MM> of the lake that a row comes from"""
_CREATED_AT = '"created_at" TIMESTAMP NOT NULL DEFAULT current_timestamp'
"""when a row with that key was first published, UTC"""
EXTRA_COLUMNS = {
    "records": (_LAKE_MONTH,),
    "identifiers": (_LAKE_MONTH,),
    "person_assets": (_CREATED_AT, _LAKE_MONTH),
    "asset_asset_edges": (
        '"id" BIGINT PRIMARY KEY',
        _CREATED_AT,
        _LAKE_MONTH,
    ),
    "chunks": (
        '"person_ids" BIGINT[] NOT NULL DEFAULT []',
        '"mentioned_person_ids" BIGINT[] NOT NULL DEFAULT []',
        _CREATED_AT,
        _LAKE_MONTH,
    ),
    "pending_edges": (_LAKE_MONTH,),
    "shared_handles": (_LAKE_MONTH,),
}
"""columns that stand in the catalog only"""
CONFIG: dict[str, Any] = {}
"""configuration of all connections of this process, where a caller gives none; see assets/resources.py"""
_NOTHING_FETCHED = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}
"""what its wheel lacks, DuckDB would load from ~/.duckdb or fetch from extensions.duckdb.org"""
LAYERED = ("records", "identifiers", "person_assets", "chunks", "asset_asset_edges")
"""tables that are those of the base and those on top of it; of the others the top has all"""
WHOLE = tuple(name for name in archive_tables.NAMES if "catalog" in TABLES[name].place.split(", "))
"""tables of the whole archive"""
_LAKE_TABLE = {
    "records": "records",
    "identifiers": "identifiers",
    "person_assets": "records",
    "chunks": "chunks",
    "asset_asset_edges": "asset_asset_edges",
    "pending_edges": "asset_asset_edges",
}
"""the table of the lake whose rows a table of the catalog holds; of person_assets all text is that of records"""
HELD = (*LAYERED, "failures", "pending_edges", "terms", *WHOLE)
"""tables whose rows are counted"""
STORED = (*HELD, "shared", "replaced")
_ATTACHING = threading.RLock()


def connect(database: str = ":memory:", *, read_only: bool = False, **config: Any) -> duckdb.DuckDBPyConnection:
    """DuckDB as it is used here: it fetches no extension, also where a query needs one that is not in its wheel."""
    return duckdb.connect(database, read_only, CONFIG | config | _NOTHING_FETCHED)


def scratch() -> duckdb.DuckDBPyConnection:
    """A connection to DuckDB without a file, for tables that are registered and temporary ones: no other sees these.

    All of a process are connections to one database, since it takes 20 ms to make one; one that a fault has closed is
    made again.
    """
    try:
        connection = _in_memory().cursor()
        connection.execute("SELECT 1").fetchall()
    except duckdb.Error:
        _in_memory.cache_clear()
        connection = _in_memory().cursor()
    return connection


@functools.cache
def _in_memory() -> duckdb.DuckDBPyConnection:
    return connect()


@contextmanager
def _shared() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection of `scratch` to attach files to, for one caller at a time; they are detached behind it."""
    with _ATTACHING:
        try:
            with scratch() as connection:
                yield connection
        finally:  # by another connection, since that one may have been left in the midst of a result
            there = "SELECT database_name FROM duckdb_databases() WHERE NOT internal AND path IS NOT NULL"
            with scratch() as other:
                for (name,) in other.execute(there).fetchall():
                    other.execute(f"DETACH {name}")


def tables(
    path: Path, size: int, without: Mapping[str, Collection[str]] = MappingProxyType({})
) -> Iterator[tuple[str, pa.RecordBatchReader]]:
    """Name and rows, so many at a time, of each table in a file of DuckDB; duckdb.Error where it cannot be read.

    `without` gives months (<source>/<YYYY-MM>) of tables of the lake: rows that a catalog has of these are left out,
    and tables of the whole archive that it names. What the catalog made itself is there: records that several months
    hold, as they have the locations of all, and edges that belong to no month.
    """
    with connect() as connection:  # of its own: who reads it may stop at any row, in any thread
        connection.execute(f"ATTACH {quote(path)} AS whole (READ_ONLY)")
        columns = "duckdb_columns() WHERE database_name = 'whole' AND NOT internal"
        names = connection.execute(f"SELECT DISTINCT table_name FROM {columns} ORDER BY ALL").fetchall()  # noqa: S608
        for (name,) in names:
            if not (name in WHOLE and name in without):
                yield name, connection.sql(_rows_apart(name, without)).to_arrow_reader(size)


def _rows_apart(table: str, without: Mapping[str, Collection[str]]) -> str:
    """The query for the rows of a table but those of the months that are left out."""
    quoted = table.replace('"', '""')
    query = f'FROM whole."{quoted}"'
    months = sorted(without.get(_LAKE_TABLE.get(table, ""), ()))
    if not months:
        return query
    query += f" WHERE lake_month NOT IN ({', '.join(map(quote, months))})"
    return f"{query} OR asset_id IN (SELECT asset_id FROM whole.shared)" if table == "records" else query  # noqa: S608


def open(path: Path, threads: int | None = None) -> duckdb.DuckDBPyConnection:
    """A catalog and its base as one, read-only: a view for each table, which its cursors have too."""
    connection = connect(threads=threads) if threads else connect()
    try:
        attach(connection, path, "catalog", "base")
    except BaseException:
        connection.close()
        raise
    return connection


def count_removed(path: Path, previous: Path | None) -> int:
    """How many records and failures the previous catalog has that this one has no more, or no longer with that text.

    A record that now stands elsewhere in the same file is the same; one that has left a file is not.
    """
    if previous is None:
        return 0
    compared = ("records", "failures")
    with _shared() as connection:
        attach(connection, path, "catalog", "base", temporary=compared)
        attach(connection, previous, "previous", "previous_base", "published_", temporary=compared)
        gone = count(connection, sql.REMOVED.format(records="records"))
        return gone + count(connection, sql.REMOVED_FAILURES)


def count_dangling(path: Path) -> dict[str, int]:
    """How many edges lack an end and how many chunks lack a record; all zero in a sound catalog.

    On top of a base only what is on top is looked at: the base was sound, and nothing of it has gone.
    """
    with _shared() as connection:
        attach(connection, path, "catalog", "base", temporary=("records", "chunks", "asset_asset_edges"))
        return {name: count(connection, query) for name, query in sql.DANGLING.items()}


def _select(table: str, columns: str, layers: Sequence[str], hidden: str) -> str:
    """The query for a table of a catalog and, as a second layer, its base, without its `hidden` months."""
    top, *base = layers
    if base and table == "terms":
        return f"SELECT * FROM {base[0]}.terms"  # noqa: S608
    select = f"SELECT {columns} FROM {top}.{table}"  # noqa: S608
    if base and table in LAYERED:
        # two columns, none of them null: beside a condition on a single other one DuckDB looks up no key in its index
        shown = f"CASE WHEN {TABLES[table].key[0]} IS NULL THEN false ELSE lake_month NOT IN ({hidden}) END"
        select += f" UNION ALL SELECT {columns} FROM {base[0]}.{table} WHERE {shown}"  # noqa: S608
    return select


def attach(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    name: str,
    base: str,
    prefix: str = "",
    *,
    temporary: Sequence[str] = (),
) -> None:
    """Attaches a catalog and its base under these names, with a view of each table that is both in one.

    Without a prefix they show what a table is declared with, and not the month of the lake that a row comes from.
    With `temporary`, there are views of these tables only (each costs 0.6 ms), which are this connection's alone, and
    not its cursors'.
    """
    connection.execute(f"ATTACH {quote(path)} AS {name} (READ_ONLY)")
    base_path = path.with_name(BASE)
    hidden = "''"
    if base_path.exists():
        connection.execute(f"ATTACH {quote(base_path)} AS {base} (READ_ONLY)")
        months = connection.execute(f"SELECT lake_month FROM {name}.replaced ORDER BY ALL").fetchall()  # noqa: S608
        # written out: a filter on a list is cheaper in every query than a join with a table
        hidden = ", ".join(quote(month) for (month,) in months) or "''"
    views = []
    layers = (name, base) if base_path.exists() else (name,)
    for table in temporary or STORED:
        without_month = not prefix and _LAKE_MONTH in EXTRA_COLUMNS.get(table, ())
        select = _select(table, "* EXCLUDE (lake_month)" if without_month else "*", layers, hidden)
        views.append(f"CREATE {'TEMP ' if temporary else ''}VIEW {prefix}{table} AS {select}")
    connection.execute(";".join(views))


def quote(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0
