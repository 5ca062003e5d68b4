"""The vectors of a month's passages: from the cache where the text was embedded before, else from the embedder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from relrag_pipelines.embedders.protocol import Embedder, ModelInfo
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.pii.pseudonyms import to_entity_type
from relrag_pipelines.records import Embedding
from relrag_pipelines.stores import vector_cache
from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_pipelines.stores.table_schema import arrow_schema
from relrag_pipelines.text.analyzer import index_text
from relrag_pipelines.text.language import is_english

Hash = Callable[[bytes], str]
"""the archive's keyed hash of a text"""


@dataclass
class EmbeddingCounts:
    """What embedding took."""

    passages: int = 0
    """passages with a vector"""
    sparse_only: int = 0
    """passages in languages that the model does not know, or beside a mail's own text"""
    texts: int = 0
    """different texts that were embedded now"""
    tokens: int = 0
    """that they have, as the embedder counts them"""
    usd: float = 0.0
    """what they cost by the list price; 0 where that is not known"""


def embedding_texts(chunks: pa.Table) -> list[str]:
    """What is embedded of each passage: itself and what is known of it, each pseudonym as its type."""
    names = ("text", "subject", "from", "file_name", "timestamp")
    return [to_entity_type(text) for text in map(index_text, *(chunks[name].to_pylist() for name in names))]


def supports_language(model: ModelInfo, text: str, language: str | None) -> bool:
    """Whether the model knows the language of a text; where that is not told, only English is recognised."""
    if not model.languages:
        return True
    if language:
        return language in model.languages
    return model.languages != ("en",) or is_english(text)


def chunks_to_embed(chunks: pa.Table, model: ModelInfo, keyed: Hash) -> tuple[list[int], list[str], dict[str, str]]:
    """Rows of the passages that get a vector, the hash of each one's text, and the different texts by hash.

    What stands beside a mail's own text, such as a signature, gets none: it is found by its words, and counts less.
    """
    texts = embedding_texts(chunks)
    said = enumerate(zip(*(chunks[name].to_pylist() for name in ("text", "language", "section")), strict=True))
    rows = [
        row for row, (text, language, section) in said if section is None and supports_language(model, text, language)
    ]
    hashes = [keyed(texts[row].encode("utf-8", "surrogatepass")) for row in rows]
    return rows, hashes, {key: texts[row] for key, row in zip(hashes, rows, strict=True)}


def embed(
    chunks: pa.Table,
    model: ModelInfo,
    load: Callable[[], Embedder],
    keyed: Hash,
    home: Path,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[pa.Table, EmbeddingCounts]:
    """Embedding rows of the passages, and what they took; `load` is called only if a text is new.

    Each batch is kept as soon as it is embedded. EmbeddingError goes through.
    """
    rows, hashes, texts = chunks_to_embed(chunks, model, keyed)
    tally = EmbeddingCounts(passages=len(rows), sparse_only=chunks.num_rows - len(rows))
    with vector_cache.open(home) as cache:
        vectors = vector_cache.find(cache, model.name, list(texts))
        missing = sorted(texts.keys() - vectors.keys(), key=lambda key: (len(texts[key]), key))
        for batch in _batches(missing, texts, model):
            made, tokens = load().documents([texts[key] for key in batch])
            failpoint("vector_cache.commit", vector_cache.path(home))
            vector_cache.keep(cache, model.name, batch, made)
            vectors |= zip(batch, made, strict=True)
            tally.texts, tally.tokens = tally.texts + len(batch), tally.tokens + tokens
            report(tally.texts, len(missing))
    tally.usd = tally.tokens * (model.usd_per_million or 0.0) / 1e6
    return _table(chunks["chunk_id"].take(pa.array(rows, pa.int64())), hashes, model, vectors), tally


def _batches(keys: Sequence[str], texts: dict[str, str], model: ModelInfo) -> Iterator[list[str]]:
    """Texts of about one length together, within what the embedder takes at once."""
    batch: list[str] = []
    held = 0
    for key in keys:
        size = len(texts[key].encode("utf-8", "replace"))
        if batch and (len(batch) == model.batch_texts or held + size > model.batch_bytes):
            yield batch
            batch, held = [], 0
        batch.append(key)
        held += size
    if batch:
        yield batch


def _table(ids: pa.ChunkedArray, hashes: list[str], model: ModelInfo, vectors: dict[str, Vectors]) -> pa.Table:
    flat = np.concatenate([vectors[key] for key in hashes]) if hashes else np.empty(0, np.float32)
    ends = np.arange(len(hashes) + 1, dtype=np.int32) * model.dimension
    lists = pa.ListArray.from_arrays(pa.array(ends), pa.array(flat, pa.float32()))
    columns = [ids, pa.array(hashes, pa.string()), pa.repeat(model.name, len(hashes)), lists]
    return pa.table(columns, schema=arrow_schema(Embedding))
