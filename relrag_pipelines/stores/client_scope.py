"""An open catalog limited to the records of some clients, so that nothing of another can be read through it.

Every table that readers ask becomes a view of what is theirs. A passage is theirs if each of its messages is, an edge
if both its ends are. What is known of people comes from the records of all clients and is left out whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from relrag_pipelines.stores import catalog, term_counts

_ALL = "every_{table}"
"""the view of a table as it was"""
_RECORDS = "SELECT * FROM every_records WHERE client_id IN (SELECT unnest({clients}))"
_HIDDEN = """
    CREATE TABLE hidden_chunks AS SELECT DISTINCT chunk_id
    FROM (SELECT chunk_id, unnest(members) AS member FROM every_chunks WHERE client_id IN (SELECT unnest({clients})))
    WHERE member NOT IN (SELECT asset_id FROM records)
"""
_CHUNKS = """
    SELECT * REPLACE ([]::BIGINT[] AS person_ids, []::BIGINT[] AS mentioned_person_ids) FROM every_chunks
    WHERE client_id IN (SELECT unnest({clients})) AND chunk_id NOT IN (FROM hidden_chunks)
"""
_REFS = """
    CREATE TABLE scope_refs AS SELECT asset_id AS ref FROM records
    UNION SELECT asset_id FROM chunks UNION SELECT 'chunk:' || chunk_id FROM chunks
"""
_EDGES = """
    SELECT * FROM every_asset_asset_edges
    WHERE (src_asset_ref IN (FROM scope_refs) OR starts_with(src_asset_ref, 'thread:'))
        AND (dst_asset_ref IN (FROM scope_refs) OR starts_with(dst_asset_ref, 'thread:'))
        AND (src_asset_ref IN (FROM scope_refs) OR dst_asset_ref IN (FROM scope_refs))
"""


def limit(connection: duckdb.DuckDBPyConnection, clients: Sequence[str]) -> None:
    """Limits a catalog that `catalog.open` gave; its cursors are limited with it. Words are counted again."""
    listed = "[" + ", ".join(catalog.quote(client) for client in clients) + "]::VARCHAR[]"
    shown = {"records": _RECORDS, "chunks": _CHUNKS, "asset_asset_edges": _EDGES}
    for table in catalog.STORED:
        connection.execute(f"ALTER VIEW {table} RENAME TO {_ALL.format(table=table)}")
    for table in catalog.STORED:
        if table == "chunks":
            connection.execute(_HIDDEN.format(clients=listed))
        if table == "asset_asset_edges":
            connection.execute(_REFS)
        nothing = f"SELECT * FROM {_ALL.format(table=table)} WHERE false"  # noqa: S608
        query = shown.get(table, nothing).format(clients=listed)
        if table == "terms":
            connection.execute(f"CREATE TABLE terms AS {nothing}")
            term_counts.write(connection)
        else:
            connection.execute(f"CREATE VIEW {table} AS {query}")
