"""What an embedder is: described by a `ModelInfo` before it is loaded, and then a thing with two methods."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from relrag_pipelines.model_service import EmbeddingError
from relrag_pipelines.stores.vectors.protocol import Vectors

SPANS_PER_PASSAGE, SHARE_WITH_SPANS = 1.1, 1.5
"""how many spans a passage has, and how much is embedded with them: in four archives of documents, mails and chats
.8 to 1.1 spans and 1.45 to 1.55; in one of short messages .05 and 1.05"""

_MOST_THREADS = 4


@dataclass(frozen=True)
class ModelInfo:
    """What is known of an embedder without loading it."""

    name: str
    """what its vectors are stored under: equal names give equal vectors for equal texts"""
    dimension: int
    max_tokens: int
    """of a longer text only the beginning is embedded"""
    languages: tuple[str, ...] = ()
    """ISO 639-1 codes; texts in others are searched by words only; empty: any"""
    host: str = ""
    """where texts are sent; empty: they stay on this machine"""
    usd_per_million: float | None = None
    """list price of a million tokens, where it is known"""
    tokens_per_second: float = 0.0
    """on two shared cores; 0: not known"""
    batch_texts: int = 64
    """so many texts are embedded at once, and kept at once"""
    batch_bytes: int = 2**30
    """of UTF-8 in one batch, at most"""
    means: Path | None = None
    """its own means of each language, where its vectors are compared without these; see `centring`"""
    spans: bool = False
    """whether the spans of a passage are embedded too; see `spans`"""

    @property
    def embedded_share(self) -> float:
        """How much is embedded of a text, roughly: with the spans of longer passages more than the text itself."""
        return SHARE_WITH_SPANS if self.spans else 1.0

    @property
    def numbers_per_passage(self) -> float:
        """Numbers that the vectors of a passage have, roughly."""
        return self.dimension * (1 + SPANS_PER_PASSAGE if self.spans else 1)


def thread_count() -> int:
    """Threads that a model on this machine uses: those of OMP_NUM_THREADS, which Ray sets for its tasks, if set."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return min(_MOST_THREADS, int(given) if given.isdecimal() and int(given) else os.cpu_count() or 1)


class Embedder(Protocol):
    """A loaded model."""

    def documents(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """A row for each text, in order, and how many tokens they have; EmbeddingError where that fails."""
        ...

    def query(self, text: str) -> Vectors:
        """The vector of a question; EmbeddingError where that fails."""
        ...


def check_vectors(rows: object, texts: int, dimension: int, host: str) -> Vectors:
    """What a service answered as vectors; EmbeddingError where it is not one finite vector for each text."""
    try:
        vectors = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError):
        vectors = np.empty(0, np.float32)
    if vectors.shape != (texts, dimension):
        shape = " x ".join(map(str, vectors.shape))
        raise EmbeddingError(f"{host} gave {shape} numbers for {texts} texts, not {texts} x {dimension}")
    if not np.isfinite(vectors).all():
        raise EmbeddingError(f"{host} gave a vector with numbers that are not finite")
    return vectors
