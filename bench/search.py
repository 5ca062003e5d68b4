"""Searching many passages through the whole pipeline of a query, against other libraries."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench import corpus, synced
from bench.figures import Figure
from bench.peers import Peer

if TYPE_CHECKING:
    from relrag_query.archive import Archive

COUNT = 50_000
ASKED = 200
_BEFORE = 20
"""questions asked before the clock starts"""


def measure(count: int = COUNT, asked: int = ASKED, others: Sequence[Peer] = ()) -> list[Figure]:
    """Opening the archive, and the time of a search: middle and slow ones."""
    from relrag_query.archive import Archive

    documents = corpus.documents(count)
    with tempfile.TemporaryDirectory() as place:
        config = synced.archive(Path(place) / "archive", documents, redacted=False)
        synced.sync(config)
        begun = time.perf_counter()
        with Archive.open(config) as archive:
            opened = time.perf_counter() - begun
            passages = archive.generation.manifest["counts"]["chunks"]
            questions = corpus.questions(documents, asked + _BEFORE)
            for question in questions[asked:]:
                archive.search(question)
            seconds = [_seconds(archive, question) for question in questions[:asked]]
    middle, slow = 1000 * statistics.median(seconds), 1000 * statistics.quantiles(seconds, n=20)[-1]
    return [
        Figure(f"search of {passages:,} passages, p50", middle, "ms", at_most=5.0),
        Figure(f"search of {passages:,} passages, p95", slow, "ms"),
        *(
            Figure(f"search, against {peer.name}", middle, "ms", peer.search_p50_ms, peer.name, at_least=20.0)
            for peer in others
        ),
        Figure("opening that archive", 1000 * opened, "ms"),
    ]


def _seconds(archive: Archive, question: str) -> float:
    begun = time.perf_counter()
    if not archive.search(question).hits:
        raise RuntimeError(f"nothing was found for {question!r}")
    return time.perf_counter() - begun
