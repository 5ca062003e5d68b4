"""Searching many passages through the whole pipeline of a query, against other libraries."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench import clock, corpus, document_sync
from bench.measurement import Figure
from bench.peers import Peer

if TYPE_CHECKING:
    from relrag_query.archive import Archive

COUNT = 50_000
ASKED = 200
_BEFORE = 20
"""questions asked before the clock starts"""
_TURNS = 3
"""the least of these counts: others use the machine too"""


def measure(count: int = COUNT, asked: int = ASKED, others: Sequence[Peer] = ()) -> list[Figure]:
    """Opening the archive, and the time of a search by words, and by words and meaning: middle and slow ones."""
    from relrag_pipelines import settings
    from relrag_query.archive import Archive

    documents = corpus.documents(count)
    questions = corpus.questions(documents, asked + _BEFORE)
    with tempfile.TemporaryDirectory() as place:
        config = document_sync.archive(Path(place) / "archive", documents, redacted=False, embedder="minilm")
        clock.process(sys.executable, "-m", "bench.invented_vectors", str(config))
        loaded = settings.load(config, {})
        begun = time.perf_counter()
        with Archive.of(loaded.model_copy(update={"embedder": "none"})) as archive:
            opened = time.perf_counter() - begun
            passages = archive.generation.manifest["counts"]["chunks"]
            middle, slow = _asked(archive, questions)
        with Archive.of(loaded) as archive:
            both = _asked(archive, questions)
    return [
        Figure(f"search of {passages:,} passages, p50", middle, "ms", at_most=5.0),
        Figure(f"search of {passages:,} passages, p95", slow, "ms"),
        Figure("the same by meaning too, with embedding the question, p50", both[0], "ms", at_most=15.0),
        Figure("the same by meaning too, with embedding the question, p95", both[1], "ms", at_most=40.0),
        *(
            Figure(f"search, against {peer.name}", middle, "ms", peer.search_p50_ms, peer.name, at_least=20.0)
            for peer in others
        ),
        Figure("opening that archive", 1000 * opened, "ms"),
    ]


def _asked(archive: Archive, questions: Sequence[str]) -> tuple[float, float]:
    """Milliseconds of a search, the median and the 95th percentile; the last questions are asked before."""
    for question in questions[-_BEFORE:]:
        archive.search(question)
    turns = [[_seconds(archive, question) for question in questions[:-_BEFORE]] for _ in range(_TURNS)]
    middle, slow = min(map(statistics.median, turns)), min(statistics.quantiles(turn, n=20)[-1] for turn in turns)
    return 1000 * middle, 1000 * slow


def _seconds(archive: Archive, question: str) -> float:
    begun = time.perf_counter()
    if not archive.search(question).hits:
        raise RuntimeError(f"nothing was found for {question!r}")
    return time.perf_counter() - begun
