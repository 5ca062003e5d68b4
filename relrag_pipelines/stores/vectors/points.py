"""Makes the points of a store from passages: sparse and dense vectors, and the payload that is filtered on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from qdrant_edge import SparseVector

from relrag_pipelines.stores.vectors.protocol import INTEGERS, KEYWORDS, MEANING, SPANS, WORDS
from relrag_pipelines.text.analyzer import document_tokens, index_text
from relrag_pipelines.text.sparse_encoder import SparseEncoder

APART = 0.5
"""What stands beside a mail's own text counts this much of what that text counts."""
_LAKE_VECTOR, _LAKE_SPANS = "vector", "span_vectors"
SPARSE_TEXT_COLUMNS = ["text", "subject", "from", "file_name", "timestamp"]
"""columns of a passage that are searched, in the order in which index_text takes them"""
_CARRIED = frozenset({"chunk_id", "section", _LAKE_VECTOR, _LAKE_SPANS, *KEYWORDS, *INTEGERS})
Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""a `map` that may use other processes"""


def build_points(
    batch: pa.RecordBatch, tokens: Iterable[str], encoder: SparseEncoder
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yields (id, vectors by name, payload) of each passage of a batch; `tokens` are those of `sparse_tokens`."""
    ids, sections = batch.column("chunk_id").to_pylist(), batch.column("section").to_pylist()
    word_vectors = map(encoder.document, tokens)
    sparse = (
        word_vector if section is None else _weaker(word_vector)
        for word_vector, section in zip(word_vectors, sections, strict=True)
    )
    return zip(ids, _vectors(batch, sparse), _payloads(batch), strict=True)


def add_sparse_tokens(batches: Iterable[pa.RecordBatch], each: Each) -> Iterator[tuple[pa.RecordBatch, list[str]]]:
    """What `points` takes of each batch: the columns that become points, and the tokens."""
    batches, ahead = itertools.tee(batches)
    for batch, tokens in zip(
        batches, each(sparse_tokens, (batch.select(SPARSE_TEXT_COLUMNS) for batch in ahead)), strict=True
    ):
        yield batch.select([name for name in batch.schema.names if name in _CARRIED]), tokens


def sparse_tokens(batch: pa.RecordBatch) -> list[str]:
    """The searchable tokens of each passage, from SPARSE_TEXT_COLUMNS."""
    return [
        document_tokens(index_text(*texts)) for texts in zip(*(column.to_pylist() for column in batch), strict=True)
    ]


def _vectors(batch: pa.RecordBatch, sparse: Iterable[SparseVector]) -> Iterator[dict[str, Any]]:
    """The vectors of each passage: the sparse one, and its dense ones if it has any."""
    if _LAKE_VECTOR not in batch.schema.names:
        return ({WORDS: word_vector} for word_vector in sparse)
    dense = batch.column(_LAKE_VECTOR).to_pylist()
    has_spans = _LAKE_SPANS in batch.schema.names
    spans = batch.column(_LAKE_SPANS).to_pylist() if has_spans else [None] * batch.num_rows
    return (
        {WORDS: words}
        | ({MEANING: vector} if vector else {})
        | ({SPANS: _rows(span_numbers, len(vector))} if span_numbers else {})
        for words, vector, span_numbers in zip(sparse, dense, spans, strict=True)
    )


def _rows(numbers: list[float], length: int) -> list[list[float]]:
    return [numbers[start : start + length] for start in range(0, len(numbers), length)]


def _weaker(vector: SparseVector) -> SparseVector:
    return SparseVector(indices=vector.indices, values=[APART * value for value in vector.values])


def _payloads(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """What is filtered on. Absent fields are left out: an empty list costs as much as a value."""
    payloads: list[dict[str, Any]] = [{} for _ in range(batch.num_rows)]
    for name in (*KEYWORDS, *INTEGERS):
        column = batch.column(name)
        if column.null_count < batch.num_rows:
            for payload, value in zip(payloads, column.to_pylist(), strict=True):
                if value is not None and value != []:
                    payload[name] = value
    return payloads
