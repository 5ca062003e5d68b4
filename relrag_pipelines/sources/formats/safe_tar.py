"""Tar archives without compression that may be hostile: their members are streamed, nothing is unpacked to disk.

Only plain files are members; links, devices and sparse files are left out, and so are paths that lead outside. Names
longer than a header are read as GNU and POSIX write them. Format: POSIX.1-2001, pax interchange format.
"""

from __future__ import annotations

import io
import os
import re
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure
from relrag_pipelines.sources.formats.safe_zip import ZipRejected, clean_name

TAR = ".tar"
MAX_MEMBERS = 250_000
MAX_NAME_BYTES = 2**16
"""bytes of a header with a long name"""

_PAX_PATH = re.compile(rb"\d+ path=([^\n]*)\n")
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_CUT = "the archive is cut off; copy or export it again"


@dataclass(frozen=True)
class Part:
    """Where the bytes of a member lie in the archive."""

    offset: int
    size: int


@dataclass
class SafeTar:
    """The members of an archive by clean name, and failures of what was left out."""

    file: Path
    members: dict[str, Part] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def open(self, name: str) -> BinaryIO:
        """A member as a stream."""
        return io.BufferedReader(_PartReader(open_plain(self.file), self.members[name]), 2**16)


class _PartReader(io.RawIOBase):
    def __init__(self, stream: BinaryIO, part: Part) -> None:
        self._stream, self._left = stream, part.size
        stream.seek(part.offset)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def read_directory(file: Path) -> SafeTar:
    """The members of an archive; raises ZipRejected where it is none, and OSError where it cannot be read."""
    archive = SafeTar(file)
    with open_plain(file) as stream:
        size = os.fstat(stream.fileno()).st_size
        for name, part in _headers(stream, archive):
            if part.offset + part.size > size:
                archive.failures.append(Failure(name, "truncated", _CUT, whole_unit=True))
            archive.members[name] = part
            if len(archive.members) > MAX_MEMBERS:
                raise ZipRejected("too_large", f"it has more than {MAX_MEMBERS:,} members; split it")
    return archive


def _headers(stream: BinaryIO, archive: SafeTar) -> Iterator[tuple[str, Part]]:
    """The plain files of an archive, up to the empty block that ends it."""
    long_name = ""
    while block := stream.read(tarfile.BLOCKSIZE):
        if len(block) == tarfile.BLOCKSIZE and not block.strip(b"\0"):
            return
        try:
            header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError:
            if stream.tell() == len(block):
                raise ZipRejected("not_a_tar", "it is not a tar archive; export or pack it again") from None
            break
        if header.size < 0:
            break
        begin = stream.tell()
        if header.type in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE):
            long_name = _long_name(stream.read(min(header.size, MAX_NAME_BYTES)), header.type) or long_name
        elif header.type in _PLAIN:
            name = clean_name(zipfile.ZipInfo(_text(long_name or header.name)))
            if name:
                yield name, Part(begin, header.size)
            long_name = ""
        else:
            long_name = ""
        stream.seek(begin + -(-header.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE)
    archive.failures.append(Failure("", "truncated", _CUT, whole_unit=True))


def _long_name(data: bytes, kind: bytes) -> str:
    if kind == tarfile.GNUTYPE_LONGNAME:
        return data.rstrip(b"\0").decode("utf-8", "replace")
    match = _PAX_PATH.search(data)
    return match[1].decode("utf-8", "replace") if match else ""


def _text(name: str) -> str:
    """A name as UTF-8; zipfile cuts names at a zero byte."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", "_")
