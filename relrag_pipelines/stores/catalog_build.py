"""Builds a catalog next to the one in use.

Everything runs as SQL over the lake's parquet files, out of core. Here the claims of the lake become facts: a record
that several sources hold becomes one, an edge stays only where both its ends exist, and person ids are joined to
passages.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

import duckdb
import pyarrow as pa

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.records import TABLES, ManualLink, ReplacedMonth
from relrag_pipelines.stores import catalog_sql as sql
from relrag_pipelines.stores import shared_key_edges as links
from relrag_pipelines.stores import term_counts
from relrag_pipelines.stores.catalog import (
    BASE,
    BATCH,
    EXTRA_COLUMNS,
    HELD,
    LAYERED,
    STORED,
    attach,
    connect,
    count,
    quote,
)
from relrag_pipelines.stores.table_schema import arrow_schema, ddl, to_table

Files = Sequence[tuple[str, Sequence[Path]]]
"""(source name, its monthly parquet files), sources in the order of relrag.toml"""
MonthFiles = Mapping[str, Files]
"""by name of the table"""
_MEMORY, _MEMORY_A_RECORD = 800_000_000, 700
"""bytes that DuckDB may use at least, and for each record: all else spills, but the indexes have to fit"""
_CHECKPOINT_SIZE = "256 MB"
"""what a statement may write before DuckDB makes a checkpoint; at its own 16 MB they took a quarter of the time"""
LAKE = ("records", "identifiers", "chunks", "asset_asset_edges", "failures")
"""tables of the lake that a catalog is made from"""
PEOPLE = ("person_entries", "person_mentions")
"""tables of the whole archive that say who has to do with what"""
_HANDLES = "shared_handles"
"""read only where a catalog is built on top of the one that holds it"""
IndexCallback = Callable[[Iterator[pa.RecordBatch], Sequence[str]], None]
"""told which passages are new or changed (all, without a base), and the ids of those that are gone or changed"""


_Changes = tuple[Iterator[pa.RecordBatch], list[str]]
"""what an IndexCallback is told"""


class SharedRecordsError(RelragError):
    """What is to be replaced shares records with what is kept, so the catalog cannot lie on top of its base."""


class RemovedRecordsError(RelragError):
    """Something of the previous catalog is gone: it would stay in the base."""


def build(
    path: Path,
    parts: MonthFiles,
    *,
    at: datetime,
    previous: Path | None = None,
    replaced: Sequence[str] | None = None,
    index: IndexCallback | None = None,
    manual_links: Sequence[ManualLink] = (),
    link_max_records: int = links.MAX_RECORDS,
    whole: Mapping[str, Path] = MappingProxyType({}),
    refuse_removal: bool = False,
) -> dict[str, int]:
    """Writes a new catalog to `path` and returns the number of rows by table.

    `previous` is the catalog that was published before: an edge, a passage or a person's part in a record that it has
    keeps its `created_at`; others get `at`.
    With `replaced`, the months (<source>/<YYYY-MM>) that differ from the base beside `path`, it lies on top of that,
    and the parts hold these months only. `index` is called once the passages are there, while the rest is made.
    `manual_links` are the owner's decisions about edges, the same as in the base; a key that more than
    `link_max_records` records share relates none of them. `whole` has the files of tables of the whole archive and of
    those in PEOPLE, by table; one without a file is empty.

    Raises SharedRecordsError where it cannot lie on its base, RemovedRecordsError, with `refuse_removal`, where that
    holds what is gone, and duckdb.Error where a parquet file cannot be read; nothing is left at `path` then.
    """
    spill = path.with_name(f"{path.name}.spill")
    path.unlink(missing_ok=True)
    try:
        spill.mkdir(parents=True, exist_ok=True)
        failpoint("catalog.create", path)
        with connect(temp_directory=str(spill)) as connection:
            # an interrupted build begins anew, so what it writes needs no log
            connection.execute(f"ATTACH {quote(path)} AS catalog (RECOVERY_MODE no_wal_writes); USE catalog")
            connection.execute(f"SET checkpoint_threshold = '{_CHECKPOINT_SIZE}'")
            _prepare(connection, path, parts, at, previous, replaced, whole)
            _prepare_links(connection, manual_links, link_max_records)
            if replaced is not None:
                connection.execute(sql.RECORDS)
                connection.execute(sql.FAILURES)
                if refuse_removal and _count_removed(connection):  # seen before anything is indexed
                    raise RemovedRecordsError
            embedded = parts.get("embeddings", ())
            changes = _differences(connection, embedded) if replaced is not None else _all(connection, embedded, spill)
            with ThreadPoolExecutor(1) as executor:
                finished = executor.submit(_finish, connection, path, replaced is not None)
                if index:
                    index(*changes)
                return finished.result()
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def _prepare(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    parts: MonthFiles,
    at: datetime,
    previous: Path | None,
    replaced: Sequence[str] | None,
    whole: Mapping[str, Path],
) -> None:
    """All that the passages need, and they themselves; and the tables that are made elsewhere."""
    _attach_people(connection, whole)
    _attach_lake(connection, parts)
    connection.execute(";".join(ddl(TABLES[name], EXTRA_COLUMNS.get(name, ()))[0] for name in (*STORED, _HANDLES)))
    rows = [ReplacedMonth(month) for month in sorted([*replaced, links.CROSS_SOURCE] if replaced is not None else ())]
    connection.from_arrow(to_table(rows, ReplacedMonth)).insert_into("replaced")
    _attach_base(connection, path.with_name(BASE) if replaced is not None else None)
    record_count = count(connection, "SELECT (SELECT count(*) FROM lake_records) + (SELECT count(*) FROM kept_records)")
    connection.execute(f"SET memory_limit = '{max(_MEMORY, _MEMORY_A_RECORD * record_count)}B'")
    _attach_published(connection, previous, replaced is not None)
    connection.execute("SET VARIABLE published_at = $at", {"at": at.astimezone(UTC).replace(tzinfo=None)})
    connection.execute(sql.LOST)
    if count(connection, "SELECT count(*) FROM lost"):
        connection.execute(sql.LOST_CHUNKS)
        connection.execute(sql.LOST_TWINS)
        connection.execute(sql.SHARED)
    connection.execute(sql.LOST_APART)
    if replaced is not None and count(connection, sql.TANGLED):
        raise SharedRecordsError
    for statement in (sql.IDENTIFIERS, sql.PERSON_ASSETS, sql.PEOPLE, sql.CHUNKS, "DROP TABLE people"):
        connection.execute(statement)
    for table, file in whole.items() - {(name, whole.get(name)) for name in PEOPLE}:
        connection.execute(f"INSERT INTO {table} BY NAME FROM read_parquet({quote(file)})")


def _count_removed(connection: duckdb.DuckDBPyConnection) -> int:
    """What the previous catalog has that the records and failures of this one and its base have no more."""
    records = f"(FROM records UNION ALL BY NAME FROM kept_records WHERE {sql.FORMER_MONTHS})"
    return count(connection, sql.REMOVED.format(records=records)) + count(connection, sql.REMOVED_FAILURES)


def _prepare_links(
    connection: duckdb.DuckDBPyConnection, manual_links: Sequence[ManualLink], link_max_records: int
) -> None:
    """Registers the tables and settings that edges are made from besides the lake."""
    connection.register("owner_links", to_table(list(manual_links), ManualLink))
    reasons = [
        {"kind": kind, "confidence": confidence, "provenance": why} for kind, (confidence, why) in links.REASONS.items()
    ]
    connection.register("reasons", pa.Table.from_pylist(reasons))
    connection.execute("SET VARIABLE link_max_records = $most", {"most": link_max_records})


def _finish(connection: duckdb.DuckDBPyConnection, path: Path, on_top: bool) -> dict[str, int]:
    """Makes the remaining tables and the indexes, checkpoints the file, and returns the number of rows by table."""
    # the vectors are made meanwhile, which takes longer, and by one processor at a time
    connection.execute("SET threads = greatest(1, current_setting('threads') - 1)")
    # without Python's lock, and in one go, so that it need not wait for it in between
    connection.execute(";".join(_remaining_statements(on_top)))
    if not on_top:
        term_counts.write(connection)
    counts = _counts(connection, on_top)
    for other in ("base", "previous", "previous_base"):
        connection.execute(f"DETACH DATABASE IF EXISTS {other}")
    failpoint("catalog.commit", path)
    connection.execute("CHECKPOINT")
    connection.close()  # the vectors, which are still being made, need the memory
    return counts


def _counts(connection: duckdb.DuckDBPyConnection, on_top: bool) -> dict[str, int]:
    """Number of rows by table, including those kept from the base."""
    tables_by_name = {name: (name, f"kept_{name}") if name in LAYERED else (name,) for name in HELD}
    if on_top:
        tables_by_name["terms"] = ("base.terms",)
    sums = (" + ".join(f"(SELECT count(*) FROM {table})" for table in names) for names in tables_by_name.values())  # noqa: S608
    (row,) = connection.execute(f"SELECT {', '.join(sums)}").fetchall()
    return dict(zip(tables_by_name, row, strict=True))


def _remaining_statements(on_top: bool) -> list[str]:
    """The statements that make all the other tables."""
    indexes = [statement for name in STORED if name != _HANDLES for statement in _indexes(name)]
    base_refs = [sql.KEPT_REFS] if on_top else []
    related = [links.SHARED_KEYS, links.RELATED, *([links.ONLY_DIFFERENT] if on_top else [])]
    records = [] if on_top else [sql.RECORDS, sql.FAILURES]
    claims = [sql.REFS, *base_refs, sql.CLAIMS, "DROP TABLE refs"]
    edges = [sql.EDGES, sql.PENDING, "DROP TABLE claims; DROP TABLE related"]  # the indexes need the memory
    return [*records, *claims, *related, *edges, *indexes]


def _indexes(table: str) -> list[str]:
    return ddl(TABLES[table])[1:]


def _all(connection: duckdb.DuckDBPyConnection, embedded: Files, spill: Path) -> _Changes:
    """Every passage, read from a file beside the catalog; none goes.

    A reader of the catalog itself would keep its snapshot, and with it everything that is made meanwhile in memory.
    """
    query = _attach_vectors(connection, embedded) or sql.ALL_CHUNKS
    file = spill / "passages.arrow"
    failpoint("catalog.passages", file)
    with connection.sql(query).to_arrow_reader(BATCH) as reader, pa.ipc.new_stream(str(file), reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    return iter(pa.ipc.open_stream(pa.memory_map(str(file)))), []


def _differences(connection: duckdb.DuckDBPyConnection, embedded: Files) -> _Changes:
    """The passages that differ from those of the previous catalog, and the ids of those that go for them."""
    connection.execute(sql.DIFFERENT_CHUNKS)
    gone = [chunk_id for (chunk_id,) in connection.execute(sql.GONE_CHUNKS).fetchall()]
    query = _attach_vectors(connection, embedded, "different") or sql.NEW_CHUNKS
    return iter(connection.sql(query).to_arrow_table().to_batches(BATCH)), gone


def _attach_vectors(connection: duckdb.DuckDBPyConnection, embedded: Files, only: str = "chunks") -> str:
    """Makes the dense vectors readable; the query that gives passages with theirs, none where there are no vectors."""
    months = {str(file): f"{source}/{file.stem}" for source, files in embedded for file in files}
    if not months:
        return ""
    connection.register("parts_embeddings", pa.table({"filename": list(months), "lake_month": list(months.values())}))
    connection.register("lake_embeddings", connection.read_parquet(list(months), filename=True))
    return sql.WITH_VECTORS.format(only=only)


def _attach_lake(connection: duckdb.DuckDBPyConnection, parts: MonthFiles) -> None:
    """A view `lake_<table>` of each table's parquet files; `part` numbers them by source, then month."""
    order = list(dict.fromkeys(name for table in LAKE for name, _ in parts.get(table, ())))
    files = [
        (table, order.index(name), file) for table in LAKE for name, files_ in parts.get(table, ()) for file in files_
    ]
    months = sorted({(source, file.stem) for _, source, file in files})
    number = {month: part for part, month in enumerate(months)}
    for table in LAKE:
        table_files = [(str(file), (source, file.stem)) for name, source, file in files if name == table]
        view = f"lake_{table}"
        if not table_files:
            extra_fields = [pa.field("part", pa.int64()), pa.field("lake_month", pa.string())]
            connection.register(view, pa.schema([*arrow_schema(TABLES[table].row), *extra_fields]).empty_table())
            continue
        paths = [path for path, _ in table_files]
        columns = {
            "filename": paths,
            "part": [number[month] for _, month in table_files],
            "lake_month": [f"{order[source]}/{month}" for _, (source, month) in table_files],
        }
        connection.register(f"parts_{table}", pa.table(columns))
        source_sql = f"read_parquet([{', '.join(map(quote, paths))}], filename = true)"
        # as one statement: what is put together of relations is planned at each step
        connection.execute(
            f"CREATE TEMP VIEW {view} AS SELECT * EXCLUDE (filename) "  # noqa: S608
            f"FROM {source_sql} JOIN parts_{table} USING (filename)"
        )


def _attach_people(connection: duckdb.DuckDBPyConnection, whole: Mapping[str, Path]) -> None:
    """Views of the tables that say who has to do with what; empty without a file."""
    for table in PEOPLE:
        if table in whole:
            connection.execute(f"CREATE TEMP VIEW {table} AS FROM read_parquet({quote(whole[table])})")
        else:
            connection.register(table, arrow_schema(TABLES[table].row).empty_table())


def _attach_base(connection: duckdb.DuckDBPyConnection, base: Path | None) -> None:
    """Views `kept_<table>` of what is kept of the base; empty without one."""
    if base:
        connection.execute(f"ATTACH {quote(base)} AS base (READ_ONLY)")
    for table in (*LAYERED, "pending_edges", _HANDLES):
        source_sql = f"base.{table} WHERE lake_month NOT IN (FROM replaced)" if base else f"{table} LIMIT 0"
        connection.execute(f"CREATE TEMP VIEW kept_{table} AS SELECT * FROM {source_sql}")  # noqa: S608


def _attach_published(connection: duckdb.DuckDBPyConnection, previous: Path | None, on_top: bool) -> None:
    """Views `published_<table>` of the previous catalog, and `former_<table>` of the times of its rows."""
    if previous:
        # beside a catalog that is being built nothing else may be written
        compared = ("records", "person_assets", "chunks", "asset_asset_edges", "failures")
        attach(connection, previous, "previous", "previous_base", "published_", temporary=compared)
    for table in ("person_assets", "chunks", "asset_asset_edges"):
        source_sql = f"published_{table}" if previous else f"{table} LIMIT 0"
        if previous and on_top and table != "asset_asset_edges":  # which may lie between months that stay as they are
            source_sql += f" WHERE {sql.FORMER_MONTHS}"
        key = ", ".join(TABLES[table].key)
        connection.execute(f"CREATE TEMP VIEW former_{table} AS SELECT {key}, created_at FROM {source_sql}")  # noqa: S608
