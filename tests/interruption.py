"""Runs `relrag` in processes of their own that are cut short at a named place, and compares what they leave behind.

A server process that has imported everything forks them: each is a process of its own that a signal kills, without
the seconds that the imports take.
"""

from __future__ import annotations

import errno
import hashlib
import json
import multiprocessing
import os
import signal
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal

from qdrant_edge import EdgeShard, ScrollRequest

from relrag_pipelines.files import failpoints
from relrag_pipelines.privacy import keys
from relrag_pipelines.records import TABLES
from relrag_pipelines.stages import plan_model
from relrag_pipelines.stores import catalog, generations, lock, progress_file, vector_cache
from relrag_query import cli

How = Literal["kill", "tear", "full", "fault"]
"""kill: SIGKILL; tear: half of the file is lost, then SIGKILL; full: the disk takes nothing from there on; fault: this
one write fails"""

CLOCK = "2025-01-20T12:00:00+00:00"

HELPED = "helped"
"""a file in an archive's folder which has every sync of it take other processes to help, however little there is"""

processes = multiprocessing.get_context("forkserver")
"""starts processes of their own, quickly"""
processes.set_forkserver_preload(
    [
        "relrag_pipelines.orchestration.runner",
        "relrag_query.cli.commands.sync",
        "relrag_query.cli.progress",
        # what a sync imports on its way
        "alembic.command",
        "dagster._core.executor.in_process",
        "dagster._core.instance.factory",
        "dagster._core.instance.runs.run_domain",
        "dagster._core.storage.event_log",
        "dagster._core.storage.local_compute_log_manager",
        "dagster._core.storage.root",
        "dagster._core.storage.runs",
        "dagster._core.storage.schedules",
        "dagster._daemon.controller",
        "relrag_pipelines.embedders.e5.encoder",
        "relrag_pipelines.pii",
        "relrag_pipelines.publishing.publish",
        "relrag_pipelines.sources.document",
        "relrag_pipelines.sources.jsonl",
        "relrag_pipelines.sources.whatsapp",
        "sqlalchemy.dialects.sqlite",
    ]
)

_WRITES = (
    "write",
    "fsync",
    "make",
    "create",
    "commit",
    "upsert",
    "optimize",
    "index",
    "flush",
    "copy",
    "link",
    "inputs",
    "about",
    "failures",
    "passages",
    "append",
)
"""last parts of the names of places that need room on the disk"""


@dataclass(frozen=True)
class Place:
    """The n-th time, counted from 1, that a process comes to a place of that name."""

    name: str
    nth: int = 1


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    """its exit code; minus the signal where one ended it"""
    said: str
    """what it printed"""
    reached: list[tuple[str, str]]
    """the places it came to: name, and what is written there, relative to the archive's folder"""


def run(folder: Path, *words: str, at: Place | float | None = None, how: How = "kill") -> Ended:
    """Runs `relrag WORDS` on the archive in that folder: cut short at a place, killed after seconds, or to its end."""
    place = at if isinstance(at, Place) else None
    process = begin(_command, folder, words, place, how)
    if isinstance(at, float):
        wait([process.sentinel], at)
        process.kill()
    end(process)
    reached = [line.split("\t") for line in _text(folder / "reached").splitlines()]
    said = _text(folder / "said")
    code = process.exitcode
    assert code is not None
    return Ended(code, said, [(name, os.path.relpath(path, folder)) for name, path in reached])


def begin(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    """Starts a process that `end` waits for; from any thread."""
    process = processes.Process(target=target, args=arguments)
    with _ends:
        process.start()
    return process


def end(process: BaseProcess) -> None:
    """Waits for the end of a process."""
    wait([process.sentinel])
    with _ends:
        process.join()


_ends = threading.Lock()
"""Held while the ends of processes are read. Starting one looks after all that were started: of two threads that read
the same end, the second finds nothing, and multiprocessing says 255."""


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _command(folder: Path, words: tuple[str, ...], at: Place | None, how: How) -> None:
    if (folder / HELPED).exists():
        plan_model.Plan.large = property(lambda self: not self.empty)  # type: ignore[assignment]
    with (folder / "said").open("wb") as said:
        for stream in (1, 2):
            os.dup2(said.fileno(), stream)
    os.environ["RELRAG_NOW"] = CLOCK
    # the same in every run, so that what runs make can be compared
    keys.secrets.token_bytes = lambda size=32: b"k" * size  # type: ignore[assignment]
    sys.argv = ["relrag", *words, "--config", str(folder / "relrag.toml")]
    with (folder / "reached").open("w") as reached:
        failpoints.watch = _stopping(at, how, reached.write, reached.flush)
        cli.main()


def _stopping(
    at: Place | None, how: How, write: Callable[[str], Any], flush: Callable[[], Any]
) -> Callable[[str, Path], None]:
    visits: Counter[str] = Counter()
    full = False

    def watch(name: str, path: Path) -> None:
        nonlocal full
        visits[name] += 1
        write(f"{name}\t{path}\n")
        flush()
        if at == Place(name, visits[name]):
            if how == "tear":
                os.truncate(path, path.stat().st_size // 2)
            if how in ("kill", "tear"):
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "fault":
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
            full = True
        if full and name.endswith(_WRITES):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    return watch


def state(home: Path) -> dict[str, Any]:
    """All that an archive holds, to be compared: files, the rows of every table, and the points of each generation."""
    found: dict[str, Any] = {"current": generations.current_number(home), "holder": lock.holder(home)}
    found["lock"] = (home / "lock").read_text()
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        if path == vector_cache.path(home):  # equal rows need not give equal pages
            found[name] = _database(path)
        elif name == progress_file.NAME:
            continue  # how far the last sync that did anything has come
        elif path.is_file() and name.startswith(("private/", "lake/")):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        elif name.startswith("published/") and name.count("/") <= 2:  # the names below are random
            found[name] = "there"
    for number in sorted(generations.numbers(home)):
        found[f"rows of {number}"] = rows(home / "published" / str(number) / "catalog.duckdb")
        found[f"points of {number}"] = points(home / "published" / str(number) / "vectors")
    return found


def rows(path: Path) -> dict[str, list[Any]]:
    """All rows of all tables of a catalog, in an order of their own."""
    with catalog.open(path) as connection:
        tables = [name for (name,) in connection.execute("SHOW TABLES").fetchall() if name in TABLES]
        return {table: sorted(map(repr, connection.table(table).fetchall())) for table in tables}


def _database(path: Path) -> list[str]:
    """The rows of every table of an SQLite database, ordered."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return sorted(f"{table} {row}" for table in tables for row in connection.execute(f"SELECT * FROM {table}"))


def points(vectors: Path) -> list[str]:
    """Ids and payloads of all points, ordered."""
    shard = EdgeShard.load(str(vectors))
    try:
        found, _ = shard.scroll(ScrollRequest(limit=100_000, with_payload=True))
        return sorted(json.dumps([str(point.id), point.payload], sort_keys=True, default=str) for point in found)
    finally:
        shard.close()


def unfinished_runs(home: Path) -> list[str]:
    """Dagster runs that are shown as going on: their status."""
    database = home / "dagster" / "history" / "runs.db"
    if not database.exists():
        return []
    with closing(sqlite3.connect(database)) as connection:
        query = "SELECT status FROM runs WHERE status NOT IN ('SUCCESS', 'FAILURE', 'CANCELED')"
        return [status for (status,) in connection.execute(query)]
