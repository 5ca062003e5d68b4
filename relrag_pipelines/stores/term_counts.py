"""In how many passages of a catalog a word stands, counted in a sample of them."""

from __future__ import annotations

from collections import Counter

import duckdb

from relrag_pipelines.records import TermFrequency
from relrag_pipelines.stores.table_schema import to_table
from relrag_pipelines.text.analyzer import document_tokens

_COUNTED = 2_000
"""passages whose words are counted; chunk ids are hashes, so the first of them are a fair sample"""


def write(connection: duckdb.DuckDBPyConnection) -> None:
    """Counts the words of the passages of a catalog that is being built, into `terms`."""
    texts = connection.execute("SELECT text FROM chunks ORDER BY chunk_id LIMIT $limit", {"limit": _COUNTED}).fetchall()
    counted = Counter(term for (text,) in texts for term in set(document_tokens(text).split()))
    rows = [
        TermFrequency("", len(texts)),
        *(TermFrequency(term, counted[term]) for term in sorted(counted) if counted[term] > 1),
    ]
    connection.from_arrow(to_table(rows, TermFrequency)).insert_into("terms")
