"""Syncs an archive whose passages get invented vectors: `python -m bench.invented_vectors RELRAG_TOML`.

Embedding 50,000 passages would take a quarter of an hour; how long a search takes does not depend on what the vectors
say. They are those of the built-in model in length and number, and different for every text.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from relrag_pipelines.embedders import EMBEDDERS, Backend, Vectors, minilm
from relrag_pipelines.orchestration import runner
from relrag_query.cli.commands.sync import sync


class Invented:
    """Unit vectors that depend on the text alone."""

    def documents(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """A vector for each text; no tokens are counted."""
        return np.array([self.query(text) for text in texts]), 0

    def query(self, text: str) -> Vectors:
        """One vector."""
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        row = np.random.default_rng(seed).standard_normal(minilm.DIMENSION).astype(np.float32)
        vector: Vectors = row / np.linalg.norm(row)
        return vector


if __name__ == "__main__":
    EMBEDDERS["minilm"] = Backend(minilm.model, lambda settings: Invented())
    runner._EMBEDDED_AT_ONCE = 10**9  # one generation is enough
    sys.exit(sync(Path(sys.argv[1])))
