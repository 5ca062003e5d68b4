"""How threads share one open archive: each reads through a cursor of its own, and the last to end releases it.

A DuckDB connection used by several threads raises, or gives one thread the rows of another. Its cursors are connections
to the same open files. Cursors are pooled: their number is the largest number of threads that read at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import duckdb

from relrag_pipelines.errors import RelragError
from relrag_pipelines.workers import cancellation


class ArchiveError(RelragError):
    """The archive cannot be read or queried; the message says what to do."""


class WrongQuestion(ArchiveError):
    """No archive can answer this query; the message says which queries are possible."""


class Readers:
    """A pool of cursors for the threads that read from one connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, let_go: Callable[[], None]) -> None:
        """`let_go` is called once, by `close` or by the thread that is the last to read after that."""
        self._connection = connection
        self._let_go = let_go
        self._lock = threading.Lock()
        self._idle: list[duckdb.DuckDBPyConnection] = []
        self._reading = 0
        self._closed = False

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor for this thread alone, interrupted when its work is cancelled. Raises ArchiveError after `close`."""
        with self._lock:
            if self._closed:
                raise ArchiveError("the archive was closed; open it again")
            cursor = self._idle.pop() if self._idle else self._connection.cursor()
            self._reading += 1
        try:
            with cancellation.stopped_by(cursor.interrupt):
                yield cursor
            with self._lock:
                self._idle.append(cursor)
        except BaseException:
            cursor.close()  # it may hold rows that were not fetched
            raise
        finally:
            self._end()

    def _end(self) -> None:
        with self._lock:
            self._reading -= 1
            last = self._closed and not self._reading
        if last:
            self._let_go()

    def close(self) -> None:
        """Refuses new readers; threads that are already reading finish normally."""
        with self._lock:
            last = not (self._closed or self._reading)
            self._closed = True
        if last:
            self._let_go()
