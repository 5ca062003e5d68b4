"""Finds the sources in a folder, for `relrag init` to propose.

Files are recognised by their content until the time limit, then by their names. Each kind becomes one source at the
deepest folder that holds all its files. If several sources could read a file, ingest/ownership.py decides, as in a
sync. A file that no kind recognises (a damaged PDF, an encrypted zip) is read too, so that the fault is reported.
"""

from __future__ import annotations

import functools
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from relrag_pipelines.files.regular_files import may_open, read_plain
from relrag_pipelines.ingest import unpacking
from relrag_pipelines.ingest.ownership import recognises
from relrag_pipelines.ingest.unread_in_zips import is_visible
from relrag_pipelines.ingest.zip_contents import ZipContents, ZipFile, ZipLimits, zip_contents
from relrag_pipelines.onboarding.activity import ExaminedFile, LeftOut, left_out, pattern
from relrag_pipelines.onboarding.estimate import record_count
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS, Kind
from relrag_pipelines.sources.formats.archives import is_archive
from relrag_pipelines.sources.formats.git_repository import is_bare
from relrag_pipelines.sources.formats.safe_zip import ZipRejected
from relrag_pipelines.sources.formats.takeout import HEAD, activity_label
from relrag_pipelines.stores import backup_manifest

_HISTORY = tuple(kind.name for kind in KINDS.values() if kind.repositories == "history")
_FILES = tuple(kind.name for kind in KINDS.values() if kind.repositories == "files")
_FEW = 2
"""sources of one folder that may be named after it"""
_RESERVED = frozenset({"catalog", "published"})


@dataclass(frozen=True)
class ProposedSource:
    """A source that was found in a folder."""

    name: str
    kind: str
    path: str
    """relative to the searched folder, with forward slashes"""
    files: int
    sizes: Mapping[str, int]
    """suffix -> bytes"""
    records: int = 0
    """estimated number of records"""
    opens_zips: bool = False
    """some of its files are in zips"""
    exclude: tuple[str, ...] = ()
    """patterns of folders that it leaves out"""

    @property
    def bytes(self) -> int:
        """Total size of its files."""
        return sum(self.sizes.values())


@dataclass(frozen=True)
class Discovery:
    """The sources and other files of a folder."""

    sources: list[ProposedSource] = field(default_factory=list)
    unrecognised: list[str] = field(default_factory=list)
    """files that no kind recognises; a source reads them and reports the fault"""
    unread: list[str] = field(default_factory=list)
    """files with a known suffix that no kind recognises and no source contains"""
    by_name: int = 0
    """files recognised by their names alone, after the time limit"""
    complete: bool = True
    """every folder was searched"""
    left_out: list[LeftOut] = field(default_factory=list)
    """folders of Takeouts that are not read unless the owner asks for it"""
    unread_in_zips: list[str] = field(default_factory=list)
    """files in zips that no kind reads"""
    failures_in_zips: list[str] = field(default_factory=list)
    """files in zips that cannot be unpacked, each with the reason and what to do"""


@dataclass(frozen=True)
class _File:
    path: str
    size: int
    kinds: tuple[str, ...]
    """kinds that read files with its suffix, the most specific first"""
    zip_path: str = ""
    """path of the zip that it is in"""
    kind: str = ""
    """that recognises it, of a file in a zip"""
    activity: str = ""
    """what it holds if it is a record of activity, of a file in a zip"""

    @property
    def folder(self) -> str:
        """The folder in which a source has to look for it."""
        return PurePosixPath(self.zip_path or self.path).parent.as_posix()


def discover(
    folder: Path, seconds: float = 10, most: int = 100_000, depth: int = 16, without: Sequence[Path] = ()
) -> Discovery:
    """Searches a folder: at most `most` files, `depth` folders deep, for at most `seconds`.

    The folders `without`, absolute, are not looked into: what relrag itself writes is no source.
    """
    folder = folder.resolve()
    until = time.monotonic() + seconds
    files: list[_File] = []
    complete = True
    for file, allowed in _walk(folder, depth, without):
        complete &= allowed
        if file:
            files.append(file)
        if len(files) >= most or time.monotonic() > until:
            complete = False
            break
    bundles, unread_in_zips, failures_in_zips = _open_zips(folder, files, until)
    opened = {file.zip_path for file in bundles}
    files = [file for file in files if file.path not in opened]
    recognised, late = _recognise(folder, files, until)
    files += bundles
    recognised |= {file.path: file.kind for file in bundles}
    omissions = left_out(_examined(folder, files, recognised))
    omitted = [file for file in files if _lies_in(file.path, omissions)]
    files = [file for file in files if file not in omitted]
    roots = _roots(files, recognised)
    readers = {file.path: recognised.get(file.path) or _reader(file, roots) for file in files}
    sources = _proposals(folder, roots, [(file, readers[file.path]) for file in files], omissions, omitted)
    sources += _code(files, {source.name for source in sources})
    doubtful = [
        file.path
        for file in files
        if file.path not in late
        and recognised[file.path] is None
        and not all(KINDS[kind].shared_suffixes for kind in file.kinds)
    ]
    read, unread = ([path for path in doubtful if bool(readers[path]) == is_read] for is_read in (True, False))
    return Discovery(sources, read, unread, len(late), complete, omissions, unread_in_zips, failures_in_zips)


def source_table(source: ProposedSource, folder: Path, config_folder: Path) -> dict[str, Any]:
    """The `[[sources]]` table of a source that was found in `folder`, with its path as relrag.toml has it."""
    export = folder / source.path
    path = export.relative_to(config_folder).as_posix() if export.is_relative_to(config_folder) else export.as_posix()
    table: dict[str, Any] = {"name": source.name, "kind": source.kind, "path": path}
    if source.opens_zips:
        table["open_zips"] = True
    if source.exclude:
        table["exclude"] = list(source.exclude)
    return table


def _proposals(
    folder: Path,
    roots: Mapping[str, str],
    read: Sequence[tuple[_File, str | None]],
    omissions: list[LeftOut],
    omitted: list[_File],
) -> list[ProposedSource]:
    """A source for each kind; `read` are the files, with the kinds that read them."""
    sources: list[ProposedSource] = []
    for kind, root in roots.items():
        members = [file for file, reader in read if reader == kind]
        sizes: Counter[str] = Counter()
        for file in members:
            sizes[PurePosixPath(file.path).suffix.lower()] += file.size
        records = record_count(kind, [(folder / file.path, file.size) for file in members])
        is_shared = list(roots.values()).count(root) > _FEW
        name = _name(root, kind, {source.name for source in sources}, is_shared=is_shared)
        exclude = _exclusions(kind, root, omissions, omitted)
        in_zips = any(file.zip_path for file in members)
        sources.append(ProposedSource(name, kind, root, len(members), sizes, records, in_zips, exclude))
    return sources


def _open_zips(folder: Path, files: list[_File], until: float) -> tuple[list[_File], list[str], list[str]]:
    """The files in the zips that are bundles, the paths of those in them that no kind reads, and failures."""
    contents = _zip_contents(folder, files, until)
    bundles = {unpacking.folder_of(path) for path, content in contents.items() if content.is_bundle}
    opened = {path: content for path, content in contents.items() if unpacking.folder_of(path) in bundles}
    inside = [(path, within) for path, content in opened.items() for within in content.files]
    failures = _zip_failures(opened)
    unread = [f"{path}/{within.path}" for path, within in inside if not within.kind and is_visible(within)]
    return (
        [_file_in_zip(path, within) for path, within in inside],
        [path for path in unread if path not in failures],
        [f"{path}: {message}" for path, message in failures.items()],
    )


def _zip_failures(opened: dict[str, ZipContents]) -> dict[str, str]:
    """What could not be read in the zips, by path."""
    failures = ((path, failure) for path, content in opened.items() for failure in content.failures)
    return {f"{path}/{failure.location}": failure.message for path, failure in failures}


def _zip_contents(folder: Path, files: list[_File], until: float) -> dict[str, ZipContents]:
    """What the zips among the files hold, as far as they can be read in time."""
    limits = ZipLimits(*(Settings.model_fields[name].default for name in ("archive_max_ratio", "archive_max_bytes")))
    contents: dict[str, ZipContents] = {}
    for file in files:
        if is_archive(file.path) and may_open(folder / file.path, folder) and time.monotonic() < until:
            with suppress(ZipRejected, OSError):
                contents[file.path] = zip_contents(folder / file.path, limits)
    return contents


def _file_in_zip(zip_path: str, within: ZipFile) -> _File:
    path = f"{unpacking.folder_of(zip_path)}/{within.path}"
    return _File(path, within.size, (within.kind,) if within.kind else (), zip_path, within.kind, within.activity)


def _examined(folder: Path, files: list[_File], recognised: Mapping[str, str | None]) -> Iterator[ExaminedFile]:
    """The files, with the kinds that recognise them and how records of activity are told from others."""
    for file in files:
        kind = recognised.get(file.path) or ""
        activity = functools.partial(_activity, folder, file)
        yield ExaminedFile(file.path, kind, bool(kind) and KINDS[kind].any_text, activity)


def _activity(folder: Path, file: _File) -> str:
    """What a file holds if it is a record of activity; empty for others and where it cannot be read."""
    if file.zip_path:
        return file.activity
    try:
        return activity_label(read_plain(folder / file.path, HEAD))
    except OSError:
        return ""


def _lies_in(path: str, omissions: list[LeftOut]) -> bool:
    """Whether a file lies in one of the folders that are left out."""
    return any(f"{path}/".startswith(f"{part.folder}/") for part in omissions)


def _exclusions(kind: str, root: str, omissions: list[LeftOut], omitted: list[_File]) -> tuple[str, ...]:
    """The patterns of what a source at `root` leaves out, among what its kind would read by name."""
    named = [file.path for file in omitted if KINDS[kind].matches(file.path)]
    folders = [part.folder for part in omissions if any(_lies_in(path, [part]) for path in named)]
    return tuple(dict.fromkeys(pattern(folder, root) for folder in folders if _is_below(root, folder)))


def _walk(folder: Path, depth: int, without: Sequence[Path]) -> Iterator[tuple[_File | None, bool]]:
    """Yields files that a kind might read, in order, each with True; (None, False) if a folder was left out.

    A backup that relrag made is no export, wherever it lies.
    """
    refused: list[OSError] = []
    own = {path.resolve() for path in without}
    for directory, folders, names in os.walk(folder, onerror=refused.append):
        relative = Path(directory).relative_to(folder)
        if backup_manifest.marks_backup(Path(directory), names):
            folders.clear()
            continue
        if repository := _repository(Path(directory), relative):
            yield repository, True
        folders[:] = sorted(name for name in folders if not name.startswith(".") and Path(directory, name) not in own)
        if len(relative.parts) >= depth and folders:
            folders.clear()
            yield None, False
        beside = frozenset(names)
        for name in sorted(names):
            kinds = [kind for kind in KINDS.values() if _reads(kind, (relative / name).as_posix(), beside)]
            if (kinds or is_archive(name)) and not name.startswith((".", "~$")):
                file = Path(directory, name)
                size = file.stat().st_size if file.exists() else 0
                yield _File((relative / name).as_posix(), size, tuple(kind.name for kind in kinds)), True
    if refused:
        yield None, False


def _reads(kind: Kind, path: str, beside: frozenset[str]) -> bool:
    return kind.matches(path, beside.__contains__) and not kind.always_remote


def _repository(directory: Path, relative: Path) -> _File | None:
    """The git repository at a folder: its `.git`, or the folder itself if it is bare; None for other folders."""
    if (directory / ".git").exists():
        return _File((relative / ".git").as_posix(), 0, _HISTORY)
    return _File(relative.as_posix(), 0, _HISTORY) if relative.parts and is_bare(directory) else None


def _code(files: list[_File], names: set[str]) -> list[ProposedSource]:
    """The source code of the repositories among the files."""
    folders = [file.folder for file in files if PurePosixPath(file.path).name == ".git"]
    if not folders:
        return []
    root = os.path.commonpath(folders) or "."
    return [ProposedSource(_name(root, kind, names), kind, root, len(folders), {}) for kind in _FILES]


def _recognise(folder: Path, files: list[_File], until: float) -> tuple[dict[str, str | None], set[str]]:
    """path -> the kind that recognises the file, or None; and the paths that the time limit left out."""
    kind_of: dict[str, str | None] = {}
    late: set[str] = set()
    for file in files:
        if time.monotonic() > until:
            late.add(file.path)
        else:
            absolute = folder / file.path
            kinds = (kind for kind in file.kinds if may_open(absolute, folder) and recognises(KINDS[kind], absolute))
            kind_of[file.path] = next(kinds, None)
    return kind_of, late


def _roots(files: list[_File], recognised: dict[str, str | None]) -> dict[str, str]:
    """Kind -> the deepest folder that holds all files of it that were recognised.

    Without one, that of those for which there was no time and whose usual kind it is.
    """
    usual = _usual([file for file in files if file.path not in recognised], files, recognised)
    roots = {}
    for kind in KINDS:
        certain = [file.folder for file in files if recognised.get(file.path) == kind]
        if not certain and not KINDS[kind].shared_suffixes:
            certain = [file.folder for file in files if usual.get(file.path) == kind]
        if certain:
            roots[kind] = os.path.commonpath(certain) or "."
    return roots


def _usual(unknown: list[_File], files: list[_File], recognised: dict[str, str | None]) -> dict[str, str]:
    """path -> the most common kind in its folder, among those that read such names."""
    near: dict[str, Counter[str]] = {}
    for file in files:
        if kind := recognised.get(file.path):
            near.setdefault(file.folder, Counter())[kind] += 1
    # the last kind is the least specific: plain text is a document
    return {
        file.path: max(reversed(_particular(file)), key=near.get(file.folder, Counter()).__getitem__)
        for file in unknown
    }


def _particular(file: _File) -> list[str]:
    """The kinds that read such names and have them to themselves, if there are any."""
    return [kind for kind in file.kinds if not KINDS[kind].shared_suffixes] or list(file.kinds)


def _reader(file: _File, roots: Mapping[str, str]) -> str | None:
    """The kind whose source reads an unrecognised file, as in a sync; None if no source contains it."""
    able = [kind for kind in file.kinds if kind in roots and _is_below(roots[kind], file.path)]
    return max(reversed(able), key=lambda kind: len(PurePosixPath(roots[kind]).parts), default=None)


def _is_below(root: str, path: str) -> bool:
    return path != root if root == "." else path.startswith(f"{root}/")


def _name(root: str, kind: str, taken: set[str], *, is_shared: bool = False) -> str:
    """A source's name: the folder's if it is valid, else the kind's, as a folder of chats may bear a name.

    The folder of several sources (`is_shared`) says nothing about any of them.
    """
    plain = re.sub(r"[^a-z0-9]+", "_", PurePosixPath(root).name.lower()).strip("_")
    usual = KINDS[kind].source_name or kind
    is_valid = re.fullmatch(r"[a-z][a-z0-9_]{0,40}", plain) and plain not in _RESERVED
    is_of_person = KINDS[kind].chat and KINDS[kind].shared_suffixes
    names = [plain] if is_valid and not is_of_person and not is_shared else []
    names += [usual, *(f"{usual}_{number}" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)
