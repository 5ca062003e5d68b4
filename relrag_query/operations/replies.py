"""Replies that only programs use; the others are in `service/`."""

from __future__ import annotations

from pydantic import BaseModel


class ChunkRow(BaseModel):
    """One passage of a batch."""

    id: str
    document: dict[str, str]
    chunk_metadata: dict[str, str | int | None]
    chunk_text: str


class ChunkBatch(BaseModel):
    """The known passages of a batch."""

    chunks: list[ChunkRow]
    count: int


class ChunksReply(BaseModel):
    """A batch in an envelope; a problem has the same two fields, with `data` null."""

    data: ChunkBatch
    error: None = None
