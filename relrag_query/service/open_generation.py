"""The newest generation, kept open for all requests.

When a newer generation is published or the settings change, the archive is opened again between requests. A running
request keeps its generation, and the last request that reads a generation closes it. An idle service closes an old
generation within a second of a publish, so that `relrag forget` need not wait.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import generations
from relrag_pipelines.stores.generations import GenerationError
from relrag_query.archive import Archive, ArchiveError
from relrag_query.service import caches

POLL_SECONDS = 0.5
"""an idle service checks this often for a newer generation"""


@dataclass
class _OpenArchive:
    """An open generation and the number of requests that read it."""

    archive: Archive
    settings: Settings
    requests: int = 0
    retired: bool = False


class OpenGeneration:
    """The generation that new requests read. The owner must close it."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        clients: Sequence[str],
        on_retire: Callable[[], None],
        on_poll: Callable[[], None],
    ) -> None:
        """`settings` returns the current settings, the same object until they change.

        `on_retire` is called when a generation is retired, `on_poll` after each check for a newer one.
        """
        self._settings, self._clients, self._on_retire, self._on_poll = settings, clients, on_retire, on_poll
        self._lock = threading.Lock()
        self._current: _OpenArchive | None = None
        self._closed = threading.Event()
        self._watch = threading.Thread(target=self._watch_for_newer, name="generation-watch", daemon=True)
        self._watch.start()

    def close(self) -> None:
        """Closes the archive when the requests that read it have ended."""
        self._closed.set()
        with self._lock:
            self._retire()
        self._watch.join()

    @property
    def number(self) -> int | None:
        """Number of the generation that new requests read; None if none is open."""
        current = self._current
        return current.archive.generation.number if current else None

    @contextmanager
    def reading(self) -> Iterator[Archive]:
        """The newest generation, which stays open until the block ends. Raises ArchiveError."""
        with self._lock:
            current = self._newest()
            current.requests += 1
        try:
            yield current.archive
        finally:
            with self._lock:
                current.requests -= 1
                last = current.retired and not current.requests
            if last:
                _close(current)

    def _newest(self) -> _OpenArchive:
        """The current generation, opened if necessary. The caller holds the lock."""
        if self._closed.is_set():
            raise ArchiveError("the archive was closed; open it again")
        if self._current is None or self._is_outdated(self._current):
            settings = self._settings()
            archive = Archive.of(settings, self._clients)
            self._retire()
            self._current = _OpenArchive(archive, settings)
        return self._current

    def _is_outdated(self, current: _OpenArchive) -> bool:
        try:
            settings = self._settings()
            newest = generations.current_number(settings.home_path)
            return settings is not current.settings or newest != current.archive.generation.number
        except GenerationError as error:
            raise ArchiveError(str(error), code=error.code, **error.values) from None

    def _retire(self) -> None:
        """Retires the open generation. The caller holds the lock."""
        current, self._current = self._current, None
        self._on_retire()
        if current is None:
            return
        current.retired = True
        if not current.requests:
            _close(current)

    def _watch_for_newer(self) -> None:
        while not self._closed.wait(POLL_SECONDS):
            with self._lock, suppress(ArchiveError, OSError):
                if self._current and self._is_outdated(self._current):
                    self._retire()
            self._on_poll()


def _close(current: _OpenArchive) -> None:
    current.archive.close()
    caches.clear()
