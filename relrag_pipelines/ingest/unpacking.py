"""Opens the zips and tars in a source's folder that are bundles (zip_contents.py), for sources with `open_zips`.

A source gets the files of its kind, and those that they are read with, in its mirror: the folder of a zip there has the
zip's path. Parts of one export (`takeout-2024-001.zip`, `-002.zip`) share a folder, since a photo and what is stated of
it may be in two of them. A zip is opened again when its size or time changes; what it no longer holds is removed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from relrag_pipelines.erasure.mirrored_items import open_mirror
from relrag_pipelines.files.atomic import make_private
from relrag_pipelines.files.regular_files import may_open, walk
from relrag_pipelines.ingest.unread_files import UnreadFile
from relrag_pipelines.ingest.unread_in_zips import NOTHING_KNOWN, is_read_with, unread_in_zip
from relrag_pipelines.ingest.zip_contents import (
    VERSION,
    ZipContents,
    ZipFile,
    ZipLimits,
    copy_bounded,
    unpack,
    zip_contents,
)
from relrag_pipelines.records import Failure
from relrag_pipelines.settings import Settings, Source
from relrag_pipelines.sources import KINDS, NOT_READ, Kind
from relrag_pipelines.sources.formats.archives import is_archive
from relrag_pipelines.sources.formats.safe_zip import ZipRejected
from relrag_pipelines.sources.remote import Mirror
from relrag_pipelines.sources.remote.mirror import ZIPS
from relrag_pipelines.sources.unit_files import path_of
from relrag_pipelines.stores.spill_buffer import spill_folder
from relrag_pipelines.workspace import Workspace

_PART = re.compile(r"-\d{3}(?=\.(?:zip|tgz|tar|tar\.gz)$)", re.IGNORECASE)
_LARGEST_SENT = 100 * 2**20
"""bytes of a file sent in a chat that is unpacked; of larger ones the record says that they are missing"""
_SCRATCH, _EXAMINED = "unpacked-zips", "examined-zips"
"""scratch folders: for zips inside zips, and for beginnings of files by which their kind is recognised; no source can
have such a name, since it holds a hyphen"""
_READER, _OPENING, _EXTRAS = "reader", "opening", "extras"
"""entries of the mirror's cursor beside a row for each zip: the reader that opened them, the readers of all sources
that open zips in the same folders, and keyed hashes of files that are only read with others"""

Zips = Mapping[str, Path]
"""path of a zip, relative to the source's -> the zip"""


def folder_of(path: str) -> str:
    """The folder in the mirror of a zip at that path."""
    return _PART.sub("", path)


def limits_of(settings: Settings) -> ZipLimits:
    """How much a zip may hold, by the settings."""
    return ZipLimits(settings.archive_max_ratio, settings.archive_max_bytes)


def is_due(workspace: Workspace, source: Source) -> bool:
    """Whether a zip of a source was added, changed or removed since they were opened. Opens none."""
    mirror = open_mirror(workspace, source)
    zips = _zips(workspace.settings, source)
    if not mirror.exists:
        return bool(zips)
    before = {name: row[:2] for name, row in mirror.cursor.get(ZIPS, {}).items()}
    stored = (mirror.cursor.get(_READER), mirror.cursor.get(_OPENING), before)
    return stored != (_reader(source), _opening_kinds(workspace.settings, source), _states(mirror, zips))


def is_bundle(workspace: Workspace, source: Source) -> Callable[[Path], bool]:
    """A function that tells whether a file is a zip that is opened, so that nothing reads it as it is."""
    root = workspace.settings.source_path(source)
    mirror = open_mirror(workspace, source)
    rows = mirror.cursor.get(ZIPS, {})

    def is_opened(file: Path) -> bool:
        if not is_archive(file.name) or not may_open(file, _base(root), follow_links=source.follow_links):
            return False
        path = path_of(file, root)
        row = rows.get(mirror.hash_path(path)) if rows else None
        if row and row[:2] == _state(file):
            return bool(row[2])
        parts = {path_of(other, root): other for other in _parts_beside(file)}
        return any(contents.is_bundle for contents in _contents(workspace, parts).values())

    return is_opened


def is_extra(workspace: Workspace, source: Source) -> Callable[[Path], bool]:
    """A function that tells whether an unpacked file is no unit of the source, but only read with one."""
    mirror = open_mirror(workspace, source)
    extras = set(mirror.cursor.get(_EXTRAS, ()))
    return lambda file: bool(extras) and mirror.hash_path(path_of(file, mirror.items)) in extras


def refresh(workspace: Workspace, source: Source) -> None:
    """Brings the unpacked files of a source up to date with its zips."""
    if not workspace.settings.source_path(source).exists() or not is_due(workspace, source):
        return
    _Refresh(workspace, source).run()
    if workspace.listings is not None:
        workspace.listings.pop(source.name, None)


@dataclass(frozen=True)
class _Origin:
    """Where an unpacked file comes from."""

    zip_path: str
    path: str
    """within the zip"""


class _Refresh:
    """Opens the zips of one source."""

    def __init__(self, workspace: Workspace, source: Source) -> None:
        self._workspace, self._source = workspace, source
        self._mirror = open_mirror(workspace, source)
        self._zips = _zips(workspace.settings, source)
        self._extras: set[str] = set()

    def run(self) -> None:
        """Unpacks the zips that changed, and removes the files of zips that no longer exist."""
        mirror = self._mirror
        before = mirror.cursor.get(ZIPS, {})
        for path in list(mirror.omissions):
            mirror.clear_omission(path)
        contents = _contents(self._workspace, self._zips)
        self._note_damaged(contents)
        self._note_unread(contents)
        origins = self._origins(contents)
        unreadable = {path for path in self._zips if path not in contents and self._was_bundle(path, before)}
        mirror.keep_only({*origins, *self._items_of(unreadable), *mirror.omissions})
        due = self._due_items(origins, before)
        self._unpack({item: origins[item] for item in due})
        mirror.cursor.update(
            {
                _READER: _reader(self._source),
                _OPENING: _opening_kinds(self._workspace.settings, self._source),
                ZIPS: self._rows(contents, unreadable),
                _EXTRAS: sorted(map(mirror.hash_path, self._extras)),
            }
        )
        mirror.save()

    def _due_items(self, origins: Mapping[str, _Origin], before: Mapping[str, list[Any]]) -> list[str]:
        """The files to be unpacked: those of zips that changed, and those that are missing."""
        is_new = self._mirror.cursor.get(_READER) != _reader(self._source)
        changed = {path for path in self._zips if is_new or self._is_changed(path, before)}
        return [item for item, origin in origins.items() if origin.zip_path in changed or self._mirror.needs(item)]

    def _rows(self, contents: Mapping[str, ZipContents], unreadable: set[str]) -> dict[str, list[Any]]:
        """What is stored of each zip: its size, its time, and whether it is opened."""
        opened = {path for path in contents if _is_of_bundle(path, contents)} | unreadable
        return {self._mirror.hash_path(path): [*_state(file), path in opened] for path, file in self._zips.items()}

    def _was_bundle(self, path: str, before: Mapping[str, list[Any]]) -> bool:
        """Whether a zip was unpacked before but cannot be read now; if so, keeps its files and notes a failure."""
        row = before.get(self._mirror.hash_path(path))
        if not row or not row[2]:
            return False
        why = "the zip cannot be read any more, what was read of it is kept; copy or export it again"
        self._mirror.note_omission(path, why)
        return True

    def _is_changed(self, path: str, before: Mapping[str, list[Any]]) -> bool:
        return list(before.get(self._mirror.hash_path(path), ())[:2]) != _state(self._zips[path])

    def _items_of(self, zip_paths: set[str]) -> set[str]:
        folders = tuple(f"{folder_of(path)}/" for path in zip_paths)
        return {path for path in self._mirror.paths() if path.startswith(folders)} if folders else set()

    def _origins(self, contents: Mapping[str, ZipContents]) -> dict[str, _Origin]:
        """Unpacked file -> where it comes from, for all files that the source reads, or reads others with."""
        settings, source = self._workspace.settings, self._source
        origins: dict[str, _Origin] = {}
        bundles = {path: content for path, content in contents.items() if _is_of_bundle(path, contents)}
        for path, content in bundles.items():
            if not _is_nearest(settings, source, self._zips[path]):
                continue
            if _is_first(settings, source, self._zips[path]):
                self._note_failures(path, content)
            units, extras = files_of_kind(KINDS[source.kind], content)
            self._add(origins, path, units)
            self._extras.update(self._add(origins, path, extras))
        return origins

    def _note_damaged(self, contents: Mapping[str, ZipContents]) -> None:
        """Notes zips that cannot be read, where this source is the one to tell and no kind reads zips there."""
        settings = self._workspace.settings
        for path, file in self._zips.items():
            if path not in contents and _is_first(settings, self._source, file) and not _is_read_whole(settings, file):
                self._mirror.note_omission(path, "the zip cannot be read; copy or export it again, or unpack it")

    def _note_unread(self, contents: Mapping[str, ZipContents]) -> None:
        """Notes files that no source reads, of zips that this source is the one to tell about."""
        settings = self._workspace.settings
        for path, content in contents.items():
            sources = _opening(settings, self._zips[path])
            if sources[0].name != self._source.name:
                continue
            part = replace(content, is_bundle=_is_of_bundle(path, contents))
            if part.is_bundle or part.kind:
                self._note_files(path, list(unread_in_zip(folder_of(path), part, sources)))
            elif not _is_read_whole(settings, self._zips[path]):
                self._note_failures(path, content)
                self._note_files(path, [] if content.failures else [NOTHING_KNOWN])

    def _note_files(self, path: str, unread: list[UnreadFile]) -> None:
        for file in unread:
            location = f"{path}/{file.path}".rstrip("/")
            self._mirror.note_omission(location, f"{file.reason}; {file.remedy}", fault=NOT_READ)

    def _note_failures(self, path: str, content: ZipContents) -> None:
        for failure in content.failures:
            self._mirror.note_omission(f"{path}/{failure.location}".rstrip("/"), failure.message)

    def _add(self, origins: dict[str, _Origin], path: str, files: list[ZipFile]) -> list[str]:
        """Adds files of a zip that are not excluded; where they will be."""
        items: list[str] = []
        for within in files:
            item = f"{folder_of(path)}/{within.path}"
            item = f"{path}/{within.path}" if item in origins else item
            if not self._source.excludes(item):
                origins[item] = _Origin(path, within.path)
                items.append(item)
        return items

    def _unpack(self, origins: Mapping[str, _Origin]) -> None:
        by_zip: dict[str, dict[str, str]] = {}
        for item, origin in origins.items():
            if not self._mirror.is_withheld(item):
                by_zip.setdefault(origin.zip_path, {})[origin.path] = item
        for done, (path, items) in enumerate(by_zip.items()):
            self._workspace.report(f"{self._source.name}: open zips", done, len(by_zip))
            try:
                for failure in self._write_items(path, items):
                    self._mirror.note_omission(items.get(failure.location, path), failure.message)
            except (ZipRejected, OSError):
                self._mirror.note_omission(path, "the zip could not be read to its end; copy or export it again")

    def _write_items(self, path: str, items: Mapping[str, str]) -> list[Failure]:
        limits = limits_of(self._workspace.settings)

        def write(within: str, stream: BinaryIO, written: int) -> None:
            item = items[within]
            try:
                with self._mirror.open_part(item) as target:
                    copy_bounded(stream, target, limits.max_bytes)
            except BaseException:
                self._mirror.discard_part(item)
                raise
            self._mirror.finish_part(item)
            os.utime(self._mirror.items / item, (written, written))

        with _scratch(self._workspace) as scratch:
            return list(unpack(self._zips[path], set(items), limits, scratch, write))


def files_of_kind(kind: Kind, contents: ZipContents) -> tuple[list[ZipFile], list[ZipFile]]:
    """The units of a kind in a zip, and the files that they are read with."""
    units = [within for within in contents.files if within.kind == kind.name]
    folders = {PurePosixPath(unit.path).parent for unit in units}
    paths = {unit.path for unit in units}
    extras = [
        within
        for within in contents.files
        if within.path not in paths and within.size <= _LARGEST_SENT and is_read_with(kind, within, folders)
    ]
    return units, extras


def _is_of_bundle(path: str, contents: Mapping[str, ZipContents]) -> bool:
    """Whether a zip or another part of its export is a bundle."""
    folder = folder_of(path)
    return any(content.is_bundle for other, content in contents.items() if folder_of(other) == folder)


def _is_nearest(settings: Settings, source: Source, file: Path) -> bool:
    """Whether no other source of the kind that opens zips has a folder nearer to this zip."""
    rivals = [other for other in _opening(settings, file) if other.kind == source.kind]
    return max(rivals, key=lambda other: len(settings.source_path(other).parts)).name == source.name


def _is_first(settings: Settings, source: Source, file: Path) -> bool:
    """Whether it is the source that tells what is wrong with a zip."""
    return _opening(settings, file)[0].name == source.name


def _is_read_whole(settings: Settings, file: Path) -> bool:
    """Whether the kind of a source around a zip reads zips, and so says what is wrong with it."""
    around = [source for source in settings.sources if file.is_relative_to(settings.source_path(source))]
    return any(KINDS[source.kind].matches(file.name) for source in around)


def _opening(settings: Settings, file: Path) -> list[Source]:
    """The sources that open a zip."""
    return [
        source for source in settings.sources if source.open_zips and file.is_relative_to(settings.source_path(source))
    ]


def _opening_kinds(settings: Settings, source: Source) -> list[str]:
    """The readers of all sources that open zips in the folder of a source, above it or below it."""
    root = settings.source_path(source)
    return sorted(
        _reader(other) for other in settings.sources if other.open_zips and _overlap(root, settings.source_path(other))
    )


def _overlap(folder: Path, other: Path) -> bool:
    return folder.is_relative_to(other) or other.is_relative_to(folder)


def _contents(workspace: Workspace, zips: Zips) -> dict[str, ZipContents]:
    """What those zips hold that can be read."""
    limits, scratch = limits_of(workspace.settings), spill_folder(workspace.home, _EXAMINED)
    contents: dict[str, ZipContents] = {}
    for path, file in zips.items():
        try:
            contents[path] = zip_contents(file, limits, scratch)
        except (ZipRejected, OSError):
            continue
    return contents


def _parts_beside(file: Path) -> list[Path]:
    """The zip, and the other parts of its export."""
    if not _PART.search(file.name):
        return [file]
    zips = (other for other in file.parent.iterdir() if is_archive(other.name))
    return sorted(other for other in zips if folder_of(other.name) == folder_of(file.name))


def _zips(settings: Settings, source: Source) -> dict[str, Path]:
    """The zips below a source's path that it does not exclude."""
    root = settings.source_path(source)
    if root.is_file():
        return {root.name: root} if is_archive(root.name) else {}
    files = _zip_files(root, settings.own_folders, follow_links=source.follow_links)
    zips = {path_of(file, root): file for file in files if may_open(file, root, follow_links=source.follow_links)}
    return {path: file for path, file in zips.items() if not source.excludes(path)}


def _zip_files(root: Path, own: Sequence[Path], *, follow_links: bool) -> Iterator[Path]:
    """The visible zips below a folder, without those in folders that relrag writes."""
    for folder, folders, names in walk(root, follow_links=follow_links):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and folder / name not in own)
        visible = (name for name in sorted(names) if not name.startswith((".", "~$")))
        yield from (folder / name for name in visible if is_archive(name))


def _states(mirror: Mirror, zips: Zips) -> dict[str, list[int]]:
    return {mirror.hash_path(path): _state(file) for path, file in zips.items()}


def _state(file: Path) -> list[int]:
    """Size and time of a zip."""
    try:
        status = file.stat()
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns]


def _reader(source: Source) -> str:
    """What decides, beside the zips, which files of them a source has."""
    return f"{VERSION} {source.kind} {KINDS[source.kind].version} {sorted(source.exclude)}"


def _base(root: Path) -> Path:
    return root.parent if root.is_file() else root


@contextmanager
def _scratch(workspace: Workspace) -> Iterator[Path]:
    """A folder for zips in zips while they are open."""
    folder = spill_folder(workspace.home, _SCRATCH)
    make_private(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
