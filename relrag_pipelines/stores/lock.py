"""One writer at a time: an OS file lock on RELRAG_HOME/lock, taken inside whatever writes.

The operating system frees it when its process ends, however it ends, so a lock is never stale. It belongs to a process;
of its threads (a server writes from several) one at a time holds it.
"""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files import access
from relrag_pipelines.files.failpoints import failpoint

_MOMENT_SECONDS = 0.2
_held: dict[Path, int] = {}
"""depth of nested use by the thread that holds it; a sync holds the lock around stages that take it themselves"""

_turns: dict[Path, threading.RLock] = {}
"""whose turn it is among the threads of this process; `setdefault` gives all of them the same"""

_open: set[int] = set()
"""files of the locks that are held"""


def _let_go() -> None:
    """In a forked child: a lock is free only when every process that has its file open has ended."""
    for file in _open:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, file, inheritable=False)  # not closed, so that the number is not given to another file
        os.close(nothing)
    _open.clear()
    _held.clear()
    _turns.clear()  # a thread of the parent may hold one


os.register_at_fork(after_in_child=_let_go)


class LockedByOther(SafeError):
    """Another process is writing; the message says which, since when, and what it does."""


@contextmanager
def writing(home: Path, purpose: str, wait_seconds: float | None = None) -> Iterator[None]:
    """Holds the writer's lock of that home, which a thread may take again while it holds it.

    Waits up to `wait_seconds` for another process or thread, else raises LockedByOther. None says that whoever asks has
    no `--wait` to be named.
    """
    path = home.resolve() / "lock"
    turn, until = _turns.setdefault(path, threading.RLock()), time.monotonic() + max(wait_seconds or 0, _MOMENT_SECONDS)
    if not turn.acquire(timeout=until - time.monotonic()):
        raise _locked_error(path, wait_seconds)
    try:
        if _held.get(path):
            yield from _reenter(path)
        else:
            yield from _hold(path, purpose, wait_seconds, until)
    finally:
        turn.release()


def _reenter(path: Path) -> Iterator[None]:
    _held[path] += 1
    try:
        yield
    finally:
        _held[path] -= 1


def _hold(path: Path, purpose: str, wait_seconds: float | None, until: float) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    failpoint("lock.open", path)
    with path.open("a+") as file:
        access.restrict(path)
        _acquire(file.fileno(), path, wait_seconds, until)
        failpoint("lock.sign", path)
        file.truncate(0)
        json.dump({"pid": os.getpid(), "purpose": purpose, "since": datetime.now(UTC).isoformat("T", "seconds")}, file)
        file.flush()
        _held[path] = 1
        _open.add(file.fileno())
        failpoint("lock.held", path)
        try:
            yield
        finally:
            _held[path] = 0
            _open.discard(file.fileno())
            failpoint("lock.release", path)
            file.truncate(0)


def holder(home: Path) -> str | None:
    """Who is writing to that home now, in words; None when nobody is."""
    path = home / "lock"
    if not path.exists():
        return None
    with path.open("r") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _describe(path)
    return None


def _acquire(handle: int, path: Path, wait_seconds: float | None, until: float) -> None:
    # `holder` takes the lock for a moment to see whether it is free, and who writes signs it a moment after taking it
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                raise _locked_error(path, wait_seconds) from None
            time.sleep(0.05)


def _locked_error(path: Path, wait_seconds: float | None) -> LockedByOther:
    waiting, writer = "" if wait_seconds is None else ", or add `--wait SECONDS` to wait for it", _describe(path)
    message = f"{writer} is writing to this archive; try again when it is done{waiting}"
    return LockedByOther(message, code="locked", holder=writer)


def _describe(path: Path) -> str:
    try:
        holder = json.loads(path.read_text())
        return f"{holder['purpose']} (process {holder['pid']}, since {holder['since']})"
    except (OSError, ValueError, KeyError):
        return "another process"
