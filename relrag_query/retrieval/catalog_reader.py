"""Reads passages, messages and records from a published catalog, many at a time: a query costs more than its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import duckdb
import orjson

from relrag_pipelines.records import Chunk, Page, Record, SpeechSegment
from relrag_pipelines.sources import COMMIT_REF
from relrag_pipelines.workers import cancellation
from relrag_query.retrieval.excerpts import plain
from relrag_query.retrieval.hit import Message

Connection = duckdb.DuckDBPyConnection

_OF_IDS = """
    SELECT * EXCLUDE (person_ids, mentioned_person_ids) FROM chunks WHERE chunk_id IN (SELECT unnest($keys))
"""
_OF_GROUPS = """
    SELECT * EXCLUDE (person_ids, mentioned_person_ids) FROM chunks
    WHERE chunk_group_id IN (SELECT unnest($keys)) ORDER BY chunk_group_id, chunk_index
"""
_OF_ASSETS = """
    SELECT * EXCLUDE (person_ids, mentioned_person_ids) FROM chunks
    WHERE asset_id IN (SELECT unnest($keys)) ORDER BY asset_id, chunk_index
"""
_SUCCESSORS = """
    SELECT * EXCLUDE (person_ids, mentioned_person_ids) FROM chunks
    WHERE starts_with(asset_id, $chat)
        AND len(list_filter(members, lambda one: contains($window, substr(one, $kind) || ':'))) > 0
    ORDER BY ts DESC, chunk_id
"""
_FOLLOWING = """
    SELECT * EXCLUDE (person_ids, mentioned_person_ids) FROM chunks
    WHERE thread_id = $thread AND last_ts > $ts AND index_in_parent IS NULL AND chunk_index = 0 AND section IS NULL
    ORDER BY ts, chunk_id LIMIT $limit
"""
_OF_SPANS = """
    SELECT DISTINCT c.* EXCLUDE (person_ids, mentioned_person_ids)
    FROM chunks c, (SELECT unnest($threads) AS thread, unnest($firsts) AS first, unnest($lasts) AS last) span
    WHERE c.thread_id = span.thread AND c.last_ts >= span.first AND c.ts <= span.last AND len(c.members) > 0
    ORDER BY c.ts, c.chunk_id
"""
_NEWEST_OF_CHATS = """
    SELECT arg_max(chunk_id, (last_ts, chunk_id)) FROM chunks
    WHERE thread_id IN (SELECT unnest($threads)) AND len(members) > 0 GROUP BY thread_id
"""
_MESSAGES = """SELECT asset_id, "from", ts, text FROM records WHERE asset_id IN (SELECT unnest($keys))"""
_EXTRA = "SELECT asset_id, extra FROM records WHERE asset_id IN (SELECT unnest($keys))"
_LOCATIONS = "SELECT asset_id, locations FROM records WHERE asset_id IN (SELECT unnest($keys))"
_LAYOUTS = "SELECT asset_id, pages, spoken FROM records WHERE asset_id IN (SELECT unnest($keys))"
_NAMED = "SELECT 1 FROM records WHERE asset_id = $key OR ends_with(asset_id, ':' || $key) LIMIT 1"
_OF_COMMIT = "SELECT asset_id FROM records WHERE asset_id >= $first AND asset_id < $behind LIMIT 2"
_OF_FILE = """
    SELECT file_name, any_value(asset_id) FROM indexed_records WHERE file_name IN (SELECT unnest($names))
    GROUP BY file_name HAVING count(*) = 1
"""
_BY_NAME = """
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
_RECORD = "SELECT * FROM records WHERE asset_id = $key"
_BRIEFS = """
    SELECT asset_id, rag_source_type, "from",
        if(parent_asset_id IS NULL, coalesce(subject, file_name, ''), coalesce(file_name, subject, '')),
        ts, date_quality, left(text, $length)
    FROM records WHERE asset_id IN (SELECT unnest($keys))
    UNION ALL
    SELECT asset_id, rag_source_type, "from", coalesce(subject, file_name, ''), ts, date_quality,
        left(text, $length)
    FROM chunks WHERE asset_id IN (SELECT unnest($keys)) AND chunk_index = 0 AND len(members) > 0
    UNION ALL
    SELECT 'chunk:' || chunk_id, rag_source_type, "from", coalesce(subject, file_name, ''), ts, date_quality,
        left(text, $length)
    FROM chunks WHERE chunk_id IN (SELECT unnest($chunks))
"""
_WINDOW = ":chunk:"
"""in the id of a chat window, between its kind and its chat"""
_PREVIEW = 240
"""characters of a text in a list"""
_PREVIEWED = 1200
"""characters that are read for these: front matter is left out"""


@dataclass(frozen=True)
class Brief:
    """What a list says of a record, chat window or passage."""

    ref: str
    rag_source_type: str
    sender: str | None
    title: str
    ts: int | None
    date_quality: str
    preview: str


class Layout(NamedTuple):
    """Where the pages of a record lie in its text, and when its stretches are said."""

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
    return {row[0]: Chunk(*row) for row in connection.execute(_OF_IDS, {"keys": list(chunk_ids)}).fetchall()}


def group_chunks(connection: Connection, chunk_group_ids: Sequence[str]) -> list[Chunk]:
    """All passages of these groups in the order of their texts."""
    return [Chunk(*row) for row in connection.execute(_OF_GROUPS, {"keys": list(chunk_group_ids)}).fetchall()]


def asset_chunks(connection: Connection, asset_ids: Sequence[str]) -> list[Chunk]:
    """All passages of these records in the order of their texts."""
    return [Chunk(*row) for row in connection.execute(_OF_ASSETS, {"keys": list(asset_ids)}).fetchall()]


def successors(connection: Connection, asset_id: str) -> list[Chunk]:
    """The chat windows that now hold the first message of a window that an earlier generation had; the latest first.

    A window is named by its chat and its first and last message, so it is another one once messages follow.
    """
    kind, mark, window = asset_id.partition(_WINDOW)
    if not mark:
        return []
    values = {"chat": f"{kind}{mark}{window.partition(':')[0]}:", "window": f":{window}", "kind": len(kind) + 1}
    return [Chunk(*row) for row in connection.execute(_SUCCESSORS, values).fetchall()]


def following_chunks(connection: Connection, thread_id: str, ts: int, limit: int) -> list[Chunk]:
    """The first passages of a thread that end after a time, in order of time; nothing that is attached."""
    values = {"thread": thread_id, "ts": ts, "limit": limit}
    return [Chunk(*row) for row in connection.execute(_FOLLOWING, values).fetchall()]


def overlapping_windows(connection: Connection, spans: Sequence[tuple[str, int, int]]) -> list[Chunk]:
    """The chat windows that overlap one of these spans of a chat: its id, first and last second, UTC; by time."""
    threads, firsts, lasts = (list(values) for values in zip(*spans, strict=True))
    values = {"threads": threads, "firsts": firsts, "lasts": lasts}
    return [Chunk(*row) for row in connection.execute(_OF_SPANS, values).fetchall()]


def newest_windows(connection: Connection, thread_ids: Sequence[str]) -> list[Chunk]:
    """The newest window of each of these chats, in their order."""
    ids = [one for (one,) in connection.execute(_NEWEST_OF_CHATS, {"threads": list(thread_ids)}).fetchall()]
    return sorted(chunks(connection, ids).values(), key=lambda one: thread_ids.index(str(one.thread_id)))


def messages(connection: Connection, asset_ids: Sequence[str]) -> dict[str, Message]:
    """The messages of these ids that exist, by id."""
    rows = connection.execute(_MESSAGES, {"keys": list(asset_ids)}).fetchall()
    return {row[0]: Message(*row) for row in rows}


def extras(connection: Connection, asset_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What only their kind has, of these records, by asset_id."""
    rows = connection.execute(_EXTRA, {"keys": list(asset_ids)}).fetchall()
    return {asset_id: orjson.loads(extra) for asset_id, extra in rows}


def locations(connection: Connection, asset_ids: Sequence[str]) -> dict[str, list[str]]:
    """Where the originals of these records lie, by asset_id."""
    return dict(connection.execute(_LOCATIONS, {"keys": list(asset_ids)}).fetchall())


def layouts(connection: Connection, asset_ids: Sequence[str]) -> dict[str, Layout]:
    """Pages and times of these records, by asset_id."""
    rows = connection.execute(_LAYOUTS, {"keys": list(asset_ids)}).fetchall()
    return {row[0]: Layout(*_layout(*row[1:])) for row in rows}


def record(connection: Connection, asset_id: str) -> Record | None:
    """The record of that id, redacted as it stands in the index."""
    row = connection.execute(_RECORD, {"key": asset_id}).fetchone()
    if row is None:
        return None
    found = Record(*row)
    found.extra = orjson.loads(cast(str, found.extra))
    found.pages, found.spoken = _layout(found.pages, found.spoken)
    return found


def briefs(connection: Connection, refs: Sequence[str]) -> dict[str, Brief]:
    """What a list says of each of these that exists, by ref; threads and recordings have nothing to say."""
    passages = [ref.removeprefix("chunk:") for ref in refs if ref.startswith("chunk:")]
    rows = connection.execute(_BRIEFS, {"keys": list(refs), "chunks": passages, "length": _PREVIEWED}).fetchall()
    return {
        ref: Brief(ref, kind, sender, title, ts, quality or "", _cut(plain(text or "", kind)))
        for ref, kind, sender, title, ts, quality, text in rows
    }


def _cut(text: str) -> str:
    """The beginning of a text, which tells that it goes on."""
    return f"{text[:_PREVIEW]}…" if len(text) > _PREVIEW else text


def _layout(pages: Any, spoken: Any) -> tuple[list[Page], list[SpeechSegment]]:
    return [Page(**one) for one in pages], [SpeechSegment(**one) for one in spoken or []]


def is_record_id(connection: Connection, native_id: str) -> bool:
    """Whether a record's id is, or ends behind a colon in, this."""
    return connection.execute(_NAMED, {"key": native_id}).fetchone() is not None


def commits_and_files(connection: Connection, hashes: Sequence[str], files: Sequence[str]) -> list[str]:
    """The commits whose hash begins so and the records of these files, where exactly one does or has that name."""
    found: list[str] = []
    for said in hashes:
        keys = {"first": f"{COMMIT_REF}{said}", "behind": f"{COMMIT_REF}{said}g"}  # no hash has a g
        rows = connection.execute(_OF_COMMIT, keys).fetchall()
        found += rows[0] if len(rows) == 1 else ()
    known = dict(connection.execute(_OF_FILE, {"names": list(files)}).fetchall()) if files else {}
    return list(dict.fromkeys([*found, *(known[name] for name in files if name in known)]))


def refs_by_name(
    connection: Connection, files: Sequence[str], numbers: Sequence[str], subjects: Sequence[str]
) -> list[str]:
    """The records with these names of files, reference numbers and subjects, where exactly one has it; by id."""
    values = {
        "files": [name.lower() for name in files],
        "subjects": [subject.strip().lower() for subject in subjects],
        "numbers": list(numbers),
    }
    return list(dict.fromkeys(ref for ref, _ in connection.execute(_BY_NAME, values).fetchall()))


def frequencies(connection: Connection) -> dict[str, int]:
    """How many passages hold a term, of those counted; under the empty term how many were counted."""
    return dict(connection.execute("FROM terms").fetchall())


def concerns(connection: duckdb.DuckDBPyConnection, chunk_id: str, person_ids: Sequence[int]) -> bool:
    """Whether one of these people wrote, received, took part in or is named in a passage."""
    return bool(
        connection.execute(
            "SELECT list_has_any(list_concat(person_ids, mentioned_person_ids), $ids) FROM chunks WHERE chunk_id = $id",
            {"id": chunk_id, "ids": list(person_ids)},
        ).fetchone()
        == (True,)
    )


def newest(connection: Connection, now: int, sources: Sequence[str] = (), kinds: Sequence[str] = ()) -> int | None:
    """When the newest record of these sources and kinds, or of all, was written whose time is sure, seconds, UTC.

    None where there is none. The time of a file is that of its last copy, so it does not count, nor does what is dated
    after `now`.
    """
    values = {"now": now, "sources": list(sources), "kinds": list(kinds)}
    row = connection.execute(_NEWEST, values).fetchone()
    return row[0] if row else None
