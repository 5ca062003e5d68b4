"""The vectors of a month's passages: from the cache where the text was embedded before, else from the embedder."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from relrag_pipelines.embedders.protocol import Embedder, ModelInfo
from relrag_pipelines.embedders.spans import spans
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.languages import DEFAULT
from relrag_pipelines.privacy.pseudonyms import to_entity_type
from relrag_pipelines.records import Embedding
from relrag_pipelines.stores import vector_cache
from relrag_pipelines.stores.table_schema import arrow_schema
from relrag_pipelines.stores.vectors.protocol import Vectors
from relrag_pipelines.text.analyzer import index_text
from relrag_pipelines.text.language import in_default_language

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
    return model.languages != (DEFAULT,) or in_default_language(text)


class TextsToEmbed(NamedTuple):
    """What of some passages is embedded."""

    rows: list[int]
    """of the passages that get a vector"""
    hashes: list[str]
    """of the text of each"""
    span_hashes: list[list[str]]
    """of the texts of its spans"""
    texts: dict[str, str]
    """the different texts by hash"""


def _embedded_rows(chunks: pa.Table, model: ModelInfo) -> list[int]:
    """The rows of passages that get a vector."""
    columns = (chunks[name].to_pylist() for name in ("text", "language", "section"))
    return [
        row
        for row, (text, language, section) in enumerate(zip(*columns, strict=True))
        if section is None and supports_language(model, text, language)
    ]


def texts_to_embed(chunks: pa.Table, model: ModelInfo, keyed: Hash) -> TextsToEmbed:
    """The texts of passages that are embedded.

    Text beside a mail's own, such as a signature, gets no vector: it is found by its words, and counts less.
    """
    texts = embedding_texts(chunks)
    own = chunks["text"].to_pylist()
    rows = _embedded_rows(chunks, model)
    parts = [spans(to_entity_type(own[row])) if model.spans else [] for row in rows]
    passage_texts = [texts[row] for row in rows]
    key_by_text = {
        text: keyed(text.encode("utf-8", "surrogatepass")) for text in itertools.chain(passage_texts, *parts)
    }
    span_hashes = [[key_by_text[span] for span in passage_spans] for passage_spans in parts]
    return TextsToEmbed(
        rows,
        [key_by_text[text] for text in passage_texts],
        span_hashes,
        {key: text for text, key in key_by_text.items()},
    )


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
    rows, hashes, span_hashes, texts = texts_to_embed(chunks, model, keyed)
    tally = EmbeddingCounts(passages=len(rows), sparse_only=chunks.num_rows - len(rows))
    with vector_cache.open(home) as cache:
        vectors = vector_cache.find(cache, model.name, list(texts))
        missing = sorted(texts.keys() - vectors.keys(), key=lambda key: (len(texts[key]), key))
        for batch in batches(missing, texts, model):
            batch_vectors, tokens = load().documents([texts[key] for key in batch])
            failpoint("vector_cache.commit", vector_cache.path(home))
            vector_cache.keep(cache, model.name, batch, batch_vectors)
            vectors |= zip(batch, batch_vectors, strict=True)
            tally.texts, tally.tokens = tally.texts + len(batch), tally.tokens + tokens
            report(tally.texts, len(missing))
    tally.usd = tally.tokens * (model.usd_per_million or 0.0) / 1e6
    columns = [
        chunks["chunk_id"].take(pa.array(rows, pa.int64())).combine_chunks(),
        pa.array(hashes, pa.string()),
        pa.repeat(model.name, len(hashes)),
        _vector_lists([[key] for key in hashes], vectors, model.dimension),
        pa.array(span_hashes, pa.list_(pa.string())),
        _vector_lists(span_hashes, vectors, model.dimension),
    ]
    return pa.table(columns, schema=arrow_schema(Embedding)), tally


def batches(keys: Sequence[str], texts: dict[str, str], model: ModelInfo) -> Iterator[list[str]]:
    """Texts of about one length together, within what the embedder takes at once."""
    batch: list[str] = []
    batch_bytes = 0
    for key in keys:
        size = len(texts[key].encode("utf-8", "replace"))
        if batch and (len(batch) == model.batch_texts or batch_bytes + size > model.batch_bytes):
            yield batch
            batch, batch_bytes = [], 0
        batch.append(key)
        batch_bytes += size
    if batch:
        yield batch


def _vector_lists(keys: list[list[str]], vectors: dict[str, Vectors], dimension: int) -> pa.ListArray:
    """Concatenates the vectors for each row's keys."""
    all_vectors = [vectors[key] for row_keys in keys for key in row_keys]
    flat = np.concatenate(all_vectors) if all_vectors else np.empty(0, np.float32)
    ends = np.cumsum([0, *(dimension * len(row_keys) for row_keys in keys)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(flat, pa.float32()))
