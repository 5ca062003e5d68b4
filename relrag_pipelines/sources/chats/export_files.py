"""The files of a chat export: beside the unit in its folder, or members of the zip that the unit is.

Exports come as a zip or unpacked. A reader asks for files by their path, which in a zip is the name of a member and in
a folder the path from the source's; it does not see which of the two it reads.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from relrag_pipelines.files.regular_files import RefusedFile, check_file, open_plain
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import UNREADABLE, CoveredInterval, ReadContext, Unit
from relrag_pipelines.sources.chats.message import HASHED, SentFile
from relrag_pipelines.sources.formats import safe_zip
from relrag_pipelines.sources.formats.picture_text import is_picture, is_program_ready, read_text
from relrag_pipelines.sources.formats.safe_tar import TAR, SafeTar, read_directory

HEAD = 2**18
"""bytes that identify the kind of a file: before the first message there may be a long list of people"""
_HASHED_BYTES = 100 * 2**20
_READ_BYTES = 50 * 2**20
"""bytes of a picture whose words are read"""
_BLOCK = 2**18
_TEXTS = (".json", ".jsonl", ".ndjson", ".html", ".htm", ".xml", ".txt")
_TABLES_AND_SCRIPTS = (".csv", ".js")
"""suffixes of files that may hold messages too; most hold something else"""
_EXAMINED = 2_000
"""files of a zip that are read to identify its kind"""

Item = Record | Failure | CoveredInterval


class FolderFiles:
    """The files of a source's folder, of which only the unit is read for messages."""

    def __init__(self, unit: Unit, reading: ReadContext) -> None:
        self.names, self.failures, self.reading = [unit.path], list[Failure](), reading
        self._root, self._follow_links = unit.root, reading.follow_links

    def has(self, path: str) -> bool:
        """Whether there is a file that may be opened."""
        try:
            check_file(self._file(path), self._root, follow_links=self._follow_links)
        except OSError:  # a folder may be read and not listed; the chat does not depend on what lies beside it
            return False
        return True

    def open(self, path: str) -> BinaryIO:
        """A file as a stream."""
        return open_plain(self._file(path))

    def location(self, path: str) -> str:
        """The path itself."""
        return path

    def member(self, path: str) -> str:
        """Empty for the unit."""
        return "" if path == self.names[0] else path

    def folder_name(self, path: str) -> str:
        """The name of the folder that a file lies in, also if that is the source's own."""
        return self._file(path).parent.name

    def size(self, path: str) -> int:
        """Bytes of a file."""
        return check_file(self._file(path), self._root, follow_links=self._follow_links).st_size

    def _file(self, path: str) -> Path:
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts or "\0" in path:
            raise FileNotFoundError
        return self._root / path


class ArchiveFiles:
    """The members of a zip or a tar archive."""

    def __init__(self, unit: Unit, archive: safe_zip.SafeZip | SafeTar, reading: ReadContext) -> None:
        self.names = [name for name in archive.members if not _is_of_finder(name)]
        self.failures, self.reading = archive.failures, reading
        self._unit, self._archive = unit.path, archive

    def has(self, path: str) -> bool:
        """Whether it is a member."""
        return path in self._archive.members

    def open(self, path: str) -> BinaryIO:
        """A member as a stream."""
        return self._archive.open(path)

    def location(self, path: str) -> str:
        """The path of the archive, an exclamation mark, and the name of the member."""
        return f"{self._unit}!{path}"

    def member(self, path: str) -> str:
        """The name of the member."""
        return path

    def folder_name(self, path: str) -> str:
        """The name of the folder that a member lies in; the archive's own for one that lies in none."""
        return PurePosixPath(path).parent.name or PurePosixPath(self._unit).stem

    def size(self, path: str) -> int:
        """Bytes of a member, by its header."""
        return self._archive.size(path)


ExportFiles = FolderFiles | ArchiveFiles


def _is_of_finder(name: str) -> bool:
    """Whether macOS added the member when it packed the zip."""
    return name.startswith("__MACOSX/") or PurePosixPath(name).name.startswith("._")


@contextmanager
def open_export(unit: Unit, reading: ReadContext) -> Iterator[ExportFiles]:
    """The files of a unit; raises ZipRejected for an archive that cannot be trusted."""
    if unit.file.suffix.lower() == TAR:
        yield ArchiveFiles(unit, read_directory(unit.file), reading)
        return
    if unit.file.suffix.lower() != ".zip":
        yield FolderFiles(unit, reading)
        return
    with safe_zip.open_archive(unit.file, reading.archive_max_ratio, reading.archive_max_bytes) as archive:
        yield ArchiveFiles(unit, archive, reading)


HoldsMessages = Callable[[str, bytes], bool]
"""whether a file holds messages of a kind, by its path and its first bytes"""
ReadFile = Callable[[ExportFiles, str, ReadContext], Iterator[Item]]
Select = Callable[[list[str]], list[str]]
"""of the paths of an export those that may hold messages of their own"""


def read_export(
    unit: Unit, reading: ReadContext, holds_messages: HoldsMessages, read_file: ReadFile, select: Select = list
) -> Iterator[Item]:
    """What a reader makes of the files of a unit that hold messages, as their path and their first bytes tell.

    Faults of the files become failures: those of a zip, of the disk, and a unit without any messages.
    """
    reading = replace(reading, picture_failures=[])
    try:
        with open_export(unit, reading) as files:
            yield from files.failures
            texts = [name for name in select(files.names) if _is_text(name)]
            names = [name for name in texts if holds_messages(name, head(files, name))]
            long_names = [name for name in texts if name not in names and _is_too_long(files, name)]
            yield from (_not_recognised(name) for name in long_names if not isinstance(files, FolderFiles))
            for name in names:
                items = read_file(files, name, reading)
                first = next(items, None)
                yield _nothing_in(files.member(name)) if first is None else first
                yield from items
            yield from reading.picture_failures
            if not names and not files.failures:
                yield _no_messages(unit, len(files.names))
    except safe_zip.ZipRejected as refused:
        yield refused.failure
    except RefusedFile:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        yield Failure("", UNREADABLE, f"the file cannot be read ({reason}); check that it is there", whole_unit=True)


def recognises(file: Path, holds_messages: HoldsMessages) -> bool:
    """Whether a file, or one of the first files of a zip, holds messages."""
    try:
        if file.suffix.lower() == TAR:
            return _any_holds_messages(read_directory(file), holds_messages)
        if file.suffix.lower() != ".zip":
            with open_plain(file) as stream:
                return holds_messages(file.as_posix(), stream.read(HEAD))
        with safe_zip.open_archive(file, max_ratio=1000, max_bytes=2**40) as archive:
            return _any_holds_messages(archive, holds_messages)
    except (safe_zip.ZipRejected, OSError):
        return False


def _any_holds_messages(archive: safe_zip.SafeZip | SafeTar, holds_messages: HoldsMessages) -> bool:
    names = [name for name in archive.members if _is_text(name) and not _is_of_finder(name)]
    for name in names[:_EXAMINED]:
        with archive.open(name) as member:
            if holds_messages(name, member.read(HEAD)):
                return True
    return False


def _is_text(name: str) -> bool:
    return name.lower().endswith((*_TEXTS, *_TABLES_AND_SCRIPTS))


def _is_too_long(files: ExportFiles, name: str) -> bool:
    """Whether messages may begin behind what was examined of a text."""
    return name.lower().endswith(_TEXTS) and files.size(name) > HEAD


def head(files: ExportFiles, path: str) -> bytes:
    """The first bytes of a file."""
    with files.open(path) as stream:
        return stream.read(HEAD)


def _nothing_in(member: str) -> Failure:
    why = "it begins as an export of chats and holds no message; if the chat is not empty, export it again"
    return Failure(member, "no_messages", why)


def _not_recognised(member: str) -> Failure:
    why = f"no message in its first {HEAD // 2**10} KiB, so it was not read; if it is a chat, export that alone"
    return Failure(member, "not_a_chat", why)


def _no_messages(unit: Unit, count: int) -> Failure:
    if not unit.size:
        return Failure("", "empty", "the file is empty; export it again", whole_unit=False)
    is_archive = unit.file.suffix.lower() in (".zip", TAR)
    what = f"none of its {count} files holds messages" if is_archive else "it holds no messages"
    return Failure("", "not_a_chat", f"{what}; export the chat again, or exclude the file", whole_unit=True)


def sent_file(files: ExportFiles, path: str, folder: str = "", name: str = "", content_type: str = "") -> SentFile:
    """A file that an export names by a path relative to `folder`, with its location and digest if it is there."""
    joined = (PurePosixPath(folder) / path).as_posix() if folder not in ("", ".") else path
    own = name or PurePosixPath(path).name or path
    if not path or not files.has(joined):
        return SentFile(own, content_type=content_type)
    return SentFile(own, files.location(joined), digest(files, joined), content_type, _picture_text(files, joined))


def _picture_text(files: ExportFiles, path: str) -> str:
    """The words in a picture, where a program reads them; a damaged or huge one has none, and is noted."""
    if not is_program_ready(files.reading) or not is_picture(path):
        return ""
    try:
        if files.size(path) > _READ_BYTES:
            why = f"the picture has more than {_READ_BYTES // 2**20} MiB, so its words are not read"
            files.reading.picture_failures.append(Failure(files.member(path), "too_large", why))
            return ""
        with files.open(path) as stream:
            picture = read_text(stream.read(_READ_BYTES), files.member(path), files.reading)
        if picture.failure:
            files.reading.picture_failures.append(picture.failure)
        return picture.text
    except safe_zip.ZipRejected as refused:
        failure = replace(refused.failure, location=files.member(path), whole_unit=False)
        files.reading.picture_failures.append(failure)
    except OSError:  # a file beside the chat that is gone meanwhile; the chat does not depend on it
        pass
    return ""


def digest(files: ExportFiles, path: str) -> str:
    """SHA-256 of a file whose type may have copies elsewhere; empty for others, and for a damaged or huge one."""
    if not path.lower().endswith(HASHED):
        return ""
    try:
        return _digest(files, path) if files.size(path) <= _HASHED_BYTES else ""
    except (safe_zip.ZipRejected, OSError):  # the chat does not depend on it
        return ""


def _digest(files: ExportFiles, path: str) -> str:
    """Raises ZipRejected and OSError; empty for a file that is larger than its size says."""
    remaining, sha = files.size(path), hashlib.sha256()
    with files.open(path) as stream:
        for block in iter(functools.partial(stream.read, _BLOCK), b""):
            sha.update(block)
            remaining -= len(block)
    return "" if remaining else sha.hexdigest()
