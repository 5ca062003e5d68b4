"""Dense vectors, one module a backend. So far there is none: search is by words (sparse only)."""

from __future__ import annotations

import pyarrow as pa

from relrag_pipelines.records import Embedding, arrow_schema


def embed(chunks: pa.Table, embedder: str) -> pa.Table:
    """Vectors of the chunks under the configured embedder; no rows with `none`."""
    if embedder != "none":
        raise ValueError(f"embedder {embedder!r} is not known")
    return arrow_schema(Embedding).empty_table()


def describe(embedder: str) -> str:
    """What the embedder does, in words for status and metadata."""
    return "sparse only" if embedder == "none" else embedder
