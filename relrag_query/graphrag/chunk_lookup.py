"""Looks up names, pages and beginnings of chunks, for indexes whose documents are chunks of this archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relrag_query.archive import Archive
from relrag_query.graphrag.page_lookup import BATCH, UNKNOWN

PREVIEW = 200
"""characters of a chunk's text"""


def get_chunks_batch(archive: Archive, chunk_ids: Sequence[str]) -> dict[str, Any]:
    """`chunks` and their `count`: those of the first BATCH ids that exist.

    A chunk has `id`, `document.original_filename`, `chunk_metadata` and the beginning of its text, as `chunk_text`.
    """
    rows = [_row(archive, chunk_id) for chunk_id in dict.fromkeys(chunk_ids[:BATCH])]
    chunks = [row for row in rows if row]
    return {"chunks": chunks, "count": len(chunks)}


def _row(archive: Archive, chunk_id: str) -> dict[str, Any] | None:
    chunk = archive.chunk(chunk_id)
    if chunk is None:
        return None
    return {
        "id": chunk.chunk_id,
        "document": {"original_filename": chunk.file_name or chunk.subject or UNKNOWN},
        "chunk_metadata": {
            "page_number": chunk.page_number,
            "last_page_number": chunk.last_page_number,
            "chunk_index": chunk.chunk_index,
            "asset_id": chunk.asset_id,
        },
        "chunk_text": chunk.text[:PREVIEW],
    }
