"""Search vectors on a Qdrant server, or a cluster of them, through Qdrant's own client.

A generation that is built whole has a collection of its own, which nobody reads before the generation is current. One
that is built on top of it adds to the same collection: a point may carry the number of the generation that brought it
(`since`), and of the first that no longer has it (`until`), and a reader leaves out what is not of its generation. So
each generation reads what it did on the day it was published, and a new message costs its month. What no generation
reads any more is removed, a collection as a whole. Points are named by UUIDv5 of passage and generation, so a passage
can be there as two generations know it.

https://qdrant.tech/documentation/concepts/collections/, .../concepts/indexing/, .../guides/quantization/
"""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from qdrant_client import models

from relrag_pipelines.files.atomic import make_private
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.stores.vectors import collection_ref
from relrag_pipelines.stores.vectors.collection_ref import CollectionRef
from relrag_pipelines.stores.vectors.points import Each, add_sparse_tokens, build_points
from relrag_pipelines.stores.vectors.protocol import (
    EXACT_UP_TO,
    INTEGERS,
    KEYWORDS,
    MEANING,
    SCROLLED,
    SPANS,
    WORDS,
    StoreError,
)
from relrag_pipelines.stores.vectors.server_connection import PAUSES, Connection, connect
from relrag_pipelines.stores.vectors.server_search import (
    CHUNK,
    SINCE,
    UNTIL,
    ServerStore,
    in_generation,
    outside_generation,
    sparse,
)
from relrag_pipelines.text.sparse_encoder import SparseEncoder

_REQUEST_BYTES = 12_000_000
"""the server takes 32 MB"""
_POINT_BYTES, _NUMBER_BYTES = 6_000, 21
"""of a point as JSON without its dense vector, and of a number of that, at most or nearly so"""
_INDEXING_SECONDS = 3_600.0
"""so long is waited for the index; then it is searched without what is left of it, slower and no less right"""
_POLL_SECONDS = 0.5
_HNSW = models.HnswConfigDiff(m=16, ef_construct=100, full_scan_threshold=10_000)
_QUANTIZATION: dict[str, models.QuantizationConfig | None] = {
    "none": None,
    "scalar": models.ScalarQuantization(
        scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
    ),
    "binary": models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True)),
}


def build(
    path: Path,
    collection: CollectionRef,
    batches: Iterable[pa.RecordBatch],
    each: Each,
    dimension: int,
    spans: bool,
) -> int:
    """Makes the collection, which the folder `path` names before it is there; returns how many points it holds."""
    shutil.rmtree(path, ignore_errors=True)
    make_private(path)
    with closing(connect(collection.url)) as server:
        server.version()
        collection_ref.save(path, collection)
        failpoint("vectors.create", path)
        _create(server, collection, dimension, spans)
        _upsert(server, collection, batches, each, path)
        failpoint("vectors.optimize", path)
        _optimize(server, collection, dimension)
        return _finalize(server, collection, path)


def extend(
    collection: CollectionRef,
    path: Path,
    batches: Iterable[pa.RecordBatch],
    remove_ids: Sequence[str],
    each: Each,
    generation: int,
) -> int:
    """Adds the points of a further generation to a collection, and marks those that it has no more."""
    shutil.rmtree(path, ignore_errors=True)
    make_private(path)
    successor = replace(collection, generation=generation, points=None)
    with closing(connect(successor.url)) as server:
        server.version()
        collection_ref.save(path, successor)
        _undo(server, collection.name, collection.generation)
        for removed in _parts(remove_ids, SCROLLED):
            failpoint("vectors.delete", path)
            _mark(server, collection, removed, generation)
        _upsert(server, successor, batches, each, path, {SINCE: generation})
        return _finalize(server, successor, path)


def open(collection: CollectionRef) -> ServerStore:
    """The points of one generation, for reading; nothing is asked before the first search."""
    return ServerStore(connect(collection.url), collection)


def payloads(collection: CollectionRef) -> Iterator[dict[str, Any]]:
    """The payloads of all points of the collection, of every generation; none if the collection is gone."""
    with closing(connect(collection.url)) as server:
        following = None
        while server.ask(lambda client: client.collection_exists(collection.name)):
            points, following = _page(server, collection, following)
            yield from (point.payload or {} for point in points)
            if following is None:
                return


def missing_parts(collection: CollectionRef) -> str:
    """What the server lacks of a generation; empty if it is complete. StoreError if the server cannot be asked."""
    with closing(connect(collection.url)) as server:
        if not server.ask(lambda client: client.collection_exists(collection.name)):
            return f"{collection} is not there"
        count = ServerStore(server, collection).count()
    return "" if count == collection.points else f"{collection} holds {count} points of it, not {collection.points}"


def delete_remote(collection: CollectionRef, retained: Sequence[int]) -> None:
    """Removes what a generation that goes had for itself: the collection, or where others (`retained`, their numbers)
    share it, the points that none of them has.
    """
    with closing(connect(collection.url)) as server:
        if not retained:
            server.ask(lambda client: client.delete_collection(collection.name), PAUSES)
        elif server.ask(lambda client: client.collection_exists(collection.name)):
            expired = models.Filter(must=[models.FieldCondition(key=UNTIL, range=models.Range(lte=min(retained)))])
            server.ask(lambda client: client.delete(collection.name, expired, wait=True), PAUSES)
            _undo(server, collection.name, max(retained))


def _create(server: Connection, collection: CollectionRef, dimension: int, spans: bool) -> None:
    dense = {MEANING: _dense(collection, dimension)} if dimension else {}
    if dense and spans:
        dense[SPANS] = _of_spans(dimension)
    server.ask(
        lambda client: client.create_collection(
            collection.name,
            vectors_config=dense,
            sparse_vectors_config={WORDS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            # what has come to rest is indexed at half the cost, so not yet
            optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0),
            shard_number=collection.shards,
            replication_factor=collection.replicas,
            # a reader may ask any replica, so a point counts as written when all have it
            write_consistency_factor=collection.replicas,
        )
    )
    for field in (*KEYWORDS, CHUNK):
        keyword = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
        _index(server, collection, field, keyword)
    for field in (*INTEGERS, SINCE, UNTIL):
        ranged = field in ("ts", SINCE, UNTIL)
        integer = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=not ranged, range=ranged)
        _index(server, collection, field, integer)


def _dense(collection: CollectionRef, dimension: int) -> models.VectorParams:
    return models.VectorParams(
        size=dimension,
        distance=models.Distance.COSINE,
        datatype=models.Datatype.FLOAT16,
        hnsw_config=_HNSW,
        quantization_config=_QUANTIZATION[collection.quantization],
    )


def _of_spans(dimension: int) -> models.VectorParams:
    """Only compared for passages already found: without an index."""
    return models.VectorParams(
        size=dimension,
        distance=models.Distance.COSINE,
        datatype=models.Datatype.FLOAT16,
        hnsw_config=models.HnswConfigDiff(m=0),
        multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
        on_disk=True,
    )


def _index(server: Connection, collection: CollectionRef, field: str, params: models.PayloadSchemaParams) -> None:
    server.ask(lambda client: client.create_payload_index(collection.name, field, params, wait=True), PAUSES)


def _upsert(
    server: Connection,
    collection: CollectionRef,
    batches: Iterable[pa.RecordBatch],
    each: Each,
    path: Path,
    more: dict[str, int] | None = None,
) -> None:
    encoder = SparseEncoder()
    for batch, tokens in add_sparse_tokens(batches, each):
        passages = list(build_points(batch, tokens, encoder))
        size = max((_numbers(vectors) for _, vectors, _ in passages), default=0)
        for part in _parts(passages, max(1, _REQUEST_BYTES // (_POINT_BYTES + _NUMBER_BYTES * size))):
            failpoint("vectors.upsert", path)
            _send(server, collection, [_point(passage, collection.generation, more or {}) for passage in part])


def _numbers(vectors: dict[str, Any]) -> int:
    """How many numbers the dense vectors of a passage have."""
    return len(vectors.get(MEANING, ())) + sum(map(len, vectors.get(SPANS, ())))


def _send(server: Connection, collection: CollectionRef, points: list[models.PointStruct]) -> None:
    server.ask(lambda client: client.upsert(collection.name, points, wait=True), PAUSES)


def _point(
    passage: tuple[str, dict[str, Any], dict[str, Any]], generation: int, more: dict[str, int]
) -> models.PointStruct:
    chunk_id, vectors, payload = passage
    encoded = {name: sparse(value) if name == WORDS else value for name, value in vectors.items()}
    # not validated: that takes longer than all else, and the shapes are ours
    return models.PointStruct.model_construct(
        id=str(uuid.uuid5(uuid.UUID(chunk_id), str(generation))),
        vector=encoded,
        payload={**payload, CHUNK: chunk_id, **more},
    )


def _optimize(server: Connection, collection: CollectionRef, dimension: int) -> None:
    """Lets the server build its index, and waits for it."""
    # counted in KiB, as by the engine in process
    threshold = max(1, EXACT_UP_TO * dimension * 2 // 1024) if dimension else 10_000
    ready = models.OptimizersConfigDiff(indexing_threshold=threshold)
    server.ask(lambda client: client.update_collection(collection.name, optimizers_config=ready), PAUSES)
    until = time.monotonic() + _INDEXING_SECONDS
    while time.monotonic() < until:
        state = server.ask(lambda client: client.get_collection(collection.name), PAUSES)
        if state.status == models.CollectionStatus.RED:
            raise StoreError(f"{collection} could not be indexed; its server says why in its log")
        if state.status == models.CollectionStatus.GREEN:
            return
        time.sleep(_POLL_SECONDS)


def _page(server: Connection, collection: CollectionRef, offset: Any) -> tuple[list[models.Record], Any]:
    return server.ask(lambda client: client.scroll(collection.name, limit=SCROLLED, offset=offset))


def _mark(server: Connection, collection: CollectionRef, chunk_ids: list[str], generation: int) -> None:
    """Marks passages as ending before a generation."""
    condition = models.Filter(must=[in_generation(CHUNK, chunk_ids)], must_not=outside_generation(collection))
    server.ask(lambda client: client.set_payload(collection.name, {UNTIL: generation}, condition, wait=True), PAUSES)


def _undo(server: Connection, name: str, generation: int) -> None:
    """Takes back what was done in a collection for generations behind this one, which never became current."""
    later = models.Range(gt=generation)
    added, marked = (models.Filter(must=[models.FieldCondition(key=field, range=later)]) for field in (SINCE, UNTIL))
    server.ask(lambda client: client.delete(name, added, wait=True), PAUSES)
    server.ask(lambda client: client.delete_payload(name, [UNTIL], marked, wait=True), PAUSES)


def _finalize(server: Connection, collection: CollectionRef, path: Path) -> int:
    failpoint("vectors.flush", path)
    count = ServerStore(server, collection).count()
    collection_ref.save(path, collection, count)
    return count


def _parts(items: Sequence[Any], size: int) -> Iterator[list[Any]]:
    return (list(items[start : start + size]) for start in range(0, len(items), size))
