"""The published catalog: one DuckDB file with the records, passages, identifiers, edges and failures that exist.

It is built beside the one in use and never changed afterwards. Everything runs as SQL over the lake's parquet files,
out of core. Here the claims of the lake become facts: a record that several sources hold becomes one, an edge stays
only where both its ends exist, and person ids are joined to passages.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa

from relrag_pipelines.records import TABLES, Term, arrow_schema, ddl, to_table
from relrag_pipelines.stores import catalog_sql as sql
from relrag_pipelines.tokens import document_tokens

Parts = Mapping[str, Sequence[tuple[str, Sequence[Path]]]]
"""table name -> (source name, its monthly parquet files), sources in the order of relrag.toml"""

NAME = "catalog.duckdb"
"""the file's name within a generation"""

_MEMORY = "1GB"
_COUNTED = 5_000
"""passages whose words are counted; chunk ids are hashes, so the first of them are a fair sample"""
_EXTRA = {
    "asset_asset_edges": ('"id" BIGINT PRIMARY KEY', '"created_at" TIMESTAMP NOT NULL DEFAULT current_timestamp'),
    "chunks": (
        '"person_ids" BIGINT[] NOT NULL DEFAULT []',
        '"mentioned_person_ids" BIGINT[] NOT NULL DEFAULT []',
    ),
}
"""columns that stand in the catalog only"""

_TABLES = ("records", "identifiers", "chunks", "asset_asset_edges", "failures", "pending_edges", "terms")
_LAKE = ("records", "identifiers", "chunks", "asset_asset_edges", "failures")


def build(path: Path, parts: Parts, *, at: datetime, previous: Path | None = None) -> dict[str, int]:
    """Writes a new catalog to `path` and returns the number of rows by table, and of `pending_edges` the claims.

    `previous` is the catalog that was published before: an edge that it has keeps its `created_at`; others get `at`.
    Raises duckdb.Error where a parquet file cannot be read; nothing is left at `path` then.
    """
    spill = path.with_name(f"{path.name}.spill")
    path.unlink(missing_ok=True)
    try:
        with duckdb.connect(str(path), config={"memory_limit": _MEMORY, "temp_directory": str(spill)}) as connection:
            rows = _fill(connection, parts, at, previous)
            connection.execute("CHECKPOINT")
    except BaseException:
        path.unlink(missing_ok=True)
        path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(spill, ignore_errors=True)
    return rows


def batches(
    path: Path, size: int = 4096, embeddings: Sequence[tuple[str, Sequence[Path]]] = ()
) -> Iterator[pa.RecordBatch]:
    """All chunks of a catalog in the order of their ids, which they are stored in, with their person ids.

    With embeddings, each source's monthly files, also with `vector`: that of the chunk in its source, or null.
    """
    files = {str(file): name for name, found in embeddings for file in found}
    if not files:
        with _reading(path) as connection:
            yield from connection.sql("FROM chunks").to_arrow_reader(size)
        return
    spill = path.with_name(f"{path.name}.spill")
    with duckdb.connect(config={"memory_limit": _MEMORY, "temp_directory": str(spill)}) as connection:
        _attach(connection, path, "catalog")
        connection.register("parts", pa.table({"filename": list(files), "source": list(files.values())}))
        connection.read_parquet(list(files), filename=True).create_view("lake_embeddings")
        yield from connection.sql(sql.WITH_VECTORS).to_arrow_reader(size)
    shutil.rmtree(spill, ignore_errors=True)


def counts(path: Path) -> dict[str, int]:
    """Rows by table, as `build` returned them."""
    with _reading(path) as connection:
        return _counts(connection)


def removed(path: Path, previous: Path | None) -> int:
    """How many records and failures the previous catalog has that this one has no more, or no longer like that."""
    if previous is None:
        return 0
    with _reading(path) as connection:
        _attach(connection, previous)
        return sum(
            _count(connection, f"SELECT count(*) FROM previous.{table} ANTI JOIN {table} USING ({columns})")  # noqa: S608
            for table, columns in (
                ("records", "asset_id, content_hash, text, locations"),
                ("failures", "source, unit, location, fault"),
            )
        )


def dangling(path: Path) -> dict[str, int]:
    """How many edges lack an end and how many chunks lack a record; all zero in a sound catalog."""
    with _reading(path) as connection:
        return {name: _count(connection, query) for name, query in sql.DANGLING.items()}


def _fill(connection: duckdb.DuckDBPyConnection, parts: Parts, at: datetime, previous: Path | None) -> dict[str, int]:
    _attach_lake(connection, parts)
    _attach_published(connection, previous)
    indexes = []
    for name in _TABLES:
        create, *later = ddl(TABLES[name], _EXTRA.get(name, ()))
        connection.execute(create)
        indexes += later
    connection.execute(sql.LOST)
    if _count(connection, "SELECT count(*) FROM lost"):
        connection.execute(sql.LOST_CHUNKS)
        connection.execute(sql.LOST_TWINS)
    for statement in (sql.RECORDS, sql.IDENTIFIERS, sql.PEOPLE, sql.CHUNKS, sql.REFS, sql.CLAIMS):
        connection.execute(statement)
    connection.execute(sql.EDGES, {"at": at.astimezone(UTC).replace(tzinfo=None)})
    _count_terms(connection)
    for statement in (sql.PENDING, sql.FAILURES, *indexes):
        connection.execute(statement)
    connection.execute("DETACH DATABASE IF EXISTS previous")
    return _counts(connection)


def _count_terms(connection: duckdb.DuckDBPyConnection) -> None:
    texts = connection.execute("SELECT text FROM chunks ORDER BY chunk_id LIMIT $limit", {"limit": _COUNTED}).fetchall()
    counted = Counter(term for (text,) in texts for term in set(document_tokens(text).split()))
    rows = [Term("", len(texts)), *(Term(term, counted[term]) for term in sorted(counted) if counted[term] > 1)]
    connection.from_arrow(to_table(rows, Term)).insert_into("terms")


def _counts(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    rows = {name: connection.table(name).shape[0] for name in _TABLES}
    return rows | {"pending_edges": _count(connection, "SELECT coalesce(sum(claims), 0)::BIGINT FROM pending_edges")}


def _attach_lake(connection: duckdb.DuckDBPyConnection, parts: Parts) -> None:
    """A view `lake_<table>` of each table's parquet files; `part` numbers them by source, then month."""
    order = list(dict.fromkeys(name for table in _LAKE for name, _ in parts.get(table, ())))
    files = [
        (table, order.index(name), file) for table in _LAKE for name, found in parts.get(table, ()) for file in found
    ]
    months = sorted({(source, file.stem) for _, source, file in files})
    number = {month: part for part, month in enumerate(months)}
    for table in _LAKE:
        of_table = [(str(file), number[source, file.stem]) for name, source, file in files if name == table]
        view = f"lake_{table}"
        if not of_table:
            schema = arrow_schema(TABLES[table].row).append(pa.field("part", pa.int64()))
            connection.register(view, schema.empty_table())
            continue
        paths = [path for path, _ in of_table]
        connection.register(f"parts_{table}", pa.table({"filename": paths, "part": [part for _, part in of_table]}))
        numbered = connection.read_parquet(paths, filename=True).join(connection.view(f"parts_{table}"), "filename")
        connection.register(view, numbered.project("* EXCLUDE (filename)"))


def _attach_published(connection: duckdb.DuckDBPyConnection, previous: Path | None) -> None:
    """A view `published` of the previous catalog's edges and when they were first published."""
    if previous is None:
        connection.execute(sql.NOTHING_PUBLISHED)
    else:
        _attach(connection, previous)
        connection.execute(sql.PUBLISHED)


def _attach(connection: duckdb.DuckDBPyConnection, path: Path, name: str = "previous") -> None:
    quoted = str(path).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS {name} (READ_ONLY)")


@contextmanager
def _reading(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(path), read_only=True) as connection:
        yield connection


def _count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0
