"""The GraphRAG index for tracing citations. It is reopened when its files change, so forgotten text leaves memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from relrag_pipelines.settings import Settings
from relrag_query.graphrag import collections
from relrag_query.graphrag.index import Index, IndexMissing, State, open_index, state
from relrag_query.service.errors import NotServed


class TraceIndex:
    """One index, opened on first use, and again when its files change."""

    def __init__(self, folder: Path, settings: Callable[[], Settings]) -> None:
        """`settings` returns the current settings, which redact the index; the same object until they change."""
        self.folder, self._settings = folder, settings
        self._lock = threading.Lock()
        self._open: tuple[Settings, State, Index] | None = None

    def index(self) -> Index:
        """The index. Raises NotServed if its folder is gone."""
        with self._lock:
            settings = self._settings()
            if self._open is None or self._open[0] is not settings or self._is_outdated():
                self._open = None
                try:
                    index = collections.redact_if_stale(settings, open_index(self.folder))
                    self._open = settings, state(index.folder), index
                except (IndexMissing, FileNotFoundError):
                    raise NotServed(f"{self.folder}: the GraphRAG index is not there; make it again") from None
            return self._open[2]

    def evict_changed(self) -> None:
        """Closes the index if its files have changed."""
        with self._lock, suppress(OSError):
            if self._is_outdated():
                self._open = None

    def _is_outdated(self) -> bool:
        return self._open is not None and self._open[1] != state(self._open[2].folder)
