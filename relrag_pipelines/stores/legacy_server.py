"""A collection of an older system on a Qdrant server, as sources/legacy_collection.py describes one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from relrag_pipelines.sources.legacy.payload import OLD_VECTORS
from relrag_pipelines.sources.legacy_collection import CollectionError, LegacyPoint, PointChange

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

KEY = "QDRANT_SOURCE_API_KEY"
"""variable of the environment with the key of older systems' servers, which are not to see that of the archive's own"""
_AT_ONCE = 500
"""points of one request"""
Answer = TypeVar("Answer")


def collection(url: str, name: str) -> ServerCollection:
    """The collection; CollectionError where the server does not have it."""
    return ServerCollection(url, name)


class ServerCollection:
    """One collection on a server, which is asked for its points page by page."""

    def __init__(self, url: str, name: str) -> None:
        # the client takes a second to import, and most syncs have no use for it
        from relrag_pipelines.stores.vectors import server_connection

        self.name = name
        self._connection, self._pauses = server_connection.connect(url, variable=KEY), server_connection.PAUSES
        names = sorted(collection.name for collection in self._ask(lambda client: client.get_collections()).collections)
        if name not in names:
            raise CollectionError(f"Qdrant at {url} has no collection {name}; it has: {', '.join(names) or 'none'}")

    def points(self) -> Iterator[LegacyPoint]:
        """Every point once, in the order of their ids."""
        old = {vector: self._with_vector(vector) for vector in self._old_vectors()}
        offset: Any = None
        while True:
            points, offset = self._scroll(None, offset, with_payload=True)
            for point in points:
                yield LegacyPoint(
                    point.id, point.id, point.payload or {}, tuple(name for name, ids in old.items() if point.id in ids)
                )
            if offset is None:
                return

    def fetch(self, keys: Sequence[int | str]) -> Mapping[int | str, LegacyPoint]:
        """The points with these keys, without their old vectors."""
        points: dict[int | str, LegacyPoint] = {}
        for first in range(0, len(keys), _AT_ONCE):
            records = self._ask(_retrieve(self.name, keys[first : first + _AT_ONCE]))
            points |= {record.id: LegacyPoint(record.id, record.id, record.payload or {}) for record in records}
        return points

    def write(self, changes: Iterable[PointChange]) -> None:
        """Makes the changes, in one request."""
        from qdrant_client import models

        operations: list[Any] = []
        for change in changes:
            if change.vectors:
                vectors = models.DeleteVectors(points=[change.key], vector=list(change.vectors))
                operations.append(models.DeleteVectorsOperation(delete_vectors=vectors))
            if change.removed_fields:
                fields = models.DeletePayload(keys=list(change.removed_fields), points=[change.key])
                operations.append(models.DeletePayloadOperation(delete_payload=fields))
            # last, since a point that has its fields counts as done
            payload = models.SetPayload(payload=dict(change.values), points=[change.key])
            operations.append(models.SetPayloadOperation(set_payload=payload))
        self._ask(lambda client: client.batch_update_points(self.name, operations, wait=True))

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """A server takes turns by itself."""
        yield

    def snapshot(self, moment: str) -> str:
        """A snapshot of the server's own; it keeps the time in its name."""
        snapshot = self._ask(lambda client: client.create_snapshot(self.name, wait=True))
        if snapshot is None:
            raise CollectionError(f"collection {self.name} was not changed: the server made no snapshot")
        return str(snapshot.name)

    def has_snapshot(self, name: str) -> bool:
        """Whether the server still has it."""
        return name in {snapshot.name for snapshot in self._ask(lambda client: client.list_snapshots(self.name))}

    def _old_vectors(self) -> list[str]:
        config = self._ask(lambda client: client.get_collection(self.name)).config.params.vectors
        return [name for name in OLD_VECTORS if isinstance(config, dict) and name in config]

    def _with_vector(self, vector: str) -> set[int | str]:
        from qdrant_client import models

        where = models.Filter(must=[models.HasVectorCondition(has_vector=vector)])
        ids: set[int | str] = set()
        offset: Any = None
        while True:
            points, offset = self._scroll(where, offset, with_payload=False)
            ids |= {point.id for point in points}
            if offset is None:
                return ids

    def _scroll(self, where: Any, offset: Any, *, with_payload: bool) -> tuple[list[Any], Any]:
        return self._ask(
            lambda client: client.scroll(self.name, where, _AT_ONCE, offset=offset, with_payload=with_payload)
        )

    def _ask(self, call: Callable[[QdrantClient], Answer]) -> Answer:
        from relrag_pipelines.stores.vectors.protocol import StoreError

        try:
            return self._connection.ask(call, self._pauses)
        except StoreError as error:
            # that setting names the server of relrag's own vectors
            raise CollectionError(str(error).replace("qdrant_url", "url of the source")) from None


def _retrieve(name: str, keys: Sequence[int | str]) -> Callable[[QdrantClient], list[Any]]:
    return lambda client: client.retrieve(name, list(keys), with_payload=True)
