"""Archives of any form, told apart by their suffix: zip, and tar with or without gzip.

A tar that is compressed is expanded once into a folder for scratch files, since its members can be read in any order.
It may expand as far as a zip may. Of one that is cut off or damaged, what comes before the damage is read.
"""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.sources.formats import safe_zip
from relrag_pipelines.sources.formats.safe_tar import TAR, SafeTar, read_directory
from relrag_pipelines.sources.formats.safe_zip import SafeZip, ZipRejected

ZIP = ".zip"
_GZIPPED = (".tgz", ".tar.gz")
SUFFIXES = (ZIP, TAR, *_GZIPPED)
"""lower-case ends of the names of archives"""
_BLOCK = 2**20
_DAMAGED = (EOFError, zlib.error)

Archive = SafeZip | SafeTar


def is_archive(name: str) -> bool:
    """Whether a file of that name is an archive."""
    return name.lower().endswith(SUFFIXES)


@contextmanager
def open_archive(file: Path, max_ratio: int, max_bytes: int, scratch: Path | None = None) -> Iterator[Archive]:
    """An open archive. Raises ZipRejected, and OSError if the file cannot be read.

    A compressed tar is expanded below `scratch`, or below the system's folder for temporary files.
    """
    name = file.name.lower()
    if name.endswith(_GZIPPED):
        with tempfile.TemporaryDirectory(prefix="relrag-", dir=scratch) as folder:
            yield read_directory(_expand(file, Path(folder, "expanded.tar"), max_ratio, max_bytes))
    elif name.endswith(TAR):
        yield read_directory(file)
    else:
        with safe_zip.open_archive(file, max_ratio, max_bytes) as archive:
            yield archive


def _expand(file: Path, target: Path, max_ratio: int, max_bytes: int) -> Path:
    """Writes what a compressed file holds, up to a damage."""
    with open_plain(file) as packed, target.open("wb") as expanded:
        most = min(max_bytes, os.fstat(packed.fileno()).st_size * max_ratio)
        with gzip.GzipFile(fileobj=packed) as stream:
            _copy_up_to_damage(stream, expanded, most)
    return target


def _copy_up_to_damage(stream: gzip.GzipFile, target: IO[bytes], most: int) -> None:
    """Copies a stream. Raises ZipRejected where it isn't compressed so, and where it has more bytes than `most`."""
    count = 0
    while True:
        try:
            block = stream.read(_BLOCK)
        except gzip.BadGzipFile:
            if not count:
                raise ZipRejected("not_a_tar", "it is not a gzip archive; export or pack it again") from None
            return  # bytes behind the end, or a damage that the list of members shows
        except _DAMAGED:
            return
        if not block:
            return
        count += len(block)
        if count > most:
            raise safe_zip.too_large("while it was read it expanded", most)
        target.write(block)
