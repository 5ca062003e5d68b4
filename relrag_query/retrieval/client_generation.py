"""A generation limited to the records of some clients.

The catalog decides which records exist (`stores/client_scope.py`); vectors, settings and manifest follow it. Term
weights still come from all passages of the store: this can change the order of hits, but reveals no text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import client_scope
from relrag_pipelines.stores.generations import Generation
from relrag_pipelines.stores.vectors.protocol import ANYWHERE, ChunkFilter, ScoredPoint, Vectors, VectorStore

_FIRST_FACTOR, _GROWTH_FACTOR = 4, 4
"""the first search fetches this many times the limit; each further search multiplies that number by the second"""


@dataclass(frozen=True)
class ScopedVectors:
    """A view of a vector store that contains only these passages."""

    store: VectorStore
    chunk_ids: frozenset[str]

    def search(
        self,
        query: str | Collection[str],
        limit: int,
        where: ChunkFilter = ANYWHERE,
        also: Mapping[str, float] | None = None,
    ) -> list[ScoredPoint]:
        """See `VectorStore`."""
        return self._best(lambda count: self.store.search(query, count, self._stored(where), also), limit)

    def nearest(self, vector: Vectors, limit: int, where: ChunkFilter = ANYWHERE) -> list[ScoredPoint]:
        """See `VectorStore`."""
        return self._best(lambda count: self.store.nearest(vector, count, self._stored(where)), limit)

    def nearest_spans(self, vector: Vectors, chunk_ids: Collection[str]) -> list[ScoredPoint]:
        """See `VectorStore`."""
        return self.store.nearest_spans(vector, self.chunk_ids.intersection(chunk_ids))

    def fetch_ids(self, where: ChunkFilter, limit: int) -> list[str]:
        """See `VectorStore`."""
        chunk_ids = self.store.fetch_ids(self._stored(where), self.store.count())
        return [chunk_id for chunk_id in chunk_ids if chunk_id in self.chunk_ids][:limit]

    def point_ids(self, chunk_ids: Collection[str]) -> dict[str, str]:
        """See `VectorStore`."""
        return self.store.point_ids(self.chunk_ids.intersection(chunk_ids))

    def count(self, where: ChunkFilter = ANYWHERE) -> int:
        """See `VectorStore`."""
        return len(self.chunk_ids if self._stored(where) == ANYWHERE else self.fetch_ids(where, len(self.chunk_ids)))

    def close(self) -> None:
        """See `VectorStore`."""
        self.store.close()

    def _stored(self, where: ChunkFilter) -> ChunkFilter:
        """The conditions that the store checks: not `within` if it is this view's own, which may be long."""
        return replace(where, within=frozenset()) if where.within is self.chunk_ids else where

    def _best(self, search: Callable[[int], list[ScoredPoint]], limit: int) -> list[ScoredPoint]:
        """The best visible passages: the search is widened until it has enough of them or no more results."""
        count = _FIRST_FACTOR * limit
        while True:
            points = search(count)
            own = [point for point in points if point.chunk_id in self.chunk_ids]
            if len(own) >= limit or len(points) < count:
                return own[:limit]
            count *= _GROWTH_FACTOR


def limit(
    clients: Sequence[str],
    connection: duckdb.DuckDBPyConnection,
    store: VectorStore,
    generation: Generation,
    settings: Settings,
) -> tuple[VectorStore, Generation, Settings]:
    """Limits an open catalog; returns store, generation and settings as these clients see them."""
    client_scope.limit(connection, clients)
    ids = frozenset(chunk_id for (chunk_id,) in connection.execute("SELECT chunk_id FROM chunks").fetchall())
    sources = {name for (name,) in connection.execute("SELECT DISTINCT source FROM records").fetchall()}
    seen = [source for source in settings.sources if source.name in sources]
    counts = {**dict.fromkeys(generation.manifest["counts"], 0), "chunks": len(ids)}
    manifest = {**generation.manifest, "counts": counts}
    narrowed = settings.model_copy(update={"sources": seen})
    return ScopedVectors(store, ids), replace(generation, manifest=manifest), narrowed
