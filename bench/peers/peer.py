"""What every peer is asked to do: take in documents, then answer questions; the seconds of both as JSON."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from qdrant_client import QdrantClient

from bench import corpus
from relrag_pipelines.text.sparse_encoder import SparseEncoder

DIMENSIONS = 384
"""of the constant vector: those of a small sentence embedder"""
LIMIT = 8
"""results of a search"""


class Peer(Protocol):
    """One library with its store."""

    def ingest(self, documents: list[dict[str, Any]]) -> None:
        """Takes in documents so that they can be searched."""
        ...

    def search(self, question: str) -> list[str]:
        """Texts found for a question, best first."""
        ...


def sparse_documents(texts: list[str]) -> tuple[list[list[int]], list[list[float]]]:
    """Indices and values of the sparse vectors of texts."""
    vectors = [_encoder.document(text) for text in texts]
    return [list(vector.indices) for vector in vectors], [list(vector.values) for vector in vectors]


def sparse_question(text: str) -> tuple[list[int], list[float]]:
    """Indices and values of the sparse vector of a question."""
    vector = _encoder.query(text)
    return list(vector.indices), list(vector.values)


def main(make: Callable[[QdrantClient], Peer], packages: list[str]) -> None:
    """Runs a peer as the command line says: FILE TIMED ASKED.

    FILE holds documents as JSON Lines. The first TIMED are taken in against the clock, into a folder. Then ASKED
    questions are asked of all of them, held in memory: a search reads nothing from the folder, and filling it takes
    minutes.
    """
    documents, timed, asked = corpus.read(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as place:
        peer = make(QdrantClient(path=place))
        begun = time.perf_counter()
        peer.ingest(documents[:timed])
        figures: dict[str, Any] = {"ingest_s": time.perf_counter() - begun}
    peer = make(QdrantClient(":memory:"))
    peer.ingest(documents)
    figures["search_p50_ms"] = 1000 * statistics.median(_searches(peer, corpus.questions(documents, asked)))
    print(json.dumps(figures | {"versions": {package: version(package) for package in packages}}))


def _searches(peer: Peer, questions: list[str]) -> list[float]:
    """Seconds of each; the first question is asked once before."""
    seconds = []
    for question in [questions[0], *questions]:
        begun = time.perf_counter()
        if not peer.search(question):
            raise SystemExit(f"nothing was found for {question!r}")
        seconds.append(time.perf_counter() - begun)
    return seconds[1:]


_encoder = SparseEncoder()
