"""What a zip or a tar holds, file by file, and whether it is a bundle: one to open because no kind reads all of it.

"Zip" below means an archive of any form that formats/archives.py opens. A chat exported as a zip is no bundle: the
files beside its messages were sent in it. A Takeout is one, and so is a zip of documents, of mailboxes or of other
zips. A file in it is of the first kind that recognises it, as in a folder.
"""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from relrag_pipelines.files.atomic import make_private
from relrag_pipelines.ingest.ownership import recognises
from relrag_pipelines.records import Failure
from relrag_pipelines.sources import KINDS, Kind
from relrag_pipelines.sources.formats.archives import SUFFIXES, ZIP, Archive, is_archive, open_archive
from relrag_pipelines.sources.formats.members import is_of_a_system
from relrag_pipelines.sources.formats.safe_zip import ZipRejected
from relrag_pipelines.sources.formats.takeout import activity_label, may_be_activity

VERSION = 1
"""raised when zips are taken apart in another way, so that all are opened again"""
DEPTH = 3
"""zips within zips that are opened"""
_HEAD = 2**20
"""bytes by which a file is recognised"""
_WHOLE = (".db", ".sqlite")
"""suffixes of files that only the whole tells the kind of"""
_MOST_ZIPS = 500
"""zips within a zip that are opened"""
_UNUSABLE_NAME = "its name is too long, or that of a folder beside it; pack it again under another name"
_READERS = tuple(kind for kind in KINDS.values() if not (kind.always_remote or kind.discovers_units))


@dataclass(frozen=True)
class ZipLimits:
    """Bounds of what is unpacked."""

    max_ratio: int
    max_bytes: int
    """of all that is unpacked of one zip and of the zips in it"""


@dataclass(frozen=True)
class ZipFile:
    """A file in a zip."""

    path: str
    """within the outermost zip; a zip in a zip is a folder with its name"""
    size: int
    """bytes, as declared"""
    kind: str
    """that recognises it; empty for none"""
    activity: str = ""
    """what it holds if it is a record of activity in a Takeout; empty for other files"""


@dataclass(frozen=True)
class ZipContents:
    """The files of a zip."""

    files: tuple[ZipFile, ...]
    failures: tuple[Failure, ...]
    """of entries that are not read; their locations are paths within the zip"""
    kind: str
    """that reads the zip as it is; empty for none"""
    is_bundle: bool


@dataclass
class _Budget:
    """What may still be unpacked while a zip is examined."""

    bytes: int
    zips: int = _MOST_ZIPS


Open = Callable[[], BinaryIO]


def zip_contents(file: Path, limits: ZipLimits, scratch: Path | None = None) -> ZipContents:
    """The files of a zip. Raises ZipRejected and OSError where it cannot be read as a whole.

    The beginnings of its files are written into a folder below `scratch`, which is removed afterwards; without one,
    where there is no archive yet, below the system's folder for temporary files, readable by the owner alone.
    """
    status = file.stat()
    return _cached_contents(file, status.st_size, status.st_mtime_ns, limits, scratch)


@functools.lru_cache(maxsize=64)
def _cached_contents(file: Path, size: int, mtime_ns: int, limits: ZipLimits, scratch: Path | None) -> ZipContents:
    """The contents of a zip of that size and time."""
    if scratch is not None:
        make_private(scratch)
    try:
        with tempfile.TemporaryDirectory(prefix="relrag-", dir=scratch) as folder:
            return _examine(file, Path(folder), limits, DEPTH, _Budget(limits.max_bytes))
    finally:
        if scratch is not None:
            with suppress(OSError):  # another process examines a zip too
                scratch.rmdir()


def _examine(file: Path, scratch: Path, limits: ZipLimits, depth: int, budget: _Budget) -> ZipContents:
    with (
        open_archive(file, limits.max_ratio, min(limits.max_bytes, budget.bytes), scratch) as archive,
        tempfile.TemporaryDirectory(dir=scratch) as folder,
    ):
        root, failures = Path(folder), list(archive.failures)
        files: list[ZipFile] = []
        for name in [name for name in archive.members if not is_of_a_system(name)]:
            if not _lay_out(root, name):
                failures.append(Failure(name, "unsafe_path", _UNUSABLE_NAME, whole_unit=True))
                continue
            opened = functools.partial(archive.open, name)
            size = archive.size(name)
            if is_archive(name):
                inner = _inner(root / name, scratch, opened, limits, depth, budget)
                files += _files_of_inner(name, size, inner)
                failures += _failures_of_inner(name, inner)
            else:
                files.append(_examine_file(root / name, name, size, opened))
    kind = _kind_of_all(file, files)
    return ZipContents(tuple(files), tuple(failures), kind, _is_bundle(files, kind))


_NOTHING = ZipContents((), (), "", is_bundle=False)


def _files_of_inner(name: str, size: int, inner: ZipContents) -> list[ZipFile]:
    if not inner.is_bundle:
        return [ZipFile(name, size, inner.kind)]
    return [replace(within, path=f"{name}/{within.path}") for within in inner.files]


def _failures_of_inner(name: str, inner: ZipContents) -> list[Failure]:
    return [replace(failure, location=f"{name}/{failure.location}".rstrip("/")) for failure in inner.failures]


def _inner(file: Path, scratch: Path, opened: Open, limits: ZipLimits, depth: int, budget: _Budget) -> ZipContents:
    """What a zip in a zip holds; nothing where the limits are reached or it is damaged."""
    if depth <= 1 or budget.zips <= 0:
        why = f"zips are opened {DEPTH} deep and {_MOST_ZIPS} a zip; unpack it beside the other"
        return replace(_NOTHING, failures=(Failure("", "nested_zip", why),))
    budget.zips -= 1
    try:
        with opened() as stream, file.open("wb") as target:
            budget.bytes -= copy_bounded(stream, target, budget.bytes)
        return _examine(file, scratch, limits, depth - 1, budget)
    except ZipRejected as rejected:
        return replace(_NOTHING, failures=(replace(rejected.failure, location=""),))
    finally:
        file.write_bytes(b"")


def copy_bounded(stream: BinaryIO, target: BinaryIO, most: int) -> int:
    """Copies a stream; the number of bytes. Raises ZipRejected where it has more than `most`."""
    count = 0
    while block := stream.read(2**20):
        count += len(block)
        if count > most:
            why = "what is in it is larger than archive_max_bytes allows; raise that where you trust the file"
            raise ZipRejected("too_large", why)
        target.write(block)
    return count


def _lay_out(root: Path, name: str) -> bool:
    """Makes an empty file, since what lies beside a file may tell what it is; False where names cannot be had."""
    try:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch(mode=0o600)
    except OSError:  # a name that is too long, or both a file and a folder
        return False
    return True


def _examine_file(file: Path, name: str, size: int, opened: Open) -> ZipFile:
    """A file in a zip, by its beginning; of no kind where none recognises it, and if it is hidden."""
    kinds = kinds_by_name(name, file.parent)
    if not kinds or f"/{name}".find("/.") >= 0:
        return ZipFile(name, size, "")
    try:
        with opened() as stream, file.open("wb") as target:
            head = stream.read(_HEAD)
            target.write(head)
            if name.lower().endswith(_WHOLE):
                shutil.copyfileobj(stream, target, 2**20)
        kind = next((kind.name for kind in kinds if recognises(kind, file)), "") or _reporting_kind(kinds)
        return ZipFile(name, size, kind, activity_label(head) if may_be_activity(name) else "")
    except ZipRejected:
        return ZipFile(name, size, _reporting_kind(kinds))
    finally:
        os.truncate(file, 0)


def _reporting_kind(kinds: list[Kind]) -> str:
    """The kind that says what is wrong with a file that none recognises; empty where its name means nothing."""
    return next((kind.name for kind in reversed(kinds) if not kind.shared_suffixes), "")


def kinds_by_name(path: str, folder: Path) -> list[Kind]:
    """The kinds that read files of that name, the most specific first; `folder` holds the file."""
    return [kind for kind in _READERS if kind.matches(path, lambda name: (folder / name).exists())]


def _kind_of_all(file: Path, files: list[ZipFile]) -> str:
    """The kind that reads a zip as it is."""
    present = {within.kind for within in files}
    readers = [kind for kind in _READERS if kind.name in present and kind.matches(file.name) and ZIP in kind.suffixes]
    return next((kind.name for kind in readers if recognises(kind, file)), "")


def _is_bundle(files: list[ZipFile], kind: str) -> bool:
    """Whether a zip has files that the kind which reads it would not read."""
    others = [within for within in files if within.kind not in ("", kind)]
    if not kind or not KINDS[kind].chat:
        return bool(others)
    folder = _common_folder(within.path for within in files if within.kind == kind)
    return any(_is_outside(within, folder) for within in others)


def _is_outside(within: ZipFile, folder: PurePosixPath) -> bool:
    """Whether a file is no part of the export in that folder."""
    return not KINDS[within.kind].sent_in_chats or not PurePosixPath(within.path).is_relative_to(folder)


def _common_folder(paths: Iterator[str]) -> PurePosixPath:
    return PurePosixPath(os.path.commonpath([PurePosixPath(path).parent for path in paths]) or ".")


WriteFile = Callable[[str, BinaryIO, int], None]
"""takes a file's path within the outermost zip, its bytes, and when it was written, seconds since 1970"""


def unpack(file: Path, paths: set[str], limits: ZipLimits, scratch: Path, write: WriteFile) -> Iterator[Failure]:
    """Hands the files at these paths of a zip to `write`; a failure for each that is damaged.

    Raises ZipRejected and OSError where the zip cannot be read as a whole.
    """
    with open_archive(file, limits.max_ratio, limits.max_bytes, scratch) as archive:
        for name in archive.members:
            try:
                if name in paths:
                    with archive.open(name) as stream:
                        write(name, stream, archive.written(name))
                elif inside := {path.removeprefix(f"{name}/") for path in paths if path.startswith(f"{name}/")}:
                    yield from _unpack_inner(archive, name, inside, limits, scratch, write)
            except ZipRejected as rejected:
                yield replace(rejected.failure, location=name)


def _unpack_inner(
    archive: Archive, name: str, paths: set[str], limits: ZipLimits, scratch: Path, write: WriteFile
) -> Iterator[Failure]:
    def write_inside(path: str, stream: BinaryIO, written: int) -> None:
        write(f"{name}/{path}", stream, written)

    with tempfile.TemporaryDirectory(prefix="relrag-", dir=scratch) as folder:
        inner = Path(folder, f"inner{_suffix_of(name)}")
        with archive.open(name) as stream, inner.open("wb") as target:
            copy_bounded(stream, target, limits.max_bytes)
        for failure in unpack(inner, paths, limits, scratch, write_inside):
            yield replace(failure, location=f"{name}/{failure.location}")


def _suffix_of(name: str) -> str:
    """The suffix of an archive's name."""
    return next(suffix for suffix in SUFFIXES if name.lower().endswith(suffix))
