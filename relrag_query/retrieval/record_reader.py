"""Reads whole records, and what lists and payloads give of records and passages, from a published catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import orjson

from relrag_pipelines.records import Chunk, Record
from relrag_query.retrieval.catalog_reader import Connection, layout_of
from relrag_query.retrieval.excerpts import plain

_RECORD = "SELECT * FROM records WHERE asset_id = $key"
_RECORD_EXISTS = "SELECT 1 FROM records WHERE asset_id = $key OR ends_with(asset_id, ':' || $key) LIMIT 1"
_SUCCESSORS = """
    SELECT * EXCLUDE (person_ids, mentioned_person_ids, created_at) FROM chunks
    WHERE starts_with(asset_id, $chat)
        AND len(list_filter(members, lambda ref: contains($window, substr(ref, $kind) || ':'))) > 0
    ORDER BY ts DESC, chunk_id
"""
_CREATED_AT = """
    SELECT chunk_id, created_at FROM chunks
    WHERE chunk_id IN (SELECT unnest($keys)) OR asset_id IN (SELECT unnest($keys)) ORDER BY asset_id, chunk_index
"""
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
_WINDOW_MARK = ":chunk:"
"""separates kind and chat in the id of a chat window"""
_PREVIEW_CHARS = 240
"""characters of a preview in a list"""
_PREVIEW_SOURCE_CHARS = 1200
"""characters that are read for a preview: more than it shows, since front matter is left out"""


@dataclass(frozen=True)
class Brief:
    """A record, chat window or passage as a list shows it."""

    ref: str
    rag_source_type: str
    sender: str | None
    title: str
    ts: int | None
    date_quality: str
    preview: str


class IndexEntry(NamedTuple):
    """When a passage was first published (ISO 8601, UTC), and the ids of its points."""

    created_at: str
    vector_store_ids: list[str]


def record(connection: Connection, asset_id: str) -> Record | None:
    """The record with this id, as redacted in the index; None if there is none."""
    row = connection.execute(_RECORD, {"key": asset_id}).fetchone()
    if row is None:
        return None
    result = Record(*row)
    result.extra = orjson.loads(cast(str, result.extra))
    result.pages, result.spoken = layout_of(result.pages, result.spoken)
    return result


def is_record_id(connection: Connection, native_id: str) -> bool:
    """Whether a record has this id, or an id that ends with a colon and this."""
    return connection.execute(_RECORD_EXISTS, {"key": native_id}).fetchone() is not None


def successors(connection: Connection, asset_id: str) -> list[Chunk]:
    """The chat windows that hold the first message of a window of an earlier generation; the latest first.

    The id of a window contains its chat and its first and last message, so it changes when messages follow.
    """
    kind, mark, window = asset_id.partition(_WINDOW_MARK)
    if not mark:
        return []
    values = {"chat": f"{kind}{mark}{window.partition(':')[0]}:", "window": f":{window}", "kind": len(kind) + 1}
    return [Chunk(*row) for row in connection.execute(_SUCCESSORS, values).fetchall()]


def created_at(connection: Connection, refs: Sequence[str]) -> dict[str, str]:
    """When each of these passages, or passages of these records, was first published: chunk_id -> ISO 8601, UTC."""
    rows = connection.execute(_CREATED_AT, {"keys": list(refs)}).fetchall()
    return {chunk_id: f"{time.isoformat('T', 'seconds')}Z" for chunk_id, time in rows}


def briefs(connection: Connection, refs: Sequence[str]) -> dict[str, Brief]:
    """The brief of each ref that exists, by ref; threads and recordings have none."""
    passages = [ref.removeprefix("chunk:") for ref in refs if ref.startswith("chunk:")]
    rows = connection.execute(
        _BRIEFS, {"keys": list(refs), "chunks": passages, "length": _PREVIEW_SOURCE_CHARS}
    ).fetchall()
    return {
        ref: Brief(ref, kind, sender, title, ts, quality or "", _cut(plain(text or "", kind)))
        for ref, kind, sender, title, ts, quality, text in rows
    }


def _cut(text: str) -> str:
    """The beginning of a text, with an ellipsis if the text is longer."""
    return f"{text[:_PREVIEW_CHARS]}…" if len(text) > _PREVIEW_CHARS else text
