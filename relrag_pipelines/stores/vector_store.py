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
from relrag_pipelines.stores.vectors.points import Each
from relrag_pipelines.stores.vectors.protocol import VectorStore

PACKED = (CONFIG, collection_ref.NAME)
"""Files that stand for points: `payloads` of their folder reads what these carry."""


def build(
    path: Path,
    batches: Iterable[pa.RecordBatch],
    each: Each = map,
    dimension: int = 0,
    spans: bool = False,
    collection: CollectionRef | None = None,
    executor: Executor | None = None,
) -> int:
    """Makes a store in the folder `path`, replacing its contents, and returns the number of passages.

    The batches carry the columns of records.Chunk, and person_ids and mentioned_person_ids (lists of integers). `each`
    is a `map` that may use other processes. With a dimension they also carry `vector`, a list of `dimension` numbers or
    null; if passages have `spans`, also `span_vectors`, the concatenated vectors of their spans. With a collection the
    vectors are stored there, and the folder only refers to it; StoreError if the server fails. Without one, `executor`
    runs the engine in another process.
    """
    if collection is None:
        return local_build.build(path, batches, each, dimension, spans, executor)
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

    Returns the number of passages. It takes a fraction of the time of `build`, but removed passages stay in the files,
    and in the frequencies that weigh words, until the store is built anew. On a server both are one collection, in
    which each sees its own points: then `generation` is the number of the new one.
    """
    collection = collection_ref.load(previous)
    if collection is None:
        return local_build.extend(previous, path, batches, remove_ids, each)
    from relrag_pipelines.stores.vectors import server_index

    return server_index.extend(collection, path, batches, remove_ids, each, generation)


def open(path: Path) -> VectorStore:
    """The store in that folder, for reading."""
    collection = collection_ref.load(path)
    if collection is None:
        return local_store.open(path)
    from relrag_pipelines.stores.vectors import server_index

    return server_index.open(collection)


def payloads(path: Path) -> Iterator[dict[str, Any]]:
    """Everything that the points of a store carry beside their vectors, read through the engine that packs it."""
    collection = collection_ref.load(path)
    if collection is None:
        yield from local_store.payloads(path)
    else:
        from relrag_pipelines.stores.vectors import server_index

        yield from server_index.payloads(collection)


def server_info(url: str, timeout: int = 60) -> tuple[str, list[str]]:
    """The version of a server and its collections; StoreError where it cannot be used; `timeout` in seconds."""
    from relrag_pipelines.stores.vectors.server_connection import connect

    with closing(connect(url, timeout)) as opened:
        return opened.version(), opened.names()


def collection(path: Path) -> CollectionRef | None:
    """Where the vectors of the store in that folder lie, if not in it; ValueError where it cannot be told."""
    return collection_ref.load(path)


def missing_parts(path: Path) -> str:
    """What a store lacks of the data that it keeps outside its folder; empty if it is complete.

    Raises StoreError where the server cannot be asked.
    """
    collection = collection_ref.load(path)
    if collection is None:
        return ""
    from relrag_pipelines.stores.vectors import server_index

    return server_index.missing_parts(collection)


def delete_remote(path: Path, retained: Iterable[Path]) -> None:
    """Removes a store's data outside its folder, except for data that the `retained` stores share.

    Raises StoreError where the server cannot be asked.
    """
    collection = collection_ref.load(path)
    if collection is None:
        return
    from relrag_pipelines.stores.vectors import server_index

    sharing = [
        reference
        for folder in retained
        if (reference := collection_ref.load(folder)) and reference.name == collection.name
    ]
    server_index.delete_remote(collection, [reference.generation for reference in sharing])
