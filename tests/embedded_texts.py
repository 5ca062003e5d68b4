"""The built-in model for tests: loaded once in each process, and run once for each text that tests of a run embed.

Many tests sync the same few archives, and embedding takes most of the time of that. A vector depends on nothing but the
model and the text, as tests/embedders/test_e5.py sees to, so the processes of a run share them in a folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from relrag_pipelines import embedders
from relrag_pipelines.embedders import e5
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores.vectors.protocol import Vectors


def share_model(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Lets `embedders.load` return one model a process, which stores its vectors in the folder; E5 stays as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    ready: dict[tuple[str, str, str], e5.E5] = {}

    def load(settings: Settings) -> e5.E5:
        file = (e5._PACKAGE, e5._FILE, e5._SHA256)  # tests let the file be missing or changed
        if file not in ready:
            ready[file] = SharedModel(folder)
        return ready[file]

    patch.setitem(embedders.EMBEDDERS, "e5", replace(embedders.EMBEDDERS["e5"], load=load))


class SharedModel(e5.E5):
    """The model, whose vectors of passages are read from a folder where another test has stored them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(e5.weights())
        self._folder = folder

    def documents(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """As that of E5."""
        missing = [text for text in dict.fromkeys(texts) if not self._file(text).exists()]
        made = self._threads.map(self._vector, [e5._PASSAGE + text for text in missing])
        for text, (vector, tokens) in zip(missing, made, strict=True):
            self._store(text, np.append(vector, np.float32(tokens)))
        rows = [np.fromfile(self._file(text), np.float32) for text in texts]
        vectors = np.array([row[:-1] for row in rows], np.float32).reshape(-1, e5.DIMENSION)
        return vectors, sum(int(row[-1]) for row in rows)

    def _file(self, text: str) -> Path:
        return self._folder / hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def _store(self, text: str, row: Vectors) -> None:
        """Another process may store the same at the same time."""
        part = self._file(text).with_suffix(f".{os.getpid()}")
        row.astype(np.float32).tofile(part)
        part.rename(self._file(text))
