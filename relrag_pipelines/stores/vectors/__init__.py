"""The search vectors of a generation: searched, filtered and counted by passage.

They lie in the generation's own folder (`local_store`: Qdrant's engine in this process), or on a Qdrant server, and
then the folder says where (`collection_ref`, `server_index`, `server_search`). Which of the two it is, a reader sees
from the folder. The server's client is imported only where there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from relrag_pipelines.stores.vectors import collection_ref, local_build, local_store
from relrag_pipelines.stores.vectors.collection_ref import CollectionRef
from relrag_pipelines.stores.vectors.local_store import CONFIG
from relrag_pipelines.stores.vectors.protocol import (
    ANYWHERE,
    APART,
    INTEGERS,
    KEYWORDS,
    ChunkFilter,
    Each,
    ScoredPoint,
    StoreError,
    VectorStore,
)

__all__ = [
    "ANYWHERE",
    "APART",
    "INTEGERS",
    "KEYWORDS",
    "PACKED",
    "ChunkFilter",
    "CollectionRef",
    "Each",
    "ScoredPoint",
    "StoreError",
    "VectorStore",
    "build",
    "collection",
    "delete_remote",
    "extend",
    "missing_parts",
    "open",
    "payloads",
    "server_info",
]  # fmt: skip

PACKED = (CONFIG, collection_ref.NAME)
"""Files that stand for points: `payloads` of their folder reads what these carry."""


def build(
    path: Path,
    batches: Iterable[pa.RecordBatch],
    each: Each = map,
    dimension: int = 0,
    spans: bool = False,
    collection: CollectionRef | None = None,
    beside: Executor | None = None,
) -> int:
    """Makes a store in the folder `path`, in place of what is there, and returns how many passages it holds.

    The batches carry the columns of records.Chunk, and person_ids and mentioned_person_ids (lists of integers). `each`
    is a `map` that may use other processes. With a dimension they also carry `vector`, a list of so many numbers or
    null; where passages have `spans` also `span_vectors`, so many numbers for each span, one behind the other. With a
    collection the vectors go there, and the folder only says so; StoreError where the server fails. Without one
    `beside` is another process for the engine.
    """
    if collection is None:
        return local_build.build(path, batches, each, dimension, spans, beside)
    from relrag_pipelines.stores.vectors import server_index

    return server_index.build(path, collection, batches, each, dimension, spans)


def extend(
    previous: Path,
    path: Path,
    batches: Iterable[pa.RecordBatch],
    remove_ids: Sequence[str],
    each: Each = map,
    generation: int = 0,
) -> int:
    """Makes a store in the folder `path` like that in `previous`, without some passages and with others.

    Returns how many it holds. It takes a fraction of the time of `build`; but what is removed stays in the files, and
    in the frequencies that words are weighed by, until the store is built anew. On a server both are one collection,
    in which each sees its own points: then `generation` is the number of the new one.
    """
    known = collection_ref.load(previous)
    if known is None:
        return local_build.extend(previous, path, batches, remove_ids, each)
    from relrag_pipelines.stores.vectors import server_index

    return server_index.extend(known, path, batches, remove_ids, each, generation)


def open(path: Path) -> VectorStore:
    """The store in that folder, for reading."""
    known = collection_ref.load(path)
    if known is None:
        return local_store.open(path)
    from relrag_pipelines.stores.vectors import server_index

    return server_index.open(known)


def payloads(path: Path) -> Iterator[dict[str, Any]]:
    """Everything that the points of a store carry beside their vectors, read through the engine that packs it."""
    known = collection_ref.load(path)
    if known is None:
        yield from local_store.payloads(path)
    else:
        from relrag_pipelines.stores.vectors import server_index

        yield from server_index.payloads(known)


def server_info(url: str, timeout: int = 60) -> tuple[str, list[str]]:
    """The version of a server and its collections; StoreError where it cannot be used; `timeout` in seconds."""
    from relrag_pipelines.stores.vectors.server_connection import connect

    with closing(connect(url, timeout)) as opened:
        return opened.version(), opened.names()


def collection(path: Path) -> CollectionRef | None:
    """Where the vectors of the store in that folder lie, if not in it; ValueError where it cannot be told."""
    return collection_ref.load(path)


def missing_parts(path: Path) -> str:
    """What a store lacks that it keeps elsewhere than in its folder; empty where it is whole.

    Raises StoreError where the server cannot be asked.
    """
    known = collection_ref.load(path)
    if known is None:
        return ""
    from relrag_pipelines.stores.vectors import server_index

    return server_index.missing_parts(known)


def delete_remote(path: Path, kept: Iterable[Path]) -> None:
    """Removes what a store that goes keeps elsewhere than in its folder, but for what the `kept` ones share with it.

    Raises StoreError where the server cannot be asked.
    """
    known = collection_ref.load(path)
    if known is None:
        return
    from relrag_pipelines.stores.vectors import server_index

    sharing = [one for folder in kept if (one := collection_ref.load(folder)) and one.name == known.name]
    server_index.delete_remote(known, [one.generation for one in sharing])
