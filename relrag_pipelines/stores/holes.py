"""Copying files that are mostly holes: Qdrant reserves a hundred megabytes for a store of a few points."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from relrag_pipelines.stores.failpoints import failpoint

_PIECE = 2**22


def copy_with_holes(source: Path, target: Path) -> None:
    """Copies a folder; what was never written in a file takes no space in its copy."""
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir(parents=True, exist_ok=True)
        else:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy_file(path, copy)


def pieces(path: Path, overlap: int) -> Iterator[bytes]:
    """What was written in a file, in pieces; each begins with the last `overlap` bytes of the one before it."""
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        end = 0
        while (start := _next_data(file.fileno(), end)) is not None:
            end = min(os.lseek(file.fileno(), start, os.SEEK_HOLE), size)
            kept = b""
            while start < end:
                data = os.pread(file.fileno(), min(_PIECE, end - start), start)
                if not data:
                    return
                yield kept + data
                kept = data[len(data) - overlap :] if overlap else b""
                start += len(data)


def copy_file(source: Path, target: Path) -> None:
    """Copies one file; what was never written in it takes no space in the copy."""
    failpoint("vectors.copy", target)
    with source.open("rb", buffering=0) as read, target.open("wb", buffering=0) as write:
        size = os.fstat(read.fileno()).st_size
        write.truncate(size)
        end = 0
        while (start := _next_data(read.fileno(), end)) is not None:
            end = min(os.lseek(read.fileno(), start, os.SEEK_HOLE), size)
            while start < end:
                start += os.pwrite(write.fileno(), os.pread(read.fileno(), min(_PIECE, end - start), start), start)


def _next_data(file: int, place: int) -> int | None:
    try:
        return os.lseek(file, place, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:  # only a hole is left, or nothing
            return None
        raise
