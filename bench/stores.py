"""The store of vectors: Qdrant in this process against the local mode of its client, and a server where there is one.

All take the same passages, each with a dense vector, through the same code as an archive; QDRANT_URL names the server.
Local mode is what `QdrantClient(path=...)` offers to those who want no server. Dense vectors are invented: points of a
space of 32 dimensions, turned into 384 with a little noise, since those of a model lie as near to each other, and take
too long here. Recall is measured where the index is used, which relrag builds for large archives only.
"""

from __future__ import annotations

import os
import secrets
import statistics
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
from qdrant_client import QdrantClient
from qdrant_edge import HnswIndexConfig, Memory

from bench import corpus
from bench.measurement import Figure
from bench.retrieval import batches
from relrag_pipelines.stores import vector_store
from relrag_pipelines.stores.vectors import local_build, server_index
from relrag_pipelines.stores.vectors.collection_ref import CollectionRef
from relrag_pipelines.stores.vectors.protocol import Vectors
from relrag_pipelines.stores.vectors.server_connection import Connection

COUNT = 5_000
LOCAL = 1_000
"""passages that local mode is given: it takes a tenth of the time for each"""
ASKED = 100
DIMENSION = 384
DEPTH = 10
_LATENT = 32
_BATCH = 1_000
_INDEXED_FROM = 500
"""dense vectors that are indexed here; an archive has 50,000 before it pays"""


def measure(count: int = COUNT, local: int = LOCAL, asked: int = ASKED) -> list[Figure]:
    """Points a second, the middle time of a search, and recall at ten against comparing all vectors."""
    documents = corpus.documents(count)
    made, near = meanings(count + asked), corpus.questions(documents, min(asked, count))
    known, questions = made[:count], made[count:]
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        stored = _stored(here / "plain", documents, known, None)
        with _indexing_early():
            ours = {**_seen(here / "edge", documents, known, near, questions, None), "points": stored}
        with _local(here / "client"):
            place = CollectionRef("http://local:6333", "bench", 1)
            theirs = _seen(here / "local", documents[:local], known[:local], near, questions, place)
        figures = [*_against(ours, theirs, f"local mode, {local:,} of them"), _recall("in process", ours)]
        if url := os.environ.get("QDRANT_URL"):
            place = CollectionRef(url, f"relrag-bench-{secrets.token_hex(4)}", 1)
            try:
                with _indexing_early():
                    far = _seen(here / "server", documents, known, near, questions, place)
            finally:
                server_index.delete_remote(place, [])
            figures += [*_against(ours, far, "server"), _recall("server", far)]
    return figures


def meanings(count: int, seed: int = 4) -> Vectors:
    """Invented dense vectors, one a row."""
    chance = np.random.default_rng(seed)
    points = chance.standard_normal((count, _LATENT)) @ chance.standard_normal((_LATENT, DIMENSION))
    found: Vectors = (points + 0.5 * chance.standard_normal(points.shape)).astype(np.float32)
    return found


def _against(ours: dict[str, float], theirs: dict[str, float], name: str) -> list[Figure]:
    by_words, by_meaning = "search by words, p50", "search by meaning, p50"
    return [
        Figure("points stored", ours["points"], "points/s", theirs["points"], name),
        Figure(by_words, ours["words"], "ms", theirs["words"], name),
        Figure(by_meaning, ours["meaning"], "ms", theirs["meaning"], name),
    ]


def _recall(name: str, seen: dict[str, float]) -> Figure:
    return Figure(f"recall at {DEPTH} against all vectors, {name}", 100 * seen["recall"], "%", at_least=98)


def _seen(
    folder: Path,
    documents: list[dict[str, Any]],
    known: Vectors,
    near: list[str],
    questions: Vectors,
    place: CollectionRef | None,
) -> dict[str, float]:
    points = _stored(folder, documents, known, place)
    exact = _nearest(known, questions)
    with closing(vector_store.open(folder)) as store:
        words = [_seconds(lambda one=one: store.search(one, DEPTH))[0] for one in near]  # type: ignore[misc]
        found = [_seconds(lambda one=one: store.nearest(one, DEPTH)) for one in questions]  # type: ignore[misc]
    hits = [{uuid.UUID(hit.chunk_id).int for hit in one} for _, one in found]
    shared = sum(len(one & true) for one, true in zip(hits, exact, strict=True))
    return {
        "points": points,
        "words": 1000 * statistics.median(words),
        "meaning": 1000 * statistics.median(seconds for seconds, _ in found),
        "recall": shared / sum(map(len, exact)),
    }


def _stored(folder: Path, documents: list[dict[str, Any]], known: Vectors, place: CollectionRef | None) -> float:
    given = list(_batches(documents, known))
    begun = time.perf_counter()
    vector_store.build(folder, given, dimension=DIMENSION, collection=place)
    return len(documents) / (time.perf_counter() - begun)


def _batches(documents: list[dict[str, Any]], known: Vectors) -> Iterator[pa.RecordBatch]:
    rows = [
        {"chunk_id": str(uuid.UUID(int=number)), **document, "asset_id": f"jsonl:{number}", "source": "bench"}
        for number, document in enumerate(documents)
    ]
    for start in range(0, len(rows), _BATCH):
        yield from batches(rows[start : start + _BATCH], known[start : start + _BATCH].tolist())


def _nearest(known: Vectors, questions: Vectors) -> list[set[int]]:
    """By cosine, all compared."""
    lengths = [np.linalg.norm(some, axis=1, keepdims=True) for some in (known, questions)]
    similar = (questions / lengths[1]) @ (known / lengths[0]).T
    return [set(map(int, row)) for row in np.argsort(-similar, axis=1)[:, :DEPTH]]


def _seconds(search: Callable[[], list[Any]]) -> tuple[float, list[Any]]:
    begun = time.perf_counter()
    hits = search()
    return time.perf_counter() - begun, hits


@contextmanager
def _indexing_early() -> Iterator[None]:
    """Builds and uses the index of dense vectors although there are few."""
    early = HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=10, memory=Memory.Cold)
    with (
        mock.patch.object(local_build, "EXACT_UP_TO", _INDEXED_FROM),
        mock.patch.object(local_build, "_HNSW", early),
        mock.patch.object(server_index, "EXACT_UP_TO", _INDEXED_FROM),
        mock.patch.object(server_index._HNSW, "full_scan_threshold", 10),
    ):
        yield


@contextmanager
def _local(folder: Path) -> Iterator[None]:
    """Lets every server be the local mode of the client, with its files in that folder."""
    client = QdrantClient(path=str(folder))

    class Kept(Connection):
        def close(self) -> None:
            pass

    with (
        mock.patch.object(server_index, "connect", lambda url: Kept(url, client)),
        warnings.catch_warnings(),
        closing(client),
    ):
        warnings.simplefilter("ignore")
        yield
