"""The settings of a program that runs for long: those of relrag.toml as it is now."""

from __future__ import annotations

import threading
from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import Settings, SettingsError
from relrag_query.archive import ArchiveError

_State = tuple[tuple[int, int, int] | None, ...]


class LiveSettings:
    """Settings that are read again when relrag.toml or a file of recognisers that it names is another."""

    def __init__(self, settings: Settings, config: Path | None) -> None:
        """`config` is the file that they come from; without one they stay."""
        self._settings, self._config = settings, config
        self._lock = threading.Lock()
        self._state = self._files()

    def __call__(self) -> Settings:
        """The settings of now; the same object while no file has changed. ArchiveError where they are wrong now."""
        with self._lock:
            if self._config and (state := self._files()) != self._state:
                try:
                    self._settings = settings_module.load(self._config)
                except SettingsError as error:
                    raise ArchiveError(str(error)) from None
                self._state = self._files() if state[0] == self._files()[0] else state
            return self._settings

    def _files(self) -> _State:
        """What tells a changed file: inode, size and time of change; None for one that is not there."""
        named = (self._config, self._settings.pii_recognizers_path, self._settings.pii_language_model_path)
        return tuple(_state(one) for one in named)


def _state(path: Path | None) -> tuple[int, int, int] | None:
    try:
        found = path.stat() if path else None
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns) if found else None
