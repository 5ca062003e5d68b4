"""The settings of a running server: relrag.toml is read again when it changes."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import Settings, SettingsError
from relrag_query.archive import ArchiveError

SETTLED_SECONDS = 0.3
"""how long a changed file stays as it is before it is read: an editor may write it in parts"""
_State = tuple[tuple[int, int, int] | None, ...]


class LiveSettings:
    """Settings that are read again when relrag.toml or a file of recognisers that it names is another."""

    def __init__(self, settings: Settings, config: Path | None) -> None:
        """`config` is the file that they come from; without one they stay."""
        self._last, self._config = settings, config
        self._lock = threading.Lock()
        self._read = self._seen = self._files()
        self._since = 0.0

    def __call__(self) -> Settings:
        """The settings of now; the same object while no file has changed.

        Raises ArchiveError where they are wrong now, or would take what only a new start may.
        """
        with self._lock:
            if self._config and (files := self._files()) != self._read:
                if files != self._seen:
                    self._seen, self._since = files, time.monotonic()
                if time.monotonic() - self._since >= SETTLED_SECONDS:
                    self._last = _load(self._config, self._last)
                    self._read = self._seen = self._files()
            return self._last

    def _files(self) -> _State:
        """What tells a changed file: inode, size and time of change; None for one that is not there."""
        named = (self._config, self._last.pii_recognizers_path, self._last.pii_language_model_path)
        return tuple(_state(one) for one in named)


def _load(config: Path, last: Settings) -> Settings:
    """The settings of a changed file. What is wrong with it is for the owner, not for everybody who is served."""
    try:
        found = settings_module.load(config)
    except SettingsError:
        raise ArchiveError(f"{config.name} is wrong now; `relrag plan` says where") from None
    if not found.sources or (last.pii_redaction_enabled and not found.pii_redaction_enabled):
        raise ArchiveError(f"{config.name} has no sources or no redaction any more; start this program again")
    return found


def _state(path: Path | None) -> tuple[int, int, int] | None:
    try:
        found = path.stat() if path else None
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found else None
