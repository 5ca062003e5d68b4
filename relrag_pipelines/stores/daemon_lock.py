"""Whether an archive's Dagster daemon is running: its process locks a file from start to end.

Its heartbeats in Dagster's database do not tell: they are 30 seconds apart, and stay when it ends. The operating system
frees a lock when the last process that has the file open ends, however it ends.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relrag_pipelines.stores import process_identity


@contextmanager
def alive(home: Path) -> Iterator[int]:
    """A file to hand on to the daemon, which counts as alive as long as it has it open; waits for `dead` to end."""
    with _path(home).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        file.truncate(0)
        file.write(process_identity.namespace())
        file.flush()
        yield file.fileno()


@contextmanager
def dead(home: Path) -> Iterator[bool]:
    """Whether no daemon is alive; if so, none starts meanwhile."""
    with _path(home).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        try:
            yield True
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # a forked process may have the file open still


def namespace(home: Path) -> str:
    """The namespace of processes in which a daemon was last alive, as stores/process_identity.py writes it."""
    try:
        return _path(home).read_text()
    except FileNotFoundError:
        return ""


def _path(home: Path) -> Path:
    return home / "dagster" / "daemon.lock"
