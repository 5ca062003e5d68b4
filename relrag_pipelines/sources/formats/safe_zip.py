"""Zip archives that may be hostile: checked, and streamed member by member; nothing is unpacked to disk.

Faults of the archive as a whole (no zip, cut off, expands beyond the limits) raise ZipRejected. Faults of one entry (a
path out of its folder, a link, encryption, a second entry of the same name) leave that entry out and are reported in
`SafeZip.failures`. Headers can lie, so bytes are counted again while they are read.
Format: APPNOTE.TXT 6.3.10 of PKWARE.
"""

from __future__ import annotations

import copy
import errno
import io
import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, BinaryIO

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure

MAX_DIRECTORY_BYTES = 32 * 2**20
"""Largest list of entries that is read into memory: some 250,000 names."""

_ENCRYPTED, _UTF8 = 0x1, 0x800
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""zipfile unpacks these piece by piece; it expands pieces of other methods without a bound."""
BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, OverflowError, RuntimeError)
"""What zipfile raises on damaged archives; NotImplementedError is a RuntimeError."""


class ZipRejected(Exception):
    """An archive or a member that is not read; `failure` says why and what to do."""

    def __init__(self, fault: str, message: str, location: str = "") -> None:
        super().__init__(message)
        self.failure = Failure(location, fault, message, whole_unit=True)


class SafeZip:
    """An open archive: `members` by clean name, in the archive's order, and `failures` of the entries left out."""

    def __init__(self, archive: zipfile.ZipFile, most_bytes: int) -> None:
        self.members, self.failures = _check_entries(archive.infolist())
        self._zip = archive
        self._most_bytes = most_bytes
        self._read: dict[str, int] = {}
        self._total = 0

    def open(self, name: str) -> BinaryIO:
        """A member as a stream; reading it raises ZipRejected if the archive is damaged or expands too far."""
        unbounded = copy.copy(self.members[name])
        unbounded.file_size = self._most_bytes + 2**20  # zipfile stops at this size, and the declared one can be a lie
        try:
            stream = self._zip.open(unbounded)
        except BROKEN as error:
            raise_if_of_disk(error)
            raise _damaged_member(name, type(error).__name__) from None
        return io.BufferedReader(_LimitedReader(stream, self, name), 2**16)

    def size(self, name: str) -> int:
        """Bytes of a member, as declared."""
        return self.members[name].file_size

    def written(self, name: str) -> int:
        """When a member was written, seconds since 1970, of a zip that names no zone; 0 for what is no time."""
        try:
            return int(datetime(*self.members[name].date_time, tzinfo=UTC).timestamp())
        except ValueError:
            return 0

    def count(self, name: str, position: int) -> None:
        """Counts bytes read of a member; raises ZipRejected above the limit over all members."""
        self._total += max(0, position - self._read.get(name, 0))
        self._read[name] = max(position, self._read.get(name, 0))
        if self._total > self._most_bytes:
            raise too_large("while it was read it expanded", self._most_bytes)


class _LimitedReader(io.RawIOBase):
    def __init__(self, stream: IO[bytes], archive: SafeZip, name: str) -> None:
        self._stream, self._archive, self._name, self._position = stream, archive, name, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._stream.read(len(buffer))
        except BROKEN as error:
            raise_if_of_disk(error)
            raise _damaged_member(self._name, type(error).__name__) from None
        buffer[: len(data)] = data
        self._position += len(data)
        self._archive.count(self._name, self._position)
        if not data and self._position != self._archive.members[self._name].file_size:
            raise _damaged_member(self._name, "its size is not the one declared")
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def raise_if_of_disk(error: Exception) -> None:
    """Reraises a fault of the disk or network: the archive may be intact, and readable next time."""
    # a damaged directory leads to places that do not exist
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        raise error


@contextmanager
def open_archive(file: Path, max_ratio: int, max_bytes: int) -> Iterator[SafeZip]:
    """The archive in a file; raises ZipRejected if it cannot be trusted as a whole.

    Its members together may be at most `max_ratio` times as large as the file, and at most `max_bytes`.
    """
    with open_plain(file) as stream:
        size = os.fstat(stream.fileno()).st_size
        most_bytes = min(max_bytes, size * max_ratio)
        check_directory(stream, size)
        try:
            archive = zipfile.ZipFile(stream)
        except BROKEN as error:
            raise_if_of_disk(error)
            raise _no_zip(stream, error) from None
        with archive:
            declared = sum(info.file_size for info in archive.infolist())
            if declared > most_bytes:
                raise too_large(f"its {size:,} bytes say that they expand to {declared:,}", most_bytes)
            yield SafeZip(archive, most_bytes)


def clean_name(info: zipfile.ZipInfo) -> str | None:
    """The path of an entry within its archive, with forward slashes; None if it leads outside.

    By the standard, names without the UTF-8 flag are code page 437, but several packers write UTF-8.
    """
    name = info.filename
    if not info.flag_bits & _UTF8:
        try:
            name = name.encode("cp437").decode()
        except UnicodeError:
            name = info.filename
    name = name.replace("\\", "/")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in parts or not parts:
        return None
    printable = "".join("_" if unicodedata.category(letter) in {"Cc", "Cs"} else letter for letter in "/".join(parts))
    return unicodedata.normalize("NFC", printable)


def _check_entries(entries: list[zipfile.ZipInfo]) -> tuple[dict[str, zipfile.ZipInfo], list[Failure]]:
    """The entries that can be read, by their clean names, and one failure for each kind of fault in the others."""
    members: dict[str, zipfile.ZipInfo] = {}
    rejected: dict[str, list[str]] = {}
    names = [clean_name(info) for info in entries]
    duplicates = {name for name, count in Counter(names).items() if count > 1 and name is not None}
    for position, (name, info) in enumerate(zip(names, entries, strict=True), 1):
        if name is None:
            rejected.setdefault("unsafe_path", []).append(f"entry {position}")
        elif info.is_dir():
            continue
        elif fault := _entry_fault(info, is_duplicate=name in duplicates):
            rejected.setdefault(fault, []).append(name)
        else:
            members[name] = info
    failures = []
    for fault, locations in rejected.items():
        message = _ENTRY_FAULTS[fault].format(count=len(locations), total=len(entries))
        failures.append(Failure(locations[0], fault, message, whole_unit=True))
    return members, failures


def _entry_fault(info: zipfile.ZipInfo, *, is_duplicate: bool) -> str:
    """The fault word of an entry that isn't read; empty for one that is."""
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "unsafe_path"
    if is_duplicate:
        return "duplicate"
    if info.flag_bits & _ENCRYPTED:
        return "encrypted"
    return "" if info.compress_type in METHODS else "compression"


_ENTRY_FAULTS = {
    "unsafe_path": "{count} of {total} entries lead out of the archive (.., an absolute path, a link) and were left "
    "out; pack it again from a plain folder",
    "duplicate": "{count} of {total} entries share their name with another and were left out; pack it again",
    "encrypted": "{count} of {total} entries are encrypted and were left out; export or pack it without a password",
    "compression": "{count} of {total} entries are compressed by another method than deflate and were left out; pack "
    "it again as a plain zip",
}


def check_directory(stream: BinaryIO, size: int) -> None:
    """Rejects a list of entries that would not fit into memory, before it is read."""
    if size <= MAX_DIRECTORY_BYTES:
        return
    stream.seek(max(0, size - 2**16 - 22))
    tail = stream.read(2**16 + 22)
    end = tail.rfind(b"PK\5\6")
    if end < 0 or len(tail) < end + 22:
        return
    (directory,) = struct.unpack_from("<L", tail, end + 12)
    if directory == 0xFFFFFFFF and (locator := tail.rfind(b"PK\6\7", 0, end)) >= 0:
        stream.seek(struct.unpack_from("<Q", tail, locator + 8)[0])
        (directory,) = struct.unpack_from("<Q", stream.read(56).ljust(56, b"\0"), 40)
    if directory > MAX_DIRECTORY_BYTES:
        limit = MAX_DIRECTORY_BYTES
        raise ZipRejected("too_large", f"its list of entries takes {directory:,} bytes, more than {limit:,}; split it")


def _no_zip(stream: BinaryIO, error: Exception) -> ZipRejected:
    stream.seek(0)
    start = stream.read(4)
    if not start:
        return ZipRejected("empty", "the file is empty; export it again")
    if start == b"PK\3\4":
        return ZipRejected("truncated", "it begins as a zip archive but its end is missing or damaged; copy it again")
    return ZipRejected("not_a_zip", f"it is not a zip archive ({type(error).__name__}); export or pack it again")


def _damaged_member(name: str, reason: str) -> ZipRejected:
    return ZipRejected("damaged", f"a member cannot be unpacked ({reason}); copy or export the archive again", name)


def too_large(size: str, most_bytes: int) -> ZipRejected:
    """The error for an archive that expands too far; `size` says how far."""
    advice = "where you trust it, raise archive_max_ratio or archive_max_bytes"
    return ZipRejected("too_large", f"{size}, more than the {most_bytes:,} that are allowed; {advice}")
