"""What a generation holds, in figures and names, for a page that shows it before anything is asked."""

from __future__ import annotations

from collections.abc import Collection

import duckdb

from relrag_pipelines.sources import RECORD_TYPES

_SUBJECTS = """
    SELECT arg_min(subject, coalesce(ts, 0)) FROM records
    WHERE thread_id IS NOT NULL AND subject IS NOT NULL AND list_contains($mails, rag_source_type)
    GROUP BY thread_id HAVING count(DISTINCT "from") > 1
    ORDER BY count(*) DESC, max(ts) DESC, thread_id LIMIT $limit
"""
"""of mails that somebody replied to: what is sent to many has threads too"""


def frequent_subjects(connection: duckdb.DuckDBPyConnection, limit: int) -> list[str]:
    """Subjects of the mail threads with most mails, redacted as in the index."""
    mails = [kind.name for kind in RECORD_TYPES.values() if kind.mail]
    rows = connection.execute(_SUBJECTS, {"mails": mails, "limit": limit}).fetchall()
    return [subject for (subject,) in rows]


def people_of_passages(connection: duckdb.DuckDBPyConnection, chunk_ids: Collection[str]) -> list[list[int]]:
    """For each passage, the ids of the people who wrote, received or took part in it, or whom it names."""
    rows = connection.execute(
        "SELECT list_concat(person_ids, mentioned_person_ids) FROM chunks WHERE chunk_id IN (SELECT unnest($ids))",
        {"ids": [*chunk_ids]},
    ).fetchall()
    return [ids for (ids,) in rows]
