"""Builds a store of search vectors in Qdrant Edge, in a process of its own where there is one."""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Callable, Iterable, Sequence, Set
from concurrent.futures import BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    HnswIndexConfig,
    IntegerIndexParams,
    KeywordIndexParams,
    Memory,
    Modifier,
    MultiVectorComparator,
    MultiVectorConfig,
    Point,
    UpdateOperation,
    VectorStorageDatatype,
)

from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.files.sparse_files import copy_with_holes
from relrag_pipelines.stores.vectors.points import Each, add_sparse_tokens, build_points
from relrag_pipelines.stores.vectors.protocol import EXACT_UP_TO, INTEGERS, KEYWORDS, MEANING, SPANS, WORDS
from relrag_pipelines.text.sparse_encoder import SparseEncoder

_PARAMS: dict[str, Any] = {
    **dict.fromkeys(KEYWORDS, KeywordIndexParams(memory=Memory.Cold)),
    **dict.fromkeys(INTEGERS, IntegerIndexParams(lookup=True, range=False, memory=Memory.Cold)),
    "ts": IntegerIndexParams(lookup=False, range=True, memory=Memory.Cold),
}
Result = TypeVar("Result")
_AHEAD = 3
"""batches that may wait for the engine"""
_HNSW = HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=10_000, memory=Memory.Cold)
_NO_INDEX = HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000, memory=Memory.Cold)
"""for vectors that are only compared for passages already found"""


def build(
    path: Path,
    batches: Iterable[pa.RecordBatch],
    each: Each = map,
    dimension: int = 0,
    spans: bool = False,
    executor: Executor | None = None,
) -> int:
    """Makes a store in the folder `path`, replacing its contents, and returns the number of passages.

    The batches carry the columns of records.Chunk, and person_ids and mentioned_person_ids (lists of integers). `each`
    is a `map` that may use other processes. With a dimension they also carry `vector`, a list of `dimension` numbers or
    null; if passages have `spans`, also `span_vectors`, the concatenated vectors of their spans. `executor` runs the
    engine, which keeps Python's lock while it works, in another process.
    """
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    submit = executor.submit if executor else _submit
    pending: deque[Future[None]] = deque([submit(_begin, path, dimension, spans)])
    try:
        for batch, tokens in add_sparse_tokens(batches, each):
            pending.append(submit(_add, path, batch, tokens))
            if len(pending) > _AHEAD:
                pending.popleft().result()
        while pending:
            pending.popleft().result()
        return submit(_finish, path).result()
    except BaseException:
        # whoever makes room or begins anew may be sure that nothing is written there any more
        for future in pending:
            future.cancel()
        wait(pending)
        with suppress(BrokenExecutor):
            wait([submit(_rollback, path)])
        raise


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
    filling = _BulkLoad(shard)
    for batch, tokens in add_sparse_tokens(batches, each):
        _upsert(filling, path, batch, tokens)
    _index(shard, filling.fields - shard.info().payload_schema.keys(), path)
    return _finalize(shard, path)


def _dense(dimension: int, hnsw: HnswIndexConfig, multivector: MultiVectorConfig | None = None) -> EdgeVectorParams:
    # half precision: half the disk, and the same first ten in 999 of 1,000 cases
    return EdgeVectorParams(
        dimension,
        Distance.Cosine,
        datatype=VectorStorageDatatype.Float16,
        hnsw_config=hnsw,
        memory=Memory.Cold,
        multivector_config=multivector,
    )


class _BulkLoad:
    """A store that is being filled."""

    def __init__(self, shard: EdgeShard) -> None:
        self.shard = shard
        self.encoder = SparseEncoder()
        self.fields: set[str] = set()
        """payload fields that any of the passages has"""


_filling: dict[Path, _BulkLoad] = {}
"""in the process that fills them, by their folder"""


def _begin(path: Path, dimension: int, spans: bool) -> None:
    dense = {MEANING: _dense(dimension, _HNSW)} if dimension else {}
    if dense and spans:
        dense[SPANS] = _dense(dimension, _NO_INDEX, MultiVectorConfig(MultiVectorComparator.MaxSim))
    sparse = EdgeSparseVectorParams(modifier=Modifier.Idf, memory=Memory.Cold)
    config = EdgeConfig(
        vectors=dense or None,
        sparse_vectors={WORDS: sparse},
        # Qdrant counts in KiB
        optimizers=EdgeOptimizersConfig(indexing_threshold=EXACT_UP_TO * dimension * 2 // 1024) if dimension else None,
        payload_memory=Memory.Cold,
        id_tracker_memory=Memory.Cold,
        wal_enabled=False,
    )
    failpoint("vectors.create", path)
    _filling[path] = _BulkLoad(EdgeShard.create(str(path), config))


def _add(path: Path, batch: pa.RecordBatch, tokens: list[str]) -> None:
    _upsert(_filling[path], path, batch, tokens)


def _finish(path: Path) -> int:
    filling = _filling.pop(path)
    failpoint("vectors.optimize", path)
    # An index over points that have come to rest costs half of one that is kept up to date while they come.
    filling.shard.optimize()
    _index(filling.shard, filling.fields, path)
    return _finalize(filling.shard, path)


def _rollback(path: Path) -> None:
    _filling.pop(path, None)


def _submit(function: Callable[..., Result], *given: Any) -> Future[Result]:
    done: Future[Result] = Future()
    done.set_result(function(*given))
    return done


def _upsert(filling: _BulkLoad, path: Path, batch: pa.RecordBatch, tokens: list[str]) -> None:
    points = list(build_points(batch, tokens, filling.encoder))
    filling.fields.update(*(payload for _, _, payload in points))
    failpoint("vectors.upsert", path)
    filling.shard.update(UpdateOperation.upsert_points([Point(*point) for point in points]))


def _index(shard: EdgeShard, fields: Set[str], path: Path) -> None:
    """Makes these fields quick to filter by. One that no passage has needs no index: it costs as much, also to open."""
    for name in (*KEYWORDS, *INTEGERS):
        if name in fields:
            failpoint("vectors.index", path)
            shard.update(UpdateOperation.create_field_index(name, _PARAMS[name]))


def _finalize(shard: EdgeShard, path: Path) -> int:
    """Writes everything out, and opens the store once: a small one puts its last journal away only then."""
    failpoint("vectors.flush", path)
    shard.flush()
    shard.close()
    shard = EdgeShard.load(str(path))
    point_count = shard.count(CountRequest())
    shard.close()
    return point_count
