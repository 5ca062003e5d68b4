"""The files of a unit that is a file of its own or a zip of them, and what a zip holds by its names."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources.formats import safe_zip

if TYPE_CHECKING:
    from relrag_pipelines.sources import ReadContext, Unit

ZIP = ".zip"


@dataclass(frozen=True)
class Member:
    """A file that a connector reads: the unit itself, or a member of a zip."""

    path: str
    """the unit's path, or the member's path within its zip"""
    location: str
    """where it is, for `locations`"""
    inner_path: str
    """path within the unit, for failures; empty for the unit itself"""
    size: int
    """bytes, as declared"""
    mtime: int
    """when it was written, seconds since 1970; of a member in UTC, since a zip names no zone"""
    open: Callable[[], BinaryIO]
    siblings: frozenset[str] = frozenset()
    """paths of all members of its zip"""
    open_sibling: Callable[[str], BinaryIO] | None = None
    """opens another member of its zip"""

    @property
    def name(self) -> str:
        """The file's name."""
        return PurePosixPath(self.path).name

    def read(self, most: int) -> bytes:
        """Its bytes. Raises ZipRejected for a member, and ValueError if it has more than `most`."""
        with self.open() as stream:
            data = stream.read(most + 1)
        if len(data) > most:
            raise ValueError(f"more than {most:,} bytes")
        return data


ReadMember = Callable[[Member], Iterator[Record | Failure]]


def read_members(
    unit: Unit, reading: ReadContext, is_read: Callable[[str], bool], read_member: ReadMember
) -> Iterator[Record | Failure]:
    """What `read_member` gives for the unit, or for each member of its zip whose path `is_read`, in their order."""
    if unit.size > reading.unit_max_bytes:
        why = f"{unit.size} bytes; unit_max_bytes is {reading.unit_max_bytes}: raise it, or exclude the file"
        yield Failure("", "too_large", why, whole_unit=True)
        return
    if unit.file.suffix.lower() != ZIP:
        written = unit.mtime_ns // 10**9
        yield from read_member(Member(unit.path, unit.path, "", unit.size, written, lambda: open_plain(unit.file)))
        return
    try:
        with safe_zip.open_archive(unit.file, reading.archive_max_ratio, reading.archive_max_bytes) as archive:
            yield from archive.failures
            for member in _members(unit, archive, is_read):
                yield from _read_or_refuse(member, read_member)
    except safe_zip.ZipRejected as rejected:
        yield rejected.failure


def _members(unit: Unit, archive: safe_zip.SafeZip, is_read: Callable[[str], bool]) -> Iterator[Member]:
    siblings = frozenset(archive.members)
    for name in archive.members:
        if is_of_a_system(name) or not is_read(name):
            continue

        def opened(name: str = name) -> BinaryIO:
            return archive.open(name)

        location = f"{unit.path}!{name}"
        size, written = archive.size(name), archive.written(name)
        yield Member(name, location, name, size, written, opened, siblings, archive.open)


def _read_or_refuse(member: Member, read_member: ReadMember) -> Iterator[Record | Failure]:
    """What a member holds; one that is damaged or expands too far ends only itself."""
    try:
        yield from read_member(member)
    except safe_zip.ZipRejected as rejected:
        yield replace(rejected.failure, location=member.inner_path)


def is_of_a_system(name: str) -> bool:
    """Whether macOS added a member when it packed the zip."""
    path = PurePosixPath(name)
    return path.parts[0] == "__MACOSX" or path.name.startswith("._")


def zip_names(file: Path) -> list[str]:
    """The cleaned names of a zip's files, without those that lead out of it; empty if the file is not a zip."""
    try:
        with open_plain(file) as stream:
            safe_zip.check_directory(stream, stream.seek(0, 2))
            with zipfile.ZipFile(stream) as archive:
                names = [safe_zip.clean_name(info) for info in archive.infolist() if not info.is_dir()]
    except (safe_zip.ZipRejected, *safe_zip.BROKEN):
        return []
    return [name for name in names if name and not is_of_a_system(name)]
