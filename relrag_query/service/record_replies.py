"""Records, passages and threads with their relations, as models that serialise to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field

from relrag_pipelines.records import Chunk, Record
from relrag_pipelines.stores.neighbors import Neighbor
from relrag_query.retrieval.record_reader import Brief, IndexEntry
from relrag_query.service.cursors import cursor, offset_of
from relrag_query.service.person_replies import PersonReply
from relrag_query.service.replies import local_time

MAX_TEXT_CHARACTERS = 100_000
"""maximum text of a record in one reply of the API"""


class BriefReply(BaseModel, serialize_by_alias=True):
    """What a list says of a record, passage or thread; nothing but `ref` for what the catalog has no row of."""

    ref: str
    rag_source_type: str = ""
    sender: str | None = Field(None, serialization_alias="from")
    title: str = ""
    time: str | None = None
    preview: str = ""


class NeighborReply(BriefReply, serialize_by_alias=True):
    """What something is related to, and how."""

    relation_type: str
    direction: Literal["in", "out"] = Field(description="out: from what was asked about to this one")
    confidence: float
    provenance: str = Field(description="what the relation was read from")


class RecordReply(BaseModel, serialize_by_alias=True):
    """One record, whole."""

    asset_id: str
    rag_source_type: str
    source: str
    kind: str
    time: str | None
    date_quality: str
    sender: str | None = Field(serialization_alias="from")
    to: list[str]
    participants: list[str]
    subject: str | None
    file_name: str | None
    content_type: str | None
    language: str | None
    thread_id: str | None
    parent_asset_id: str | None
    locations: list[str]
    source_uri: str | None
    pages: list[tuple[int, int, int]] = Field(description="number, start and end in `text` of each page")
    text: str
    vector_store_ids: list[str] = Field(default_factory=list, description="ids of the points of its passages")
    apart: dict[str, str] = Field(description="quoted, forwarded, signature: what stands apart from the text")


class PassageReply(BaseModel, serialize_by_alias=True):
    """One passage as it is indexed."""

    chunk_id: str
    asset_id: str
    chunk_index: int
    chunk_count: int
    rag_source_type: str
    source: str
    time: str | None
    sender: str | None = Field(serialization_alias="from")
    subject: str | None
    file_name: str | None
    thread_id: str | None
    page_number: int | None
    last_page_number: int | None
    start_second: float | None
    end_second: float | None
    section: str | None
    members: list[str]
    chunk_group_id: str
    parent_asset_id: str | None
    parent_ref: str | None
    index_in_parent: int | None
    total_siblings: int | None
    content_type: str | None
    language: str | None
    client_id: str | None
    project_id: str | None
    created_at: str | None = Field(description="when it was first published: ISO 8601, UTC")
    vector_store_ids: list[str] = Field(description="ids of its points in Qdrant")
    text: str


class ShowReply(BaseModel, serialize_by_alias=True):
    """What an id names, which may be a person, and what that is related to."""

    ref: str
    generation: int
    record: RecordReply | None = None
    passages: list[PassageReply] = Field(default_factory=list)
    members: list[BriefReply] = Field(default_factory=list, description="of a thread: its newest records, newest first")
    related: list[NeighborReply] = Field(default_factory=list)
    person: PersonReply | None = None
    next_cursor: str | None = Field(default=None, description="where the text of a long record goes on")


class ThreadReply(BaseModel, serialize_by_alias=True):
    """The records of a thread, newest first."""

    thread_id: str
    generation: int
    members: list[BriefReply]
    next_cursor: str | None = None


class NeighborsReply(BaseModel, serialize_by_alias=True):
    """What something is directly related to."""

    ref: str
    generation: int
    neighbors: list[NeighborReply]
    next_cursor: str | None = None


def record_reply(record: Record, zone: ZoneInfo, entries: Mapping[str, IndexEntry]) -> RecordReply:
    """The reply for a record; `entries` are those of its passages."""
    same = ("asset_id", "rag_source_type", "source", "kind", "date_quality", "to", "participants", "subject")
    more = ("file_name", "content_type", "language", "thread_id", "parent_asset_id", "locations", "source_uri", "text")
    return RecordReply(
        **{name: getattr(record, name) for name in (*same, *more)},
        time=local_time(record.ts, zone, record.rag_source_type, record.date_quality),
        sender=record.from_,
        pages=[(page.number, page.start, page.end) for page in record.pages],
        vector_store_ids=[point for entry in entries.values() for point in entry.vector_store_ids],
        apart={section: str(text) for section, text in record.extra.get("apart", {}).items()},
    )


def record_part(reply: ShowReply, after: str | None) -> ShowReply:
    """The part of a long record at a cursor: first `text`, then `apart`. Only the first part has the relations.

    The offsets in `pages` refer to the whole text. Raises CursorError.
    """
    if reply.record is None:
        return reply
    start, position = offset_of(after, reply.generation), 0
    end, parts = start + MAX_TEXT_CHARACTERS, dict[str, str]()
    for name, text in {"": reply.record.text, **reply.record.apart}.items():
        parts[name] = text[max(0, start - position) : max(0, end - position)]
        position += len(text)
    text = parts.pop("")
    record = reply.record.model_copy(
        update={"text": text, "apart": {name: part for name, part in parts.items() if part}}
    )
    next_cursor = cursor(reply.generation, end) if end < position else None
    related = [] if start else reply.related
    return reply.model_copy(update={"record": record, "related": related, "next_cursor": next_cursor})


def passage_reply(chunk: Chunk, zone: ZoneInfo, entry: IndexEntry | None) -> PassageReply:
    """The reply for a passage; `entry` is what its index knows of it."""
    same = set(PassageReply.model_fields) - {"time", "sender", "created_at", "vector_store_ids"}
    return PassageReply(
        **{name: getattr(chunk, name) for name in same},
        time=local_time(chunk.ts, zone, chunk.rag_source_type, chunk.date_quality or ""),
        sender=chunk.from_,
        created_at=entry.created_at if entry else None,
        vector_store_ids=entry.vector_store_ids if entry else [],
    )


def brief_reply(ref: str, briefs: dict[str, Brief], zone: ZoneInfo) -> BriefReply:
    """A row of a list of records."""
    return BriefReply(ref=ref, **_brief(briefs.get(ref), zone))


def neighbor_reply(neighbor: Neighbor, briefs: dict[str, Brief], zone: ZoneInfo) -> NeighborReply:
    """A relation, with a brief of the record at its other end."""
    return NeighborReply(
        ref=neighbor.asset_ref,
        relation_type=neighbor.relation_type,
        direction="out" if neighbor.direction == "out" else "in",
        confidence=neighbor.confidence,
        provenance=neighbor.provenance,
        **_brief(briefs.get(neighbor.asset_ref), zone),
    )


def _brief(brief: Brief | None, zone: ZoneInfo) -> dict[str, Any]:
    if brief is None:
        return {}
    fields = {name: getattr(brief, name) for name in ("rag_source_type", "sender", "title", "preview")}
    return {**fields, "time": local_time(brief.ts, zone, brief.rag_source_type, brief.date_quality)}
