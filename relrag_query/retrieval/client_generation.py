"""A generation limited to the records of some clients.

The catalog decides what exists (`stores/client_scope.py`), and vectors, settings and manifest follow it. How much a
word weighs is still by all passages of the store, which can change an order, and shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import client_scope
from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_pipelines.stores.generations import Generation
from relrag_pipelines.stores.vectors import ANYWHERE, ChunkFilter, ScoredPoint, VectorStore

_FIRST, _TIMES = 4, 4
"""how many times as many are asked for as are wanted at first, and by what that grows"""


@dataclass(frozen=True)
class ScopedVectors:
    """A store of which only these passages exist."""

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
        return self._best(lambda most: self.store.search(query, most, where, also), limit)

    def nearest(self, vector: Vectors, limit: int, where: ChunkFilter = ANYWHERE) -> list[ScoredPoint]:
        """See `VectorStore`."""
        return self._best(lambda most: self.store.nearest(vector, most, where), limit)

    def nearest_spans(self, vector: Vectors, chunk_ids: Collection[str]) -> list[ScoredPoint]:
        """See `VectorStore`."""
        return self.store.nearest_spans(vector, self.chunk_ids.intersection(chunk_ids))

    def fetch_ids(self, where: ChunkFilter, limit: int) -> list[str]:
        """See `VectorStore`."""
        found = self.store.fetch_ids(where, self.store.count())
        return [one for one in found if one in self.chunk_ids][:limit]

    def count(self, where: ChunkFilter = ANYWHERE) -> int:
        """See `VectorStore`."""
        return len(self.chunk_ids if where == ANYWHERE else self.fetch_ids(where, len(self.chunk_ids)))

    def close(self) -> None:
        """See `VectorStore`."""
        self.store.close()

    def _best(self, search: Callable[[int], list[ScoredPoint]], limit: int) -> list[ScoredPoint]:
        """The best of these passages: more are asked for until there are enough or no others."""
        most = _FIRST * limit
        while True:
            found = search(most)
            own = [one for one in found if one.chunk_id in self.chunk_ids]
            if len(own) >= limit or len(found) < most:
                return own[:limit]
            most *= _TIMES


def limit(
    clients: Sequence[str],
    connection: duckdb.DuckDBPyConnection,
    store: VectorStore,
    generation: Generation,
    settings: Settings,
) -> tuple[VectorStore, Generation, Settings]:
    """Limits an open catalog; returns store, generation and settings as these clients see them."""
    client_scope.limit(connection, clients)
    ids = frozenset(one for (one,) in connection.execute("SELECT chunk_id FROM chunks").fetchall())
    sources = {one for (one,) in connection.execute("SELECT DISTINCT source FROM records").fetchall()}
    seen = [source for source in settings.sources if source.name in sources]
    counts = {**dict.fromkeys(generation.manifest["counts"], 0), "chunks": len(ids)}
    manifest = {**generation.manifest, "counts": counts}
    narrowed = settings.model_copy(update={"sources": seen})
    return ScopedVectors(store, ids), replace(generation, manifest=manifest), narrowed
