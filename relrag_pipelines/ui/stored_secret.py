"""A secret in an owner-only file; replacing it invalidates the former one at once."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path

from relrag_pipelines.files.atomic import replace_file

_BYTES = 32


class StoredSecret:
    """The current secret of a file, for any number of threads and processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._secret = load_secret(path)
        self._state: tuple[int, ...] = ()
        self._lock = threading.Lock()

    def __call__(self) -> str:
        """The secret; empty if the file is gone."""
        with self._lock:
            try:
                stat = self._path.stat()
                if self._state != (state := (stat.st_ino, stat.st_size, stat.st_mtime_ns)):
                    self._secret, self._state = self._path.read_text(encoding="ascii").strip(), state
            except (OSError, UnicodeError):
                self._secret, self._state = "", ()
            return self._secret


def load_secret(path: Path, *, new: bool = False) -> str:
    """The secret; created if there is none, or if `new` asks for another."""
    if not new:
        try:
            return path.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            pass
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret = secrets.token_urlsafe(_BYTES)
    with replace_file(path) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_text(f"{secret}\n", encoding="ascii")
    return secret
