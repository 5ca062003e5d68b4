"""Writes files atomically: under another name, synced, then renamed into place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relrag_pipelines.files import access
from relrag_pipelines.files.failpoints import failpoint

_HALF = ".atomicwrite"
"""how the folders begin in which Qdrant writes a file before it renames it into place; readers do when they open"""


def files(folder: Path) -> Iterator[str]:
    """Every file below a folder by its path within it, in order; links and devices too.

    Readers may open what lies there meanwhile: the file that they are writing is left out.
    """
    for parent, folders, names in os.walk(folder):  # passes over folders that vanish, which Path.rglob does not
        folders[:] = sorted(name for name in folders if not name.startswith(_HALF))
        linked = [name for name in folders if Path(parent, name).is_symlink()]
        yield from (Path(parent, name).relative_to(folder).as_posix() for name in sorted(names + linked))


@contextmanager
def replace_file(path: Path, *, private: bool = True) -> Iterator[Path]:
    """Yields a temporary path to write to; on success it is synced and replaces `path`.

    It is for the owner only, whatever umask the program around us has, unless `private` says otherwise.
    """
    make_private(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        failpoint("file.write", path)
        yield temporary
        if private:
            access.restrict(temporary)
        sync_file(temporary)
        failpoint("file.rename", path)
        temporary.replace(path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def make_private(folder: Path) -> None:
    """Makes a folder and those above it that are missing, for the owner only."""
    if not folder.is_dir():
        make_private(folder.parent)
        failpoint("folder.make", folder)
        folder.mkdir(exist_ok=True, mode=0o700)


def write_text(path: Path, text: str, *, private: bool = True) -> None:
    """Puts a small text file in place, whole or not at all."""
    with replace_file(path, private=private) as temporary:
        temporary.write_text(text, encoding="utf-8")


def link(source: Path, target: Path) -> None:
    """A second name for a file that is never changed; a copy where the file system has no such thing."""
    failpoint("file.link", target)
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)


def sync_file(path: Path) -> None:
    """Waits until the file's bytes are on disk."""
    failpoint("file.fsync", path)
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Waits until the folder's entries are on disk, so that a rename survives a power cut."""
    failpoint("folder.fsync", path)
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
