"""Search vectors in Qdrant Edge, Qdrant's engine in this process.

A folder that is built once, aside, and then only read, by any number of processes at once (it is made without a
write-ahead log, which would let in one process only).
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from qdrant_edge import (
    CountRequest,
    EdgeShard,
    FieldCondition,
    Filter,
    HasIdCondition,
    MatchAny,
    Query,
    QueryRequest,
    RangeFloat,
    ScrollRequest,
    SearchParams,
)

from relrag_pipelines.files import access
from relrag_pipelines.stores.vectors.protocol import (
    ANYWHERE,
    BREADTH,
    MEANING,
    SCROLLED,
    SPANS,
    WORDS,
    ChunkFilter,
    ScoredPoint,
    Vectors,
    VectorStore,
    match_conditions,
)
from relrag_pipelines.text.sparse_encoder import SparseEncoder
from relrag_pipelines.workers import cancellation

CONFIG = "edge_config.json"
"""the file that says what a store is of"""
_SEGMENTS = "segments"
"""the folder of a store in which all lies but its configuration"""
_IN_MEMORY = "/dev/shm"  # noqa: S108  only a configuration without any text goes there
"""a file system in memory, which Linux has"""


def open(path: Path) -> VectorStore:
    """The store in that folder, for reading."""
    if not (path / CONFIG).is_file():
        raise FileNotFoundError(f"{path} holds no vectors; `relrag sync` builds them")
    return _EdgeStore(_load(path), path)


def payloads(path: Path) -> Iterator[dict[str, Any]]:
    """Everything that the points of a store carry beside their vectors, read through the engine that packs it."""
    shard = _load(path)
    try:
        following = None
        while True:
            points, following = shard.scroll(ScrollRequest(offset=following, limit=SCROLLED, with_payload=True))
            yield from (point.payload or {} for point in points)
            if following is None:
                return
    finally:
        shard.close()
        _close_to_others(path)


def _load(path: Path) -> EdgeShard:
    """The store in that folder, for reading; also where the disk is full.

    The engine writes its configuration anew whenever it opens a store, so then it is shown a folder in memory, or among
    the temporary ones, with a configuration of its own and a link to the rest.
    """
    try:
        shard = EdgeShard.load(str(path))
        _close_to_others(path)
        return shard
    except Exception as error:  # the engine raises nothing else
        if f"os error {errno.ENOSPC}" not in str(error):
            raise
    with TemporaryDirectory(prefix="relrag-", dir=_IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None) as folder:
        shutil.copy(path / CONFIG, folder)
        Path(folder, _SEGMENTS).symlink_to(path.resolve() / _SEGMENTS)
        return EdgeShard.load(folder)


def _close_to_others(path: Path) -> None:
    """What the engine writes anew as it opens a store, and as it closes one.

    The process may be that of another program, which has a umask of its own and imports this to read.
    """
    for written in (path / CONFIG, *path.glob(f"{_SEGMENTS}/*/segment.json")):
        access.restrict(written)


class _EdgeStore:
    def __init__(self, shard: EdgeShard, path: Path) -> None:
        self._shard = shard
        self._path = path
        self._encoder = SparseEncoder()
        self._has_spans = SPANS in orjson.loads((path / CONFIG).read_bytes()).get("vectors", {})

    def search(
        self,
        query: str | Collection[str],
        limit: int,
        where: ChunkFilter = ANYWHERE,
        also: Mapping[str, float] | None = None,
    ) -> list[ScoredPoint]:
        cancellation.check()
        vector = self._encoder.query(query, also)
        if not vector.indices:
            return []
        request = QueryRequest(query=Query.Nearest(vector, using=WORDS), limit=limit, filter=_filter(where))
        hits = [ScoredPoint(str(point.id), point.score) for point in self._shard.query(request)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    def nearest(self, vector: Vectors, limit: int, where: ChunkFilter = ANYWHERE) -> list[ScoredPoint]:
        cancellation.check()
        query = Query.Nearest(vector.tolist(), using=MEANING)
        wide = SearchParams(hnsw_ef=max(BREADTH, limit))
        request = QueryRequest(query=query, limit=limit, filter=_filter(where), params=wide)
        hits = [ScoredPoint(str(point.id), point.score) for point in self._shard.query(request)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    def nearest_spans(self, vector: Vectors, chunk_ids: Collection[str]) -> list[ScoredPoint]:
        if not self._has_spans or not chunk_ids:
            return []
        query = Query.Nearest([vector.tolist()], using=SPANS)
        request = QueryRequest(query=query, limit=len(chunk_ids), filter=Filter(must=[HasIdCondition(set(chunk_ids))]))
        return [ScoredPoint(str(point.id), point.score) for point in self._shard.query(request)]

    def fetch_ids(self, where: ChunkFilter, limit: int) -> list[str]:
        points, _ = self._shard.scroll(ScrollRequest(limit=limit, filter=_filter(where), with_payload=False))
        return [str(point.id) for point in points]

    def point_ids(self, chunk_ids: Collection[str]) -> dict[str, str]:
        if not chunk_ids:
            return {}
        points = self.fetch_ids(ChunkFilter(chunk_ids=tuple(chunk_ids)), len(chunk_ids))
        return dict(zip(points, points, strict=True))

    def count(self, where: ChunkFilter = ANYWHERE) -> int:
        return self._shard.count(CountRequest(filter=_filter(where)))

    def close(self) -> None:
        self._shard.close()
        _close_to_others(self._path)


def _filter(where: ChunkFilter) -> Filter | None:
    must: list[Any] = [FieldCondition(field, match=MatchAny(values)) for field, values in match_conditions(where)]
    if where.ts_from is not None or where.ts_to is not None:
        must.append(FieldCondition("ts", range=RangeFloat(gte=where.ts_from, lt=where.ts_to)))
    if where.chunk_ids:
        must.append(HasIdCondition(set(where.chunk_ids)))
    if where.within:
        must.append(HasIdCondition(set(where.within)))
    if where.person_ids:
        people = MatchAny(list(where.person_ids))
        either: list[Any] = [FieldCondition(field, match=people) for field in ("person_ids", "mentioned_person_ids")]
        must.append(Filter(should=either))
    return Filter(must=must) if must else None
