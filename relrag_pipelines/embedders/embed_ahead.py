"""The vectors of many months' new texts, computed in batches by other processes and kept as each batch comes back.

Only this process writes the cache. A sync that is killed goes on where it was: what came back is not embedded again.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from relrag_pipelines.embedders import embed_chunks
from relrag_pipelines.embedders.embed_chunks import EmbeddingCounts, Hash
from relrag_pipelines.embedders.protocol import Embedder, ModelInfo
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.stores import vector_cache
from relrag_pipelines.stores.vectors.protocol import Vectors


class Batch(NamedTuple):
    """Texts of a month that are embedded together."""

    month: str
    hashes: list[str]
    texts: list[str]


class EmbeddedBatch(NamedTuple):
    """Their vectors, a row each, and how many tokens they have."""

    month: str
    hashes: list[str]
    vectors: Vectors
    tokens: int


def embed(
    months: Iterable[tuple[str, pa.Table]],
    model: ModelInfo,
    embed_each: Callable[[Iterator[Batch]], Iterable[EmbeddedBatch]],
    keyed: Hash,
    home: Path,
) -> Mapping[str, EmbeddingCounts]:
    """Embeds the texts of the months' passages that have no vector yet; what that took, by month."""
    counts: defaultdict[str, EmbeddingCounts] = defaultdict(EmbeddingCounts)
    with vector_cache.open(home) as cache:
        for batch in embed_each(_new_batches(months, model, keyed, cache)):
            failpoint("vector_cache.commit", vector_cache.path(home))
            vector_cache.keep(cache, model.name, batch.hashes, batch.vectors)
            counts[batch.month].texts += len(batch.hashes)
            counts[batch.month].tokens += batch.tokens
    return counts


def _new_batches(
    months: Iterable[tuple[str, pa.Table]], model: ModelInfo, keyed: Hash, cache: sqlite3.Connection
) -> Iterator[Batch]:
    """The batches in which `embed_chunks.embed` would embed month after month."""
    sent: set[str] = set()
    for month, chunks in months:
        texts = embed_chunks.texts_to_embed(chunks, model, keyed).texts
        cached = vector_cache.find(cache, model.name, list(texts))
        missing = sorted(texts.keys() - cached.keys() - sent, key=lambda key: (len(texts[key]), key))
        sent.update(missing)
        for hashes in embed_chunks.batches(missing, texts, model):
            yield Batch(month, hashes, [texts[key] for key in hashes])


def embed_batch(embedder: Embedder, batch: Batch) -> EmbeddedBatch:
    """What one process computes; EmbeddingError goes through."""
    return EmbeddedBatch(batch.month, batch.hashes, *embedder.documents(batch.texts))
