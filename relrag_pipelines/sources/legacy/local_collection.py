"""Collections as qdrant-client's local mode stores them: a SQLite file of pickled points each.

`<folder>/collection/<name>/storage.sqlite` has a table `points (id TEXT PRIMARY KEY, point BLOB)`; see
qdrant_client/local/persistence.py. They are read and written without that client, which loads a whole collection into
memory, commits every point separately, and executes whatever a foreign pickle contains.
"""

from __future__ import annotations

import fcntl
import io
import pickle
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.sources.legacy.payload import OLD_VECTORS
from relrag_pipelines.sources.legacy_collection import CollectionError, LegacyPoint, PointChange

STORAGE = "storage.sqlite"
SNAPSHOT = ".snapshot-"
"""part of the names of copies"""
_HEADER = b"SQLite format 3\0"
_MODELS = "qdrant_client.http.models"
_MODEL_NAMES = ("PointStruct", "SparseVector")
_BATCH = 500
"""points that one query reads"""


class NotAPoint(RelragError):
    """A row that qdrant-client did not write."""


class _Model:
    """Replaces a model of qdrant-client, whose import takes a second."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["__dict__"])


def _stand_in(module: str, name: str) -> type:
    return _Model


def _real_model(module: str, name: str) -> type:
    from qdrant_client.http import models

    model: type = getattr(models, name)
    return model


class _Unpickler(pickle.Unpickler):
    """Unpickles points and nothing else: a pickle can name any function, and loading would call it."""

    def __init__(self, data: bytes, model: Callable[[str, str], type]) -> None:
        super().__init__(io.BytesIO(data))
        self._model = model

    def find_class(self, module: str, name: str) -> type:
        if not module.startswith(_MODELS) or name not in _MODEL_NAMES:
            raise NotAPoint
        return self._model(module, name)


def _unpickle(data: Any, model: Callable[[str, str], type] = _stand_in) -> Any:
    try:
        point = _Unpickler(data, model).load()
        valid = isinstance(point.payload or {}, dict) and isinstance(point.id, int | str)
        point.vector  # noqa: B018  raises if there is no vector
    except Exception:  # noqa: BLE001  a damaged pickle raises nearly any exception, with private text
        valid = False
    if not valid:
        raise NotAPoint
    return point


class LocalCollection:
    """A collection of local mode. Reading changes nothing, and works while another program has it open."""

    def __init__(self, file: Path, source: str) -> None:
        self.file = file
        self.name = file.parent.name
        self._label = f"the collection of {source}"
        """its name in messages, which are stored: the folder's name may be private"""

    def points(self) -> Iterator[LegacyPoint]:
        """Every point, the newest first; an unreadable one has no payload. Raises CollectionError."""
        seen: set[Any] = set()
        with self._open() as database:
            # an older client could leave several rows of a point, of which the newest counts
            for row, data in database.execute("SELECT rowid, point FROM points ORDER BY rowid DESC"):
                point = _read(row, data)
                if point.id not in seen:
                    seen.add(point.id)
                    yield point

    def fetch(self, keys: Sequence[int | str]) -> dict[int | str, LegacyPoint]:
        """The points with these keys."""
        points: dict[int | str, LegacyPoint] = {}
        with self._open() as database:
            for first in range(0, len(keys), _BATCH):
                batch = keys[first : first + _BATCH]
                marks = ",".join("?" * len(batch))
                query = f"SELECT rowid, point FROM points WHERE rowid IN ({marks})"  # noqa: S608  question marks
                points |= {row: _read(row, data) for row, data in database.execute(query, batch)}
        return points

    def write(self, changes: Iterable[PointChange]) -> None:
        """Makes the changes, all or none."""
        with self._open("rw") as database, database:
            for change in changes:
                (data,) = database.execute("SELECT point FROM points WHERE rowid = ?", (change.key,)).fetchone()
                point = _unpickle(data, _real_model)
                payload = {**(point.payload or {}), **change.values}
                point.payload = {name: value for name, value in payload.items() if name not in change.removed_fields}
                if isinstance(point.vector, dict):
                    point.vector = {name: vector for name, vector in point.vector.items() if name not in change.vectors}
                blob = sqlite3.Binary(pickle.dumps(point))
                database.execute("UPDATE points SET point = ? WHERE rowid = ?", (blob, change.key))
            failpoint("legacy.write", self.file)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Locks out other clients, with local mode's own lock. Raises CollectionError if another one has the lock."""
        lock = self.file.parents[2] / ".lock"
        with lock.open("a+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                why = "is open in another program; close that, then run this again"
                raise CollectionError(f"{self._label} {why}") from None
            yield

    def snapshot(self, moment: str) -> str:
        """Copies the whole folder beside itself; returns the copy's name, which only a complete copy gets."""
        folder = self.file.parents[2]
        copy = folder.with_name(f"{folder.name}{SNAPSHOT}{moment}")
        unfinished = copy.with_name(f"{copy.name}.unfinished")
        try:
            shutil.copytree(folder, unfinished, symlinks=True)
            failpoint("legacy.snapshot", copy)
            unfinished.rename(copy)
        except shutil.Error as errors:
            shutil.rmtree(unfinished, ignore_errors=True)
            why = f"a copy beside it cannot be made ({len(errors.args[0])} files failed)"
            raise CollectionError(f"{self._label} was not changed: {why}") from None
        except OSError:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
        return copy.name

    def has_snapshot(self, name: str) -> bool:
        """Whether a copy with that name exists."""
        return self.file.parents[2].with_name(name).is_dir()

    @contextmanager
    def _open(self, mode: str = "ro") -> Iterator[sqlite3.Connection]:
        if self.file.with_name(f"{STORAGE}-journal").exists():
            mode = "rw"  # a write was interrupted; the next program to open the file rolls it back
        try:
            with closing(sqlite3.connect(f"{self.file.absolute().as_uri()}?mode={mode}", uri=True)) as database:
                yield database
        except sqlite3.Error as error:
            why = "is in use by another program" if "locked" in str(error) else "is not a collection of qdrant-client"
            raise CollectionError(f"{self._label} {why}") from None


def is_collection(file: Path) -> bool:
    """Whether a file is a collection of local mode, by its path and header."""
    if file.name != STORAGE or file.parent.parent.name != "collection":
        return False
    with file.open("rb") as opened:
        return opened.read(len(_HEADER)) == _HEADER


def _read(row: int, data: Any) -> LegacyPoint:
    try:
        point = _unpickle(data)
    except NotAPoint:
        return LegacyPoint(row, f"row {row}", None)
    vectors = point.vector if isinstance(point.vector, dict) else {}
    return LegacyPoint(row, point.id, point.payload or {}, tuple(name for name in OLD_VECTORS if name in vectors))
