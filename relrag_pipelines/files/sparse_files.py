"""Copies, reads and hashes sparse files: Qdrant reserves a hundred MB for a few points."""

from __future__ import annotations

import errno
import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from relrag_pipelines.files import atomic
from relrag_pipelines.files.failpoints import failpoint

BLOCK, PART = 2**16, 2**20
"""bytes that are hashed at a time, and were by versions before: Qdrant has MBs with 4 KB of data each"""
_NULS = bytes(BLOCK)
_PIECE = 2**22


def copy_with_holes(source: Path, target: Path) -> None:
    """Copies a folder; what was never written in a file, or is NUL, takes no space in its copy."""
    for name in atomic.files(source):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        copy_file(source / name, target / name)


def iter_data(path: Path, overlap: int) -> Iterator[bytes]:
    """What was written in a file, in pieces; each begins with the last `overlap` bytes of the one before it."""
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        end = 0
        while (start := _next_data(file.fileno(), end)) is not None:
            end = min(os.lseek(file.fileno(), start, os.SEEK_HOLE), size)
            tail = b""
            while start < end:
                data = os.pread(file.fileno(), min(_PIECE, end - start), start)
                if not data:
                    return
                yield tail + data
                tail = data[len(data) - overlap :] if overlap else b""
                start += len(data)


def copy_file(source: Path, target: Path) -> None:
    """Copies one file; what was never written in it, or is NUL, takes no space in the copy."""
    failpoint("vectors.copy", target)
    with source.open("rb", buffering=0) as read, target.open("wb", buffering=0) as write:
        size = os.fstat(read.fileno()).st_size
        write.truncate(size)
        end = 0
        while (start := _next_data(read.fileno(), end)) is not None:
            end = min(os.lseek(read.fileno(), start, os.SEEK_HOLE), size)
            while start < end and (data := os.pread(read.fileno(), min(BLOCK - start % BLOCK, end - start), start)):
                # a file system in memory has what Qdrant reserved as data
                empty = data == _NULS[: len(data)]
                start += len(data) if empty else os.pwrite(write.fileno(), data, start)


def hash_blocks(path: Path, block: int = BLOCK) -> str:
    """sha256 over the sha256 of each `block` bytes, hex; equal for equal bytes, with holes or without.

    The digest of a block of NUL is known: one that lies in a hole is not read, and most others are told by comparison,
    which takes a fraction of the time of hashing.
    """
    whole = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        written = -1
        for start in range(0, size, block):
            length = min(block, size - start)
            nuls, empty = _nuls(length)
            if written < start:
                next_data = _next_data(file.fileno(), start)
                written = size if next_data is None else next_data
            if written >= start + length:
                whole.update(empty)
            else:
                part = os.pread(file.fileno(), length, start)
                whole.update(empty if part == nuls else hashlib.sha256(part).digest())
    return whole.hexdigest()


@functools.lru_cache(2)
def _nuls(length: int) -> tuple[bytes, bytes]:
    """So many bytes NUL, and their digest."""
    return bytes(length), hashlib.sha256(bytes(length)).digest()


def _next_data(file: int, offset: int) -> int | None:
    try:
        return os.lseek(file, offset, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:  # only a hole is left, or nothing
            return None
        raise
