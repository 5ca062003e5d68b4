"""Restricts what is created in a home to its owner.

DuckDB, Qdrant and Dagster's SQLite create files of their own and ask the umask alone, so every process of ours sets
one as it starts. A library must not: what another program writes through it, or has Qdrant write anew as it reads, is
closed file by file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OURS = (".gitignore", "dagster", "graphrag", "lake", "lock", "private", "published")
"""what a home holds; where it is by mistake a folder that holds other things too, these are left as they are"""

_given: int | None = None
"""the umask that this process was started with, once it has another"""


def owner_only() -> None:
    """From now on whatever this process, or one that it starts, creates is for its owner only."""
    global _given
    before = os.umask(_OTHERS)
    _given = before if _given is None else _given


@contextmanager
def default_permissions() -> Iterator[None]:
    """Within it files get the modes that the user's own programs give them: relrag.toml is no part of a home.

    For processes of one thread; in others, what is created meanwhile elsewhere gets them too.
    """
    if _given is None:
        yield
        return
    os.umask(_given)
    try:
        yield
    finally:
        os.umask(_OTHERS)


def restrict_folder(home: Path) -> None:
    """Closes to others what lies in a home: earlier versions, and programs with another umask, let them read it.

    Files may come and go meanwhile. Modes that cannot be changed stay: `relrag doctor` says where a home is open.
    """
    restrict(home)
    folders = []
    for name in _OURS:
        restrict(home / name)
        folders.append(str(home / name))
    while folders:
        # without a call for each file: there may be ten thousand, and an unchanged archive is told so in half a second
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                mode = entry.stat(follow_symlinks=False).st_mode
                if mode & _OTHERS:
                    restrict(Path(entry.path))
                if stat.S_ISDIR(mode):
                    folders.append(entry.path)


def restrict(path: Path) -> None:
    """Closes one file or folder to others; a link is left alone."""
    with suppress(OSError):
        mode = path.lstat().st_mode
        if mode & _OTHERS and (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            path.chmod(0o700 if stat.S_ISDIR(mode) else 0o600)
