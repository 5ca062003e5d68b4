"""The archive's token, which programs show in place of a login. It lies beside the keys, for the owner only."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path

from relrag_pipelines.files.atomic import replace_file
from relrag_pipelines.settings import Settings

_BYTES = 32


def token_path(settings: Settings) -> Path:
    """Where the token of this archive lies."""
    return settings.keys_path.with_suffix(".token")


class StoredToken:
    """The token as its file holds it now: one that was replaced lets nobody in from then on."""

    def __init__(self, settings: Settings) -> None:
        self._path = token_path(settings)
        self._token = load_token(settings)
        self._state: tuple[int, ...] = ()
        self._lock = threading.Lock()

    def __call__(self) -> str:
        """The token; empty where there is no file any more."""
        with self._lock:
            try:
                found = self._path.stat()
                if self._state != (state := (found.st_ino, found.st_size, found.st_mtime_ns)):
                    self._token, self._state = self._path.read_text(encoding="ascii").strip(), state
            except (OSError, UnicodeError):
                self._token, self._state = "", ()
            return self._token


def load_token(settings: Settings, *, new: bool = False) -> str:
    """The token; made where there is none, and anew on request, after which the former one lets nobody in."""
    path = token_path(settings)
    if not new:
        try:
            return path.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            pass
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    token = secrets.token_urlsafe(_BYTES)
    with replace_file(path) as beside:
        beside.touch(mode=0o600)
        beside.write_text(f"{token}\n", encoding="ascii")
    return token
