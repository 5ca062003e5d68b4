"""Searching the points of one generation on a Qdrant server."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from qdrant_client import models

from relrag_pipelines.stores.vectors.collection_ref import CollectionRef
from relrag_pipelines.stores.vectors.protocol import (
    ANYWHERE,
    BREADTH,
    MEANING,
    SPANS,
    WORDS,
    ChunkFilter,
    ScoredPoint,
    Vectors,
    match_conditions,
)
from relrag_pipelines.stores.vectors.server_connection import Connection
from relrag_pipelines.text.sparse_encoder import SparseEncoder

CHUNK, SINCE, UNTIL = "chunk_id", "since", "until"
"""fields of a point beside those of a passage: its passage, the generation that brought it, the first without it"""
_OVERSAMPLING = 3.0
"""times as many as are asked for are taken by their quantised vectors, and then compared in full"""


class ServerStore:
    """The points of one generation."""

    def __init__(self, server: Connection, collection: CollectionRef) -> None:
        self._server = server
        self._collection = collection
        self._encoder = SparseEncoder()

    def search(
        self,
        query: str | Collection[str],
        limit: int,
        where: ChunkFilter = ANYWHERE,
        also: Mapping[str, float] | None = None,
    ) -> list[ScoredPoint]:
        """See VectorStore."""
        vector = self._encoder.query(query, also)
        return self._query(sparse(vector), WORDS, limit, where) if vector.indices else []

    def nearest(self, vector: Vectors, limit: int, where: ChunkFilter = ANYWHERE) -> list[ScoredPoint]:
        """See VectorStore."""
        quantized = models.QuantizationSearchParams(rescore=True, oversampling=_OVERSAMPLING)
        wide = models.SearchParams(
            hnsw_ef=max(BREADTH, limit), quantization=quantized if self._collection.quantization != "none" else None
        )
        return self._query(vector.tolist(), MEANING, limit, where, wide)

    def nearest_spans(self, vector: Vectors, chunk_ids: Collection[str]) -> list[ScoredPoint]:
        """See VectorStore."""
        if not self._has_spans or not chunk_ids:
            return []
        return self._query([vector.tolist()], SPANS, len(chunk_ids), ChunkFilter(chunk_ids=tuple(chunk_ids)))

    def fetch_ids(self, where: ChunkFilter, limit: int) -> list[str]:
        """See VectorStore."""
        within, name = _filter(where, self._collection), self._collection.name
        points, _ = self._server.ask(lambda client: client.scroll(name, within, limit=limit, with_payload=[CHUNK]))
        return sorted(_chunk(point) for point in points)

    def point_ids(self, chunk_ids: Collection[str]) -> dict[str, str]:
        """See VectorStore."""
        if not chunk_ids:
            return {}
        within, size = _filter(ChunkFilter(chunk_ids=tuple(chunk_ids)), self._collection), len(chunk_ids)
        points, _ = self._server.ask(
            lambda client: client.scroll(self._collection.name, within, limit=size, with_payload=[CHUNK])
        )
        return {_chunk(point): str(point.id) for point in points}

    def count(self, where: ChunkFilter = ANYWHERE) -> int:
        """See VectorStore."""
        within, name = _filter(where, self._collection), self._collection.name
        return self._server.ask(lambda client: client.count(name, within, exact=True)).count

    def close(self) -> None:
        """See VectorStore."""
        self._server.close()

    @functools.cached_property
    def _has_spans(self) -> bool:
        vectors = self._server.ask(lambda client: client.get_collection(self._collection.name)).config.params.vectors
        return isinstance(vectors, dict) and SPANS in vectors

    def _query(
        self, query: Any, using: str, limit: int, where: ChunkFilter, wide: models.SearchParams | None = None
    ) -> list[ScoredPoint]:
        arguments: dict[str, Any] = {"query": query, "using": using, "limit": limit, "search_params": wide}
        within, name = _filter(where, self._collection), self._collection.name
        response = self._server.ask(
            lambda client: client.query_points(name, query_filter=within, with_payload=[CHUNK], **arguments)
        )
        hits = [ScoredPoint(_chunk(point), point.score) for point in response.points]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))


def sparse(vector: Any) -> models.SparseVector:
    """A vector of words as the client takes it."""
    # not validated: that takes longer than all else, and the shapes are ours
    return models.SparseVector.model_construct(indices=list(vector.indices), values=list(vector.values))


def _filter(where: ChunkFilter, collection: CollectionRef) -> models.Filter:
    must: list[Any] = [in_generation(field, values) for field, values in match_conditions(where)]
    if where.ts_from is not None or where.ts_to is not None:
        must.append(models.FieldCondition(key="ts", range=models.Range(gte=where.ts_from, lt=where.ts_to)))
    if where.chunk_ids:
        must.append(in_generation(CHUNK, list(where.chunk_ids)))
    if where.within:
        must.append(in_generation(CHUNK, sorted(where.within)))
    if where.person_ids:
        people = list(where.person_ids)
        must.append(
            models.Filter(should=[in_generation(field, people) for field in ("person_ids", "mentioned_person_ids")])
        )
    return models.Filter(must=must, must_not=outside_generation(collection))


def outside_generation(collection: CollectionRef) -> list[Any]:
    """The conditions that exclude a point from a generation; most points have neither field."""
    later, ended = models.Range(gt=collection.generation), models.Range(lte=collection.generation)
    return [models.FieldCondition(key=SINCE, range=later), models.FieldCondition(key=UNTIL, range=ended)]


def in_generation(field: str, values: Sequence[Any]) -> models.FieldCondition:
    """That a field has one of these values."""
    return models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))


def _chunk(point: Any) -> str:
    return str(point.payload[CHUNK])
