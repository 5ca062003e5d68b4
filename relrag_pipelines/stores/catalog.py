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

_LOST = """
CREATE TEMP TABLE lost AS
    WITH kept AS (SELECT asset_id, min(part) AS part FROM lake_records GROUP BY asset_id HAVING count(*) > 1)
    SELECT found.asset_id AS ref, found.part
    FROM lake_records AS found JOIN kept ON kept.asset_id = found.asset_id AND kept.part <> found.part
"""
"""What an earlier part (source, then month) holds already: the refs of records, later of their chunks too."""

_LOST_CHUNKS = """
INSERT INTO lost
    SELECT 'chunk:' || chunk_id, part FROM lake_chunks SEMI JOIN lost ON ref = asset_id AND lost.part = lake_chunks.part
    WHERE len(members) = 0
    UNION ALL
    SELECT held.asset_id, held.part
    FROM (SELECT asset_id, part, unnest(members) AS member FROM lake_chunks WHERE len(members) > 0) AS held
    LEFT JOIN lost ON lost.ref = held.member AND lost.part = held.part
    GROUP BY held.asset_id, held.part HAVING count(*) = count(lost.ref)
"""
"""A chat window is lost with the last of its messages, not with the first."""

_LOST_TWINS = """
INSERT INTO lost
    WITH windows AS (SELECT DISTINCT asset_id, part FROM lake_chunks WHERE len(members) > 0),
    held AS (SELECT * FROM windows ANTI JOIN lost ON lost.ref = windows.asset_id AND lost.part = windows.part)
    SELECT held.asset_id, held.part
    FROM held JOIN (SELECT asset_id, min(part) AS part FROM held GROUP BY asset_id) AS kept
        ON kept.asset_id = held.asset_id AND kept.part < held.part
"""
"""Two windows may begin and end alike, and one source have a message between that the other lacks."""

_RECORDS = """
INSERT INTO records BY NAME
    WITH several AS (SELECT DISTINCT ref AS asset_id FROM lost),
    named AS (SELECT asset_id, part, unnest(locations) AS location, generate_subscripts(locations, 1) AS position
              FROM lake_records SEMI JOIN several USING (asset_id)),
    places AS (SELECT asset_id, list(location ORDER BY place) AS locations
               FROM (SELECT asset_id, location, min((part, position)) AS place FROM named GROUP BY asset_id, location)
               GROUP BY asset_id)
    SELECT found.* EXCLUDE (part) REPLACE (coalesce(places.locations, found.locations) AS locations)
    FROM lake_records AS found ANTI JOIN lost ON lost.ref = found.asset_id AND lost.part = found.part
    LEFT JOIN places ON places.asset_id = found.asset_id
    ORDER BY found.asset_id
"""

_IDENTIFIERS = """
INSERT INTO identifiers BY NAME
    SELECT found.* EXCLUDE (part)
    FROM lake_identifiers AS found ANTI JOIN lost ON lost.ref = found.asset_id AND lost.part = found.part
    ORDER BY asset_id, role, kind, keyed
"""

_PEOPLE = """
CREATE TEMP TABLE people AS
    WITH named AS (SELECT DISTINCT asset_id, role = 'mentioned' AS mentioned, person_id
                   FROM identifiers WHERE person_id IS NOT NULL),
    windows AS (SELECT asset_id, unnest(members) AS member FROM lake_chunks WHERE len(members) > 0),
    everyone AS (SELECT * FROM named
                 UNION SELECT windows.asset_id, mentioned, person_id
                 FROM windows JOIN named ON named.asset_id = windows.member)
    SELECT asset_id,
        coalesce(list(person_id ORDER BY person_id) FILTER (NOT mentioned), []) AS person_ids,
        coalesce(list(person_id ORDER BY person_id) FILTER (mentioned), []) AS mentioned_person_ids
    FROM everyone GROUP BY asset_id
"""

_CHUNKS = """
INSERT INTO chunks BY NAME
    SELECT found.* EXCLUDE (part, ref),
        coalesce(people.person_ids, []) AS person_ids, coalesce(people.mentioned_person_ids, []) AS mentioned_person_ids
    FROM (SELECT *, CASE WHEN len(members) > 0 THEN asset_id ELSE 'chunk:' || chunk_id END AS ref FROM lake_chunks)
        AS found ANTI JOIN lost ON lost.ref = found.ref AND lost.part = found.part
    LEFT JOIN people ON people.asset_id = found.asset_id
    ORDER BY chunk_id
"""

_REFS = """
CREATE TEMP TABLE refs AS
    SELECT asset_id AS ref FROM records
    UNION SELECT CASE WHEN len(members) > 0 THEN asset_id ELSE 'chunk:' || chunk_id END FROM chunks
"""

_CLAIMS = """
CREATE TEMP TABLE claims AS
    WITH claimed AS (
        SELECT src_asset_ref, dst_asset_ref, relation_type,
            arg_min(confidence, part) AS confidence, arg_min(provenance, part) AS provenance
        FROM lake_asset_asset_edges AS found ANTI JOIN lost ON lost.ref = src_asset_ref AND lost.part = found.part
        GROUP BY src_asset_ref, dst_asset_ref, relation_type),
    sourced AS (SELECT * FROM claimed SEMI JOIN refs ON ref = src_asset_ref),
    ends AS (SELECT ref FROM refs UNION SELECT dst_asset_ref FROM sourced WHERE relation_type = 'thread_member')
    SELECT claimed.*, source.ref IS NOT NULL AND target.ref IS NOT NULL AS holds
    FROM claimed LEFT JOIN refs AS source ON source.ref = src_asset_ref
    LEFT JOIN ends AS target ON target.ref = dst_asset_ref
"""

_NOTHING_PUBLISHED = """
CREATE TEMP VIEW published AS
    SELECT '' AS src_asset_ref, '' AS dst_asset_ref, '' AS relation_type, NULL::TIMESTAMP AS created_at WHERE false
"""

_PUBLISHED = """
CREATE TEMP VIEW published AS
    SELECT src_asset_ref, dst_asset_ref, relation_type, created_at FROM previous.asset_asset_edges
"""

_EDGES = """
INSERT INTO asset_asset_edges BY NAME
    SELECT row_number() OVER (ORDER BY src_asset_ref, dst_asset_ref, relation_type) AS id,
        src_asset_ref, dst_asset_ref, relation_type, confidence, provenance, coalesce(created_at, $at) AS created_at
    FROM claims LEFT JOIN published USING (src_asset_ref, dst_asset_ref, relation_type)
    WHERE holds ORDER BY id
"""

_PENDING = """
INSERT INTO pending_edges BY NAME
    SELECT relation_type, count(*) AS claims FROM claims WHERE NOT holds GROUP BY relation_type ORDER BY relation_type
"""

_FAILURES = """
INSERT INTO failures BY NAME
    SELECT DISTINCT ON (source, unit, location, fault) * EXCLUDE (part) FROM lake_failures
    ORDER BY source, unit, location, fault, part
"""

_DANGLING = {
    "edges_without_end": """
        WITH ends AS (SELECT asset_id AS ref FROM records UNION SELECT asset_id FROM chunks
            UNION SELECT 'chunk:' || chunk_id FROM chunks
            UNION SELECT dst_asset_ref FROM asset_asset_edges WHERE relation_type = 'thread_member')
        SELECT count(*) FROM asset_asset_edges
        WHERE src_asset_ref NOT IN (FROM ends) OR dst_asset_ref NOT IN (FROM ends)""",
    "chunks_without_record": """
        SELECT count(DISTINCT chunk_id) FROM (
            SELECT chunk_id, unnest(CASE WHEN len(members) > 0 THEN members ELSE [asset_id] END) AS asset_id FROM chunks
        ) ANTI JOIN records USING (asset_id)""",
}


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


def batches(path: Path, size: int = 4096) -> Iterator[pa.RecordBatch]:
    """All chunks of a catalog in the order of their ids, which they are stored in, with their person ids."""
    with _reading(path) as connection:
        yield from connection.sql("FROM chunks").to_arrow_reader(size)


def counts(path: Path) -> dict[str, int]:
    """Rows by table, as `build` returned them."""
    with _reading(path) as connection:
        return _counts(connection)


def removed(path: Path, previous: Path | None) -> int:
    """How many records the previous catalog has that this one has no more, or no longer with that text."""
    if previous is None:
        return 0
    with _reading(path) as connection:
        _attach(connection, previous)
        return _count(connection, "SELECT count(*) FROM previous.records ANTI JOIN records USING (asset_id, text)")


def dangling(path: Path) -> dict[str, int]:
    """How many edges lack an end and how many chunks lack a record; all zero in a sound catalog."""
    with _reading(path) as connection:
        return {name: _count(connection, query) for name, query in _DANGLING.items()}


def _fill(connection: duckdb.DuckDBPyConnection, parts: Parts, at: datetime, previous: Path | None) -> dict[str, int]:
    _attach_lake(connection, parts)
    _attach_published(connection, previous)
    indexes = []
    for name in _TABLES:
        create, *later = ddl(TABLES[name], _EXTRA.get(name, ()))
        connection.execute(create)
        indexes += later
    connection.execute(_LOST)
    if _count(connection, "SELECT count(*) FROM lost"):
        connection.execute(_LOST_CHUNKS)
        connection.execute(_LOST_TWINS)
    for statement in (_RECORDS, _IDENTIFIERS, _PEOPLE, _CHUNKS, _REFS, _CLAIMS):
        connection.execute(statement)
    connection.execute(_EDGES, {"at": at.astimezone(UTC).replace(tzinfo=None)})
    _count_terms(connection)
    for statement in (_PENDING, _FAILURES, *indexes):
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
        connection.execute(_NOTHING_PUBLISHED)
    else:
        _attach(connection, previous)
        connection.execute(_PUBLISHED)


def _attach(connection: duckdb.DuckDBPyConnection, previous: Path) -> None:
    quoted = str(previous).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS previous (READ_ONLY)")


@contextmanager
def _reading(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(path), read_only=True) as connection:
        yield connection


def _count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0
