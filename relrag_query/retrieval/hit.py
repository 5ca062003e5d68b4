"""Hits, which the steps of a query pass on: a passage, its ranking score and its display score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from relrag_pipelines.records import Chunk

CONTEXT_EXPANSION = "context_expansion"
RECENCY_SUPPLEMENT = "recency_supplement"
ASSET_NEIGHBORHOOD = "asset_neighborhood"
"""roles of passages that were added for context only; what was searched for has none"""
ENTITY_STORE = "entity_store"
"""source of facts about people"""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat window."""

    asset_id: str
    sender: str | None
    ts: int | None
    text: str


@dataclass(frozen=True)
class QuotedPlace:
    """Where a quote begins."""

    ts: int | None = None
    """of a message: when it was sent, seconds, UTC; else the time of the record"""
    page: int | None = None
    """as printed in a viewer, from 1"""
    second: float | None = None
    """of a recording"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a step of the query added. A step that adds fields replaces it by a copy."""

    chunk: Chunk
    score: float
    """ranks within one query; without bounds, since it is a sum of term weights"""
    display_score: float
    """0 to 1, comparable between queries; what the display threshold reads"""
    role: str | None = None
    """why it was added, where it was not searched for"""
    promoted: bool = False
    """shown even though its role hides it: the question asked for it, or the answer cites it"""
    hit_of: str | None = None
    """of a sibling: chunk_id of the hit that brought it in, whose decision it shares"""
    related: str = ""
    """of one that a relation brought in: the record it is related to, why, and how sure that is, 0 to 1"""
    weight: float = 1.0
    """factor of its scores: below 1 for mail that was sent to many"""
    reply: Hit | None = None
    """of a mail that asks: the mail of its thread that replies"""
    similarity: float | None = None
    """cosine of its meaning to that of the question; None where it has no vector, or was not searched for"""
    rerank_score: float | None = None
    """how relevant a reranker finds it, 0 to 1; None where none was asked, or it was not searched for"""
    by_name: bool = False
    """contains a name from the best hits, so it need not contain a word of the question"""
    date_quality: str = ""
    """how its time is known, as `records.Record.date_quality` says; empty of TIMED_TYPES, whose time counts as known"""
    in_time: bool = False
    """whether it lies within the time that the question mentions"""
    of_matter: bool = False
    """of a follow-up: whether it is of a record or thread that its earlier question leads to"""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """fields that only this kind of record has"""
    members: tuple[str, ...] = ()
    """of a chat window: its messages, and those of the windows that it stands for"""
    messages: tuple[Message, ...] = ()
    """`members` as far as they exist, in order of time"""
    matching: tuple[int, ...] = ()
    """positions in `messages` of those that contain words of the question"""
    writer_ids: tuple[int, ...] = ()
    """person_ids of its writers, if a step looked them up"""
    why: str = ""
    """why a step brought it in, for the trace"""

    @property
    def is_bulk(self) -> bool:
        """Whether it was sent to many, as a newsletter is."""
        return self.weight < 1.0

    @property
    def dated_by_file(self) -> bool:
        """Whether its time is only that of its file, which may just have been copied."""
        return self.date_quality == "modified"

    @property
    def is_undated(self) -> bool:
        """Whether its time does not say when it was written: a file's time, or one outside the archive's months."""
        return self.date_quality in ("modified", "outside")

    @property
    def span(self) -> tuple[int | None, int | None]:
        """The seconds of its first and last message, UTC; of a document of which only the year is known, of that."""
        first = self.chunk.ts
        if self.date_quality != "year" or first is None:
            return first, self.chunk.last_ts
        year = datetime.fromtimestamp(first, UTC).year
        return first, int(datetime(year, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp())

    @property
    def ref(self) -> str:
        """The chunk's name in the edge table."""
        return self.chunk.asset_id if self.chunk.members else f"chunk:{self.chunk.chunk_id}"

    @property
    def source(self) -> str:
        """Name of its source; `entity_store` for a person's facts, `system` for what no source holds."""
        return self.chunk.source

    @property
    def source_role(self) -> str | None:
        """`role`, by the name that the display filter knows."""
        return self.role

    @property
    def sender(self) -> str | None:
        """Who wrote it."""
        return self.chunk.from_

    @property
    def chat_name(self) -> str | None:
        """Name of the chat, for a chat window."""
        return self.chunk.subject if self.chunk.members else None

    @property
    def rag_source_type(self) -> str:
        """What it is: email, whatsapp, call_recording, ..."""
        return self.chunk.rag_source_type

    @property
    def text(self) -> str:
        """The passage."""
        return self.chunk.text


def drop_context(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without passages that were only added as context."""
    replies = {hit.reply.chunk.chunk_id for hit in hits if hit.reply}
    around = (CONTEXT_EXPANSION, RECENCY_SUPPLEMENT)
    return [hit for hit in hits if hit.role not in around or hit.chunk.chunk_id in replies]
