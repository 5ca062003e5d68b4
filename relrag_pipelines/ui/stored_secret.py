"""A secret in a file for the owner only: replaced, the former one is worth nothing at once."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path

from relrag_pipelines.files.atomic import replace_file

_BYTES = 32


class StoredSecret:
    """The secret as its file holds it now, for any number of threads and processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._secret = load_secret(path)
        self._state: tuple[int, ...] = ()
        self._lock = threading.Lock()

    def __call__(self) -> str:
        """The secret; empty where there is no file any more."""
        with self._lock:
            try:
                found = self._path.stat()
                if self._state != (state := (found.st_ino, found.st_size, found.st_mtime_ns)):
                    self._secret, self._state = self._path.read_text(encoding="ascii").strip(), state
            except (OSError, UnicodeError):
                self._secret, self._state = "", ()
            return self._secret


def load_secret(path: Path, *, new: bool = False) -> str:
    """The secret; made where there is none, and anew on request."""
    if not new:
        try:
            return path.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            pass
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret = secrets.token_urlsafe(_BYTES)
    with replace_file(path) as beside:
        beside.touch(mode=0o600)
        beside.write_text(f"{secret}\n", encoding="ascii")
    return secret
