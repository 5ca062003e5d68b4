"""Reads passages and messages from a published catalog, many per query, since each query has a fixed cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import duckdb
import orjson

from relrag_pipelines.records import Chunk, Page, SpeechSegment
from relrag_pipelines.sources import COMMIT_REF, RECORD_TYPES
from relrag_pipelines.workers import cancellation
from relrag_query.retrieval.hit import Message

Connection = duckdb.DuckDBPyConnection

_CHUNKS_BY_ID = """
    SELECT * EXCLUDE (person_ids, mentioned_person_ids, created_at) FROM chunks WHERE chunk_id IN (SELECT unnest($keys))
"""
_CHUNKS_BY_GROUP = """
    SELECT * EXCLUDE (person_ids, mentioned_person_ids, created_at) FROM chunks
    WHERE chunk_group_id IN (SELECT unnest($keys)) ORDER BY chunk_group_id, chunk_index
"""
_CHUNKS_BY_ASSET = """
    SELECT * EXCLUDE (person_ids, mentioned_person_ids, created_at) FROM chunks
    WHERE asset_id IN (SELECT unnest($keys)) ORDER BY asset_id, chunk_index
"""
_NEXT_CHUNKS = """
    SELECT * EXCLUDE (person_ids, mentioned_person_ids, created_at) FROM chunks
    WHERE thread_id = $thread AND last_ts > $ts AND chunk_index = 0 AND section IS NULL
        AND (index_in_parent IS NULL OR list_contains($whole, rag_source_type))
    ORDER BY ts, chunk_id LIMIT $limit
"""
_CHUNKS_BY_SPAN = """
    SELECT DISTINCT c.* EXCLUDE (person_ids, mentioned_person_ids, created_at)
    FROM chunks c, (SELECT unnest($threads) AS thread, unnest($firsts) AS first, unnest($lasts) AS last) span
    WHERE c.thread_id = span.thread AND c.last_ts >= span.first AND c.ts <= span.last AND len(c.members) > 0
    ORDER BY c.ts, c.chunk_id
"""
_NEWEST_CHUNK_IDS = """
    SELECT arg_max(chunk_id, (last_ts, chunk_id)) FROM chunks
    WHERE thread_id IN (SELECT unnest($threads)) AND len(members) > 0 GROUP BY thread_id
"""
_MESSAGES = """SELECT asset_id, "from", ts, text FROM records WHERE asset_id IN ({keys})"""  # so it uses the index
_EXTRA = "SELECT asset_id, extra FROM records WHERE asset_id IN (SELECT unnest($keys))"
_LOCATIONS = "SELECT asset_id, locations FROM records WHERE asset_id IN (SELECT unnest($keys))"
_LAYOUTS = "SELECT asset_id, pages, spoken FROM records WHERE asset_id IN (SELECT unnest($keys))"
_REFS_BY_COMMIT = "SELECT asset_id FROM records WHERE asset_id >= $first AND asset_id < $behind LIMIT 2"
_REFS_BY_FILE = """
    SELECT file_name, any_value(asset_id) FROM indexed_records WHERE file_name IN (SELECT unnest($names))
    GROUP BY file_name HAVING count(*) = 1
"""
_REFS_BY_NAME = """
    SELECT asset_id, name FROM (
        SELECT asset_id, lower(file_name) AS name FROM indexed_records WHERE lower(file_name) IN (SELECT unnest($files))
        UNION ALL
        SELECT asset_id, lower(subject) FROM indexed_records
        WHERE lower(subject) IN (SELECT unnest($subjects)) AND parent_asset_id IS NULL
        UNION ALL
        SELECT asset_id, unnest(list_intersect(numbers, $numbers)) FROM indexed_records
        WHERE list_has_any(numbers, $numbers))
    QUALIFY count(*) OVER (PARTITION BY name) = 1 ORDER BY asset_id
"""


class Layout(NamedTuple):
    """The positions of a record's pages in its text, and the times of its speech segments."""

    pages: list[Page]
    speech: list[SpeechSegment]


_NEWEST = """
    SELECT max(ts) FROM records WHERE ts <= $now AND date_quality IN ('exact', 'day', 'received', 'separator')
    AND (len($sources) = 0 OR source IN (SELECT unnest($sources)))
    AND (len($kinds) = 0 OR kind IN (SELECT unnest($kinds)))
"""


def chunks(connection: Connection, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
    """The passages of these ids that exist, by id."""
    cancellation.check()
    return {row[0]: Chunk(*row) for row in connection.execute(_CHUNKS_BY_ID, {"keys": list(chunk_ids)}).fetchall()}


def group_chunks(connection: Connection, chunk_group_ids: Sequence[str]) -> list[Chunk]:
    """All passages of these groups in the order of their texts."""
    return [Chunk(*row) for row in connection.execute(_CHUNKS_BY_GROUP, {"keys": list(chunk_group_ids)}).fetchall()]


def asset_chunks(connection: Connection, asset_ids: Sequence[str]) -> list[Chunk]:
    """All passages of these records in the order of their texts."""
    return [Chunk(*row) for row in connection.execute(_CHUNKS_BY_ASSET, {"keys": list(asset_ids)}).fetchall()]


def following_chunks(connection: Connection, thread_id: str, ts: int, limit: int) -> list[Chunk]:
    """The first passages of a thread that end after a time, in order of time; nothing that is attached."""
    whole = [name for name, type_ in RECORD_TYPES.items() if type_.passages_are_parts]
    values = {"thread": thread_id, "ts": ts, "limit": limit, "whole": whole}
    return [Chunk(*row) for row in connection.execute(_NEXT_CHUNKS, values).fetchall()]


def overlapping_windows(connection: Connection, spans: Sequence[tuple[str, int, int]]) -> list[Chunk]:
    """The chat windows that overlap one of these spans of a chat: its id, first and last second, UTC; by time."""
    threads, firsts, lasts = (list(values) for values in zip(*spans, strict=True))
    values = {"threads": threads, "firsts": firsts, "lasts": lasts}
    return [Chunk(*row) for row in connection.execute(_CHUNKS_BY_SPAN, values).fetchall()]


def newest_windows(connection: Connection, thread_ids: Sequence[str]) -> list[Chunk]:
    """The newest window of each of these chats, in their order."""
    ids = [chunk_id for (chunk_id,) in connection.execute(_NEWEST_CHUNK_IDS, {"threads": list(thread_ids)}).fetchall()]
    return sorted(chunks(connection, ids).values(), key=lambda chunk: thread_ids.index(str(chunk.thread_id)))


def messages(connection: Connection, asset_ids: Sequence[str]) -> dict[str, Message]:
    """The messages of these ids that exist, by id."""
    rows = connection.execute(_MESSAGES.format(keys="''" + ", ?" * len(asset_ids)), list(asset_ids)).fetchall()
    return {row[0]: Message(*row) for row in rows}


def extras(connection: Connection, asset_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The fields that only these records' kinds have, by asset_id."""
    rows = connection.execute(_EXTRA, {"keys": list(asset_ids)}).fetchall()
    return {asset_id: orjson.loads(extra) for asset_id, extra in rows}


def locations(connection: Connection, asset_ids: Sequence[str]) -> dict[str, list[str]]:
    """The locations of the originals of these records, by asset_id."""
    return dict(connection.execute(_LOCATIONS, {"keys": list(asset_ids)}).fetchall())


def layouts(connection: Connection, asset_ids: Sequence[str]) -> dict[str, Layout]:
    """Pages and times of these records, by asset_id."""
    rows = connection.execute(_LAYOUTS, {"keys": list(asset_ids)}).fetchall()
    return {row[0]: Layout(*layout_of(*row[1:])) for row in rows}


def layout_of(pages: Any, spoken: Any) -> tuple[list[Page], list[SpeechSegment]]:
    """Pages and segments of a row of the table of records."""
    return [Page(**fields) for fields in pages], [SpeechSegment(**fields) for fields in spoken or []]


def commits_and_files(connection: Connection, hashes: Sequence[str], files: Sequence[str]) -> list[str]:
    """Refs of commits with these hash prefixes and of records with these file names; ambiguous ones are left out."""
    refs: list[str] = []
    for digits in hashes:
        keys = {"first": f"{COMMIT_REF}{digits}", "behind": f"{COMMIT_REF}{digits}g"}  # no hash has a g
        rows = connection.execute(_REFS_BY_COMMIT, keys).fetchall()
        refs += rows[0] if len(rows) == 1 else ()
    refs_by_file = dict(connection.execute(_REFS_BY_FILE, {"names": list(files)}).fetchall()) if files else {}
    return list(dict.fromkeys([*refs, *(refs_by_file[name] for name in files if name in refs_by_file)]))


def refs_by_name(
    connection: Connection, files: Sequence[str], numbers: Sequence[str], subjects: Sequence[str]
) -> list[str]:
    """Refs of the records with these file names, reference numbers and subjects; ambiguous names are left out."""
    values = {
        "files": [name.lower() for name in files],
        "subjects": [subject.strip().lower() for subject in subjects],
        "numbers": list(numbers),
    }
    return list(dict.fromkeys(ref for ref, _ in connection.execute(_REFS_BY_NAME, values).fetchall()))


def frequencies(connection: Connection) -> dict[str, int]:
    """The number of counted passages that contain each term; under the empty term, the number counted."""
    return dict(connection.execute("FROM terms").fetchall())


def concerns(connection: duckdb.DuckDBPyConnection, chunk_id: str, person_ids: Sequence[int]) -> bool:
    """Whether one of these people wrote, received or took part in a passage, or is named in it."""
    return bool(
        connection.execute(
            "SELECT list_has_any(list_concat(person_ids, mentioned_person_ids), $ids) FROM chunks WHERE chunk_id = $id",
            {"id": chunk_id, "ids": list(person_ids)},
        ).fetchone()
        == (True,)
    )


def newest(connection: Connection, now: int, sources: Sequence[str] = (), kinds: Sequence[str] = ()) -> int | None:
    """Time of the newest record of these sources and kinds (default: all) with a reliable date, in seconds, UTC.

    None if there is none. The modification time of a file does not count, since it may be that of a copy; nor do dates
    after `now`.
    """
    values = {"now": now, "sources": list(sources), "kinds": list(kinds)}
    row = connection.execute(_NEWEST, values).fetchone()
    return row[0] if row else None
