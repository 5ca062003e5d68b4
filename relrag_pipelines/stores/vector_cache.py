"""Vectors by model and keyed hash of the text, so that none is computed or paid for twice.

One SQLite file (private/vectors.db), written after every batch, so that a killed sync goes on where it was. It says
nothing of the texts, but a vector tells of its text; so vectors of texts that are gone are removed and overwritten.
Each GraphRAG index that the owner has registered has a file of its own (private/graphrag_vectors/<name>.db).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from relrag_pipelines.files.atomic import make_private
from relrag_pipelines.stores.vectors.protocol import Vectors

_NAME = "vectors.db"
_AT_ONCE = 500
_TABLE = """
CREATE TABLE IF NOT EXISTS vectors (model TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS by_text ON vectors (text_hash, model);
"""


def path(home: Path) -> Path:
    """Where the cache of an archive lies; there is none before anything has been embedded."""
    return home / "private" / _NAME


def path_of_registered(home: Path, name: str) -> Path:
    """Where the vectors of a registered GraphRAG index lie, if it has any."""
    return home / "private" / "graphrag_vectors" / f"{name}.db"


@contextmanager
def open(home: Path, file: Path | None = None) -> Iterator[sqlite3.Connection]:
    """The cache of an archive, or in its home that in another file, made when it is new."""
    file = file or path(home)
    make_private(home / "private")
    make_private(file.parent)
    file.touch(mode=0o600)
    with closing(sqlite3.connect(file)) as cache:
        cache.execute("PRAGMA secure_delete = ON")
        cache.executescript(_TABLE)
        yield cache


def find(cache: sqlite3.Connection, model: str, hashes: Sequence[str]) -> dict[str, Vectors]:
    """The cached vectors, by hash."""
    vectors: dict[str, Vectors] = {}
    for start in range(0, len(hashes), _AT_ONCE):
        batch = hashes[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(batch))
        query = f"SELECT text_hash, vector FROM vectors WHERE model = ? AND text_hash IN ({marks})"  # noqa: S608
        vectors |= {key: np.frombuffer(vector, "<f4") for key, vector in cache.execute(query, [model, *batch])}
    return vectors


def hashes_with_vector(home: Path, model: str, hashes: Sequence[str]) -> set[str]:
    """Which of these have a vector; where there is no cache yet none is made."""
    if not path(home).exists():
        return set()
    with open(home) as cache:
        return set(find(cache, model, hashes))


def keep(cache: sqlite3.Connection, model: str, hashes: Sequence[str], vectors: Vectors) -> None:
    """Adds vectors, a row for each hash; they are on disk when this returns."""
    rows = [(model, key, row.tobytes()) for key, row in zip(hashes, vectors.astype("<f4"), strict=True)]
    with cache:
        cache.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)


def prune(cache: sqlite3.Connection, hashes: Iterable[str]) -> int:
    """Removes the vectors, of all models, of texts that are none of these; returns how many."""
    with cache:
        cache.execute("CREATE TEMP TABLE kept (text_hash TEXT PRIMARY KEY)")
        cache.executemany("INSERT OR IGNORE INTO kept VALUES (?)", ((key,) for key in hashes))
        gone = cache.execute("DELETE FROM vectors WHERE text_hash NOT IN (SELECT text_hash FROM kept)").rowcount
        cache.execute("DROP TABLE kept")
    return gone
