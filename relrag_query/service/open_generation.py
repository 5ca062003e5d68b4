"""The newest generation, held open for all callers.

A newer generation is opened between requests, and the same one again where the settings are others. A request that
has begun ends in the one it began with, which is let go of by the last that reads it: within a second of a publish
where nobody does, so that `relrag forget` need not wait.
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

LOOK_SECONDS = 0.5
"""how often an idle service looks for a newer generation"""


@dataclass
class _Held:
    """An open generation and how many requests read it."""

    archive: Archive
    settings: Settings
    requests: int = 0
    retired: bool = False


class OpenGeneration:
    """The generation that requests begin in. Close it."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        clients: Sequence[str],
        let_go: Callable[[], None],
        look: Callable[[], None],
    ) -> None:
        """`settings` gives those of now, the same object while nothing in them has changed.

        `let_go` is called when a generation is given up, `look` whenever a newer one is looked for.
        """
        self._settings, self._clients, self._let_go, self._look = settings, clients, let_go, look
        self._lock = threading.Lock()
        self._held: _Held | None = None
        self._closed = threading.Event()
        self._watch = threading.Thread(target=self._let_go_of_old, name="generation-watch", daemon=True)
        self._watch.start()

    def close(self) -> None:
        """Lets go of the archive once the requests that read it have ended."""
        self._closed.set()
        with self._lock:
            self._retire()
        self._watch.join()

    @property
    def number(self) -> int | None:
        """The generation that requests begin in now; None where none is open."""
        held = self._held
        return held.archive.generation.number if held else None

    @contextmanager
    def reading(self) -> Iterator[Archive]:
        """The newest generation, open until the block ends whatever is published meanwhile; raises ArchiveError."""
        with self._lock:
            held = self._newest()
            held.requests += 1
        try:
            yield held.archive
        finally:
            with self._lock:
                held.requests -= 1
                last = held.retired and not held.requests
            if last:
                _close(held)

    def _newest(self) -> _Held:
        """The current generation, opened where it is not; held by the lock."""
        if self._closed.is_set():
            raise ArchiveError("the archive was closed; open it again")
        if self._held is None or self._outdated(self._held):
            settings = self._settings()
            opened = Archive.of(settings, self._clients)
            self._retire()
            self._held = _Held(opened, settings)
        return self._held

    def _outdated(self, held: _Held) -> bool:
        try:
            settings = self._settings()
            newest = generations.current_number(settings.home_path)
            return settings is not held.settings or newest != held.archive.generation.number
        except GenerationError as error:
            raise ArchiveError(str(error)) from None

    def _retire(self) -> None:
        """Gives up the open generation; held by the lock."""
        held, self._held = self._held, None
        self._let_go()
        if held is None:
            return
        held.retired = True
        if not held.requests:
            _close(held)

    def _let_go_of_old(self) -> None:
        while not self._closed.wait(LOOK_SECONDS):
            with self._lock, suppress(ArchiveError, OSError):
                if self._held and self._outdated(self._held):
                    self._retire()
            self._look()


def _close(held: _Held) -> None:
    held.archive.close()
    caches.clear()
