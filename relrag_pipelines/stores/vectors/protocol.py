"""The interface of a store of search vectors, and what its backends share: filters, payloads, tokens of passages.

A store knows passages by chunk_id and the few payload fields that are filtered on; the texts stand in the catalog.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
from qdrant_edge import SparseVector

from relrag_pipelines.errors import SafeError
from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_pipelines.text.analyzer import document_tokens, index_text
from relrag_pipelines.text.sparse_encoder import SparseEncoder

KEYWORDS = ("asset_id", "parent_asset_id", "thread_id", "chunk_group_id", "source", "kind")
INTEGERS = ("person_ids", "mentioned_person_ids", "ts")

APART = 0.5
"""What stands beside a mail's own text counts this much of what that text counts."""

WORDS, MEANING, SPANS = "text", "meaning", "spans"
"""names of the sparse and of the dense vector of a point, and of the dense ones of its spans"""
_LAKE_VECTOR, _LAKE_SPANS = "vector", "span_vectors"
EXACT_UP_TO = 50_000
"""dense vectors that are all compared; an index of more is worth the time that it takes to build"""
BREADTH = 128
"""how widely the index is searched: recall at 10 of 0.99"""
SCROLLED = 2_000
"""points that are read at a time"""
SPARSE_TEXT_COLUMNS = ["text", "subject", "from", "file_name", "timestamp"]
"""columns of a passage that are searched, in the order in which index_text takes them"""
_CARRIED = frozenset({"chunk_id", "section", _LAKE_VECTOR, _LAKE_SPANS, *KEYWORDS, *INTEGERS})
Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""a `map` that may use other processes"""


class StoreError(SafeError):
    """A server of vectors cannot be used; the message says why and what to do, and holds neither key nor text."""


class ScoredPoint(NamedTuple):
    """A passage that was found."""

    chunk_id: str
    score: float
    """higher is better; comparable within one search only"""


@dataclass(frozen=True)
class ChunkFilter:
    """Conditions that must all hold; within one field any of its values will do; an empty field is no condition."""

    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    ts_from: int | None = None
    """first second, UTC"""
    ts_to: int | None = None
    """second behind the last, UTC"""
    thread_ids: tuple[str, ...] = ()
    asset_ids: tuple[str, ...] = ()
    parent_asset_ids: tuple[str, ...] = ()
    chunk_group_ids: tuple[str, ...] = ()
    person_ids: tuple[int, ...] = ()
    """people who wrote, received or took part, or are mentioned"""
    chunk_ids: tuple[str, ...] = ()

    def allows(self, source: str, kind: str, ts: int | None) -> bool:
        """Whether a passage of that source, kind and time meets what is said of these."""
        after = self.ts_from is None or (ts is not None and ts >= self.ts_from)
        before = self.ts_to is None or (ts is not None and ts < self.ts_to)
        return (
            (not self.sources or source in self.sources) and (not self.kinds or kind in self.kinds) and after and before
        )


ANYWHERE = ChunkFilter()


class VectorStore(Protocol):
    """What a backend offers."""

    def search(
        self,
        query: str | Collection[str],
        limit: int,
        where: ChunkFilter = ANYWHERE,
        also: Mapping[str, float] | None = None,
    ) -> list[ScoredPoint]:
        """The best passages for a question, or for tokens, best first; none where there is no word to look for.

        `also` are tokens that are looked for beside these, such as those of translations, with what each counts.
        """
        ...

    def nearest(self, vector: Vectors, limit: int, where: ChunkFilter = ANYWHERE) -> list[ScoredPoint]:
        """The passages nearest in meaning, by cosine, best first; those without a dense vector are not among them."""
        ...

    def nearest_spans(self, vector: Vectors, chunk_ids: Collection[str]) -> list[ScoredPoint]:
        """Of these passages those with spans, each with the cosine of its nearest one; none in a store without any."""
        ...

    def fetch_ids(self, where: ChunkFilter, limit: int) -> list[str]:
        """Passages that meet the conditions, in the order of their ids; of more than `limit` always the same ones."""
        ...

    def count(self, where: ChunkFilter = ANYWHERE) -> int:
        """How many passages meet the conditions."""
        ...

    def close(self) -> None:
        """Lets go of the files, or of the server."""
        ...


def match_conditions(where: ChunkFilter) -> list[tuple[str, list[str]]]:
    """The payload fields that must have one of some values."""
    fields = {
        "source": where.sources,
        "kind": where.kinds,
        "thread_id": where.thread_ids,
        "asset_id": where.asset_ids,
        "parent_asset_id": where.parent_asset_ids,
        "chunk_group_id": where.chunk_group_ids,
    }
    return [(field, list(values)) for field, values in fields.items() if values]


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
    """The searchable tokens of each passage, from the columns SAID."""
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
