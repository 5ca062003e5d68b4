"""Search vectors of one generation: what is searched, filtered and counted by passage.

A store knows passages by chunk_id and the few payload fields that are filtered on; the texts stand in the catalog. Here
it is Qdrant Edge, Qdrant's engine in this process: a folder that is built once, aside, and then only read, by any
number of processes at once (it is made without a write-ahead log, which would let in one process only).
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    HasIdCondition,
    HnswIndexConfig,
    IntegerIndexParams,
    KeywordIndexParams,
    MatchAny,
    Memory,
    Modifier,
    Point,
    Query,
    QueryRequest,
    RangeFloat,
    ScrollRequest,
    SearchParams,
    SparseVector,
    UpdateOperation,
    VectorStorageDatatype,
)

from relrag_pipelines.embedders.model import Vectors
from relrag_pipelines.stores.failpoints import failpoint
from relrag_pipelines.stores.holes import copy_with_holes
from relrag_pipelines.tokens import SparseEncoder, document_tokens, index_text

KEYWORDS = ("asset_id", "parent_asset_id", "thread_id", "chunk_group_id", "source", "kind")
INTEGERS = ("person_ids", "mentioned_person_ids", "ts")
UNHASHED = ("edge_config.json",)
"""Files that reading a store writes again (with the same content, by rename): a manifest of hashes leaves them out."""

APART = 0.5
"""What stands beside a mail's own text counts this much of what that text counts."""

_VECTOR, _MEANING = "text", "meaning"
_LAKE_VECTOR = "vector"
_EXACT_UP_TO = 50_000
"""dense vectors that are all compared; an index of more is worth the time that it takes to build"""
_HNSW = HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=10_000, memory=Memory.Cold)
_BREADTH = 128
"""how widely the index is searched: recall at 10 of 0.99"""
_SCROLLED = 2_000
_SAID = ["text", "subject", "from", "file_name", "timestamp"]
"""columns of a passage that are searched, in the order in which index_text takes them"""
Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


class Hit(NamedTuple):
    """A passage that was found."""

    chunk_id: str
    score: float
    """higher is better; comparable within one search only"""


@dataclass(frozen=True)
class Where:
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


ANYWHERE = Where()


class VectorStore(Protocol):
    """What a backend offers."""

    def search(self, query: str, limit: int, where: Where = ANYWHERE) -> list[Hit]:
        """The best passages for a question, best first; none where it holds no word to look for."""
        ...

    def nearest(self, vector: Vectors, limit: int, where: Where = ANYWHERE) -> list[Hit]:
        """The passages nearest in meaning, by cosine, best first; those without a dense vector are not among them."""
        ...

    def fetch_ids(self, where: Where, limit: int) -> list[str]:
        """Passages that meet the conditions, in the order of their ids."""
        ...

    def count(self, where: Where = ANYWHERE) -> int:
        """How many passages meet the conditions."""
        ...

    def close(self) -> None:
        """Lets go of the files."""
        ...


def build(path: Path, batches: Iterable[pa.RecordBatch], each: Each = map, dimension: int = 0) -> int:
    """Makes a store in the folder `path`, in place of what is there, and returns how many passages it holds.

    The batches carry the columns of records.Chunk, and person_ids and mentioned_person_ids (lists of integers). `each`
    is a `map` that may use other processes: the engine keeps this one's lock while it works. With a dimension they also
    carry `vector`, a list of so many numbers or null.
    """
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    sparse = EdgeSparseVectorParams(modifier=Modifier.Idf, memory=Memory.Cold)
    config = EdgeConfig(
        vectors={_MEANING: _dense(dimension)} if dimension else None,
        sparse_vectors={_VECTOR: sparse},
        # Qdrant counts in KiB
        optimizers=EdgeOptimizersConfig(indexing_threshold=_EXACT_UP_TO * dimension * 2 // 1024) if dimension else None,
        payload_memory=Memory.Cold,
        id_tracker_memory=Memory.Cold,
        wal_enabled=False,
    )
    failpoint("vectors.create", path)
    shard = EdgeShard.create(str(path), config)
    _upsert(shard, batches, each, path)
    failpoint("vectors.optimize", path)
    # An index over points that have come to rest costs half of one that is kept up to date while they come.
    shard.optimize()
    for name in KEYWORDS:
        failpoint("vectors.index", path)
        shard.update(UpdateOperation.create_field_index(name, KeywordIndexParams(memory=Memory.Cold)))
    for name in INTEGERS:
        ranged = name == "ts"
        params = IntegerIndexParams(lookup=not ranged, range=ranged, memory=Memory.Cold)
        shard.update(UpdateOperation.create_field_index(name, params))
    return _settle(shard, path)


def extend(
    previous: Path, path: Path, batches: Iterable[pa.RecordBatch], remove_ids: Sequence[str], each: Each = map
) -> int:
    """Makes a store in the folder `path` like that in `previous`, without some passages and with others.

    Returns how many it holds. It takes a fraction of the time of `build`; but what is removed stays in the files, and
    in the frequencies that words are weighed by, until the store is built anew.
    """
    shutil.rmtree(path, ignore_errors=True)
    copy_with_holes(previous, path)
    shard = EdgeShard.load(str(path))
    if remove_ids:
        failpoint("vectors.delete", path)
        shard.update(UpdateOperation.delete_points(list(remove_ids)))
    _upsert(shard, batches, each, path)
    return _settle(shard, path)


def open(path: Path) -> VectorStore:
    """The store in that folder, for reading."""
    if not (path / UNHASHED[0]).is_file():
        raise FileNotFoundError(f"{path} holds no vectors; `relrag sync` builds them")
    return _EdgeStore(EdgeShard.load(str(path)))


def payloads(path: Path) -> Iterator[dict[str, Any]]:
    """Everything that the points of a store carry beside their vectors, read through the engine that packs it."""
    shard = EdgeShard.load(str(path))
    try:
        following = None
        while True:
            points, following = shard.scroll(ScrollRequest(offset=following, limit=_SCROLLED, with_payload=True))
            yield from (point.payload or {} for point in points)
            if following is None:
                return
    finally:
        shard.close()


class _EdgeStore:
    def __init__(self, shard: EdgeShard) -> None:
        self._shard = shard
        self._encoder = SparseEncoder()

    def search(self, query: str, limit: int, where: Where = ANYWHERE) -> list[Hit]:
        vector = self._encoder.query(query)
        if not vector.indices:
            return []
        request = QueryRequest(query=Query.Nearest(vector, using=_VECTOR), limit=limit, filter=_filter(where))
        hits = [Hit(str(point.id), point.score) for point in self._shard.query(request)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    def nearest(self, vector: Vectors, limit: int, where: Where = ANYWHERE) -> list[Hit]:
        query = Query.Nearest(vector.tolist(), using=_MEANING)
        wide = SearchParams(hnsw_ef=max(_BREADTH, limit))
        request = QueryRequest(query=query, limit=limit, filter=_filter(where), params=wide)
        hits = [Hit(str(point.id), point.score) for point in self._shard.query(request)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    def fetch_ids(self, where: Where, limit: int) -> list[str]:
        points, _ = self._shard.scroll(ScrollRequest(limit=limit, filter=_filter(where), with_payload=False))
        return [str(point.id) for point in points]

    def count(self, where: Where = ANYWHERE) -> int:
        return self._shard.count(CountRequest(filter=_filter(where)))

    def close(self) -> None:
        self._shard.close()


def _dense(dimension: int) -> EdgeVectorParams:
    # half precision: half the disk, and the same first ten in 999 of 1,000 cases
    return EdgeVectorParams(
        dimension, Distance.Cosine, datatype=VectorStorageDatatype.Float16, hnsw_config=_HNSW, memory=Memory.Cold
    )


def _upsert(shard: EdgeShard, batches: Iterable[pa.RecordBatch], each: Each, path: Path) -> None:
    encoder = SparseEncoder()
    batches, ahead = itertools.tee(batches)
    for batch, tokens in zip(batches, each(_tokens, (batch.select(_SAID) for batch in ahead)), strict=True):
        ids, sections = batch.column("chunk_id").to_pylist(), batch.column("section").to_pylist()
        found = map(encoder.document, tokens)
        sparse = (one if section is None else _weaker(one) for one, section in zip(found, sections, strict=True))
        vectors = _vectors(batch, sparse)
        points = zip(ids, vectors, _payloads(batch), strict=True)
        failpoint("vectors.upsert", path)
        shard.update(UpdateOperation.upsert_points([Point(*point) for point in points]))


def _vectors(batch: pa.RecordBatch, sparse: Iterable[SparseVector]) -> Iterator[dict[str, Any]]:
    """The vectors of each passage: the sparse one, and the dense one where it has one."""
    if _LAKE_VECTOR not in batch.schema.names:
        return ({_VECTOR: one} for one in sparse)
    dense = batch.column(_LAKE_VECTOR).to_pylist()
    return ({_VECTOR: one} | ({_MEANING: two} if two else {}) for one, two in zip(sparse, dense, strict=True))


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


def _tokens(batch: pa.RecordBatch) -> list[str]:
    return [document_tokens(index_text(*said)) for said in zip(*(one.to_pylist() for one in batch), strict=True)]


def _settle(shard: EdgeShard, path: Path) -> int:
    """Writes everything out, and opens the store once: a small one puts its last journal away only then."""
    failpoint("vectors.flush", path)
    shard.flush()
    shard.close()
    shard = EdgeShard.load(str(path))
    held = shard.count(CountRequest())
    shard.close()
    return held


def _filter(where: Where) -> Filter | None:
    must: list[Any] = [
        FieldCondition(field, match=MatchAny(list(values)))
        for field, values in (
            ("source", where.sources),
            ("kind", where.kinds),
            ("thread_id", where.thread_ids),
            ("asset_id", where.asset_ids),
            ("parent_asset_id", where.parent_asset_ids),
            ("chunk_group_id", where.chunk_group_ids),
        )
        if values
    ]
    if where.ts_from is not None or where.ts_to is not None:
        must.append(FieldCondition("ts", range=RangeFloat(gte=where.ts_from, lt=where.ts_to)))
    if where.chunk_ids:
        must.append(HasIdCondition(set(where.chunk_ids)))
    if where.person_ids:
        people = MatchAny(list(where.person_ids))
        either: list[Any] = [FieldCondition(field, match=people) for field in ("person_ids", "mentioned_person_ids")]
        must.append(Filter(should=either))
    return Filter(must=must) if must else None
