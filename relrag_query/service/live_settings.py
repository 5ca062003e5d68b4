"""The settings of a running server: relrag.toml is read again when it changes."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import Settings, SettingsError
from relrag_query.archive import ArchiveError

SETTLED_SECONDS = 0.3
"""a changed file is read after this long without further changes, since an editor may write it in parts"""
_State = tuple[tuple[int, int, int] | None, ...]


class LiveSettings:
    """Settings that are read again when relrag.toml, or a recogniser file that it names, changes."""

    def __init__(self, settings: Settings, config: Path | None) -> None:
        """`config` is the file of the settings; without it they never change."""
        self._settings, self._config = settings, config
        self._lock = threading.Lock()
        self._loaded_state = self._latest_state = self._files()
        self._changed_at = 0.0

    def __call__(self) -> Settings:
        """The current settings; the same object until a file changes.

        Raises ArchiveError if they have become invalid, or contain a change that needs a restart.
        """
        with self._lock:
            if self._config and (files := self._files()) != self._loaded_state:
                if files != self._latest_state:
                    self._latest_state, self._changed_at = files, time.monotonic()
                if time.monotonic() - self._changed_at >= SETTLED_SECONDS:
                    self._settings = _load(self._config, self._settings)
                    self._loaded_state = self._latest_state = self._files()
            return self._settings

    @property
    def valid(self) -> Settings:
        """The current settings; while they are invalid those that were valid last."""
        with suppress(ArchiveError):
            return self()
        return self._settings

    def reload(self) -> None:
        """Reads a changed file at the next call, although it has changed just now: a server has written it whole."""
        with self._lock:
            self._latest_state, self._changed_at = self._files(), float("-inf")

    def _files(self) -> _State:
        """Inode, size and modification time of each file, to detect changes; None for a missing file."""
        paths = (self._config, self._settings.pii_recognizers_path, self._settings.pii_language_model_path)
        return tuple(_state(path) for path in paths)


def _load(config: Path, last: Settings) -> Settings:
    """The settings of a changed file. The error does not describe the fault, because any user may see it."""
    try:
        settings = settings_module.load(config)
    except SettingsError:
        raise ArchiveError(f"{config.name} is wrong now; `relrag plan` says where", code="config_wrong") from None
    if (last.sources and not settings.sources) or (last.pii_redaction_enabled and not settings.pii_redaction_enabled):
        raise ArchiveError(
            f"{config.name} has no sources or no redaction any more; start this program again", code="config_changed"
        )
    return settings


def _state(path: Path | None) -> tuple[int, int, int] | None:
    try:
        file_stat = path.stat() if path else None
    except OSError:
        return None
    return (file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns) if file_stat else None
