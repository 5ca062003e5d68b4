"""Tar archives without compression that may be hostile: their members are streamed, nothing is unpacked to disk.

Only plain files are members; links, devices, sparse files and paths that lead outside are failures. Names and sizes
that do not fit into a header are read as GNU and POSIX write them. Of members with one name the last counts, as tar
appends newer versions. Format: POSIX.1-2001, pax interchange format.
"""

from __future__ import annotations

import io
import os
import re
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure
from relrag_pipelines.sources.formats.safe_zip import ZipRejected, clean_name

TAR = ".tar"
MAX_MEMBERS = 250_000
MAX_NAME_BYTES = 2**16
"""bytes of a header with a long name"""

_PAX = re.compile(rb"(?:^|\n)\d+ (path|size|mtime)=([^\n]*)")
_FOLDER_OR_GLOBAL = (tarfile.DIRTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK, b"V", b"M")
"""types without contents to read: folders, defaults for headers, targets of links, labels of volumes"""
_WITHOUT_DATA = (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)
"""types whose size counts no bytes in the archive"""
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_LATEST = 2**33
"""a member is not from later, seconds since 1970: the year 2242"""
_MAX_DIGITS = 19
_CUT = "the archive is cut off; copy or export it again"


@dataclass(frozen=True)
class Part:
    """Where the bytes of a member lie in the archive."""

    offset: int
    size: int
    written: int = 0
    """seconds since 1970"""


@dataclass(frozen=True)
class _Extension:
    """What a header before that of a member says of it."""

    path: str = ""
    size: int | None = None
    mtime: int | None = None


@dataclass
class SafeTar:
    """The members of an archive by clean name, and failures of what was left out."""

    file: Path
    members: dict[str, Part] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def open(self, name: str) -> BinaryIO:
        """A member as a stream."""
        return io.BufferedReader(_PartReader(open_plain(self.file), self.members[name]), 2**16)

    def size(self, name: str) -> int:
        """Bytes of a member, by its header."""
        return self.members[name].size

    def written(self, name: str) -> int:
        """When a member was written, seconds since 1970."""
        return self.members[name].written


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
    rejected: list[str] = []
    with open_plain(file) as stream:
        size = os.fstat(stream.fileno()).st_size
        for name, part in _headers(stream, archive, rejected):
            if part.offset + part.size > size:
                archive.failures.append(Failure(name, "truncated", _CUT, whole_unit=True))
            archive.members[name] = part
            if len(archive.members) > MAX_MEMBERS:
                raise ZipRejected("too_large", f"it has more than {MAX_MEMBERS:,} members; split it")
    if rejected:
        archive.failures.append(_unsafe(rejected, len(archive.members) + len(rejected)))
    return archive


def _unsafe(names: list[str], total: int) -> Failure:
    why = f"{len(names)} of {total} entries lead out of the archive (.., an absolute path, a link) or are no plain "
    return Failure(names[0], "unsafe_path", f"{why}files and were left out; pack it again from a plain folder")


def _headers(stream: BinaryIO, archive: SafeTar, rejected: list[str]) -> Iterator[tuple[str, Part]]:
    """The plain files of an archive, up to the empty block that ends it; adds other entries to `rejected`."""
    extension = _Extension()
    entries = 0
    while block := stream.read(tarfile.BLOCKSIZE):
        if len(block) == tarfile.BLOCKSIZE and not block.strip(b"\0"):
            return
        begin = stream.tell()
        header = _header(block, is_first=begin == len(block))
        if header is None:
            break
        size = header.size
        if header.type in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE):
            extension = _extended(stream.read(min(size, MAX_NAME_BYTES)), header.type, extension)
        elif header.type not in _FOLDER_OR_GLOBAL:
            entries += 1
            size = _data_size(header, extension)
            if entry := _plain_file(header, extension, Part(begin, size)):
                yield entry
            else:
                rejected.append(f"entry {entries}")
            extension = _Extension()
        elif header.type == tarfile.DIRTYPE:
            size, extension = 0, _Extension()
        stream.seek(begin + -(-size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE)
    archive.failures.append(Failure("", "truncated", _CUT, whole_unit=True))


def _data_size(header: tarfile.TarInfo, extension: _Extension) -> int:
    """The bytes that follow a header."""
    if header.type in _WITHOUT_DATA:
        return 0
    return header.size if extension.size is None else extension.size


def _plain_file(header: tarfile.TarInfo, extension: _Extension, part: Part) -> tuple[str, Part] | None:
    """The clean name and the bytes of an entry; None for one that is not read."""
    name = clean_name(zipfile.ZipInfo(_text(extension.path or header.name)))
    if header.type not in _PLAIN or not name:
        return None
    written = int(header.mtime) if extension.mtime is None else extension.mtime
    return name, replace(part, written=written if 0 <= written < _LATEST else 0)


def _header(block: bytes, *, is_first: bool) -> tarfile.TarInfo | None:
    """The header of a member; None if it is damaged. Raises ZipRejected if it is that of the first member."""
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        if is_first:
            raise ZipRejected("not_a_tar", "it is not a tar archive; export or pack it again") from None
        return None
    return None if header.size < 0 else header


def _extended(data: bytes, kind: bytes, before: _Extension) -> _Extension:
    """What an extended header adds to what was said before it."""
    if kind == tarfile.GNUTYPE_LONGNAME:
        return replace(before, path=data.rstrip(b"\0").decode("utf-8", "replace"))
    fields = {key: value.decode("utf-8", "replace") for key, value in _PAX.findall(data)}
    return _Extension(
        fields.get(b"path", before.path), _whole_number(fields.get(b"size")), _whole_number(fields.get(b"mtime"))
    )


def _whole_number(text: str | None) -> int | None:
    """The whole part of a number without a sign; None where there is none."""
    digits = (text or "").partition(".")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < _MAX_DIGITS else None


def _text(name: str) -> str:
    """A name as UTF-8; zipfile cuts names at a zero byte."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", "_")
