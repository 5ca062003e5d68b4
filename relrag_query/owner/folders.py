"""Folders of this machine in which the owner looks for sources, below `browse_roots` and the folder of relrag.toml."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field

from relrag_pipelines.errors import RelragError
from relrag_pipelines.onboarding import archive_owner, first_sync
from relrag_pipelines.onboarding.discover import Discovery, ProposedSource, discover
from relrag_pipelines.onboarding.estimate import estimate, text_bytes
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS
from relrag_query.owner.switch import require_writes
from relrag_query.service import Service

INCOMING = "incoming"
"""the folder of uploaded files, beside relrag.toml"""
_MAX_FOLDERS = 500
"""folders that a list shows"""
_MAX_FILES = 20
"""files that are named of those that cannot be read"""


class FolderRefused(RelragError):
    """A folder that the pages may not look into."""


class FolderEntry(BaseModel):
    """A folder, by its name and its path."""

    name: str
    path: str


class FolderReply(BaseModel):
    """A folder and those in it."""

    path: str = Field(description="absolute; empty for the list of the allowed roots")
    parent: str | None = Field(description="the folder above, if it may be looked into")
    folders: list[FolderEntry]
    files: int = Field(description="how many files lie in it, without those in its folders")


class FoundSource(BaseModel):
    """A source that was found in a folder."""

    name: str
    kind: str
    meaning: str = Field(description="what that kind reads")
    path: str
    files: int
    records: int = Field(description="estimated")
    bytes: int
    seconds: float = Field(description="estimated time of the first sync")
    disk_bytes: int = Field(description="estimated size in the index")
    present: bool = Field(description="the archive has this source already")


class FoundSources(BaseModel):
    """What a folder holds, as `relrag init` would find it."""

    path: str
    sources: list[FoundSource]
    unread: list[str] = Field(description="files that cannot be read, and why")
    unread_count: int
    complete: bool = Field(description="every folder was looked into")
    owner: str = Field(description="whose archive it may be; empty if relrag.toml says, or nothing tells")


@dataclass(frozen=True)
class _Examined:
    folder: Path
    discovery: Discovery
    seconds: list[float]


def incoming(settings: Settings) -> Path:
    """The folder of uploaded files, absolute."""
    return settings.folder.resolve() / INCOMING


def roots(settings: Settings) -> list[Path]:
    """`browse_roots` and the folder of relrag.toml, absolute, those that exist."""
    configured = [(settings.folder / Path(root).expanduser()).resolve() for root in settings.browse_roots]
    return [root for root in dict.fromkeys([settings.folder.resolve(), *configured]) if root.is_dir()]


def browse(service: Service, path: str = "") -> FolderReply:
    """The folders in a folder; without a path the allowed roots. Raises FolderRefused."""
    require_writes(service)
    settings = service.settings
    if not path:
        entries = [FolderEntry(name=str(root), path=str(root)) for root in roots(settings) if _is_text(str(root))]
        return FolderReply(path="", parent=None, folders=entries, files=0)
    folder = allowed_folder(settings, path)
    shown = _visible(folder)
    files = sum(entry.is_file(follow_symlinks=False) for entry in shown)
    parent = str(folder.parent) if _is_allowed(settings, folder.parent) else ""
    return FolderReply(path=str(folder), parent=parent, folders=_folders(settings, folder, shown), files=files)


def _visible(folder: Path) -> list[os.DirEntry[str]]:
    """What lies in a folder and is not hidden, by name. Raises FolderRefused if it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name.casefold())
    except OSError as error:
        raise FolderRefused(f"this folder cannot be listed: {error.strerror}", code="folder_unlisted") from None
    return [entry for entry in listed if not entry.name.startswith(".") and _is_text(entry.name)]


def _folders(settings: Settings, folder: Path, shown: Sequence[os.DirEntry[str]]) -> list[FolderEntry]:
    folders = [entry for entry in shown if entry.is_dir(follow_symlinks=False)]
    allowed = [entry for entry in folders if _is_allowed(settings, folder / entry.name)]
    return [FolderEntry(name=entry.name, path=str(folder / entry.name)) for entry in allowed[:_MAX_FOLDERS]]


def recognise(service: Service, path: str) -> FoundSources:
    """The sources in a folder, with counts and estimates. Raises FolderRefused."""
    require_writes(service)
    settings = service.settings
    examined = examine(settings, path)
    discovery, folder = examined.discovery, examined.folder
    unread = [
        *(f"{name}: damaged, encrypted or of another kind than its name says" for name in discovery.unread),
        *(f"{name}: no kind reads such files" for name in discovery.unread_in_zips),
        *discovery.failures_in_zips,
        *(f"{part.folder}: {part.label}, left out" for part in discovery.left_out),
    ]
    guess = "" if settings.owner else archive_owner.guess(folder, discovery.sources, settings.timezone)
    return FoundSources(
        path=str(folder),
        sources=[
            _found(settings, folder, source, seconds)
            for source, seconds in zip(discovery.sources, examined.seconds, strict=True)
        ],
        unread=unread[:_MAX_FILES],
        unread_count=len(unread),
        complete=discovery.complete,
        owner=guess,
    )


def examine(settings: Settings, path: str) -> _Examined:
    """Looks for sources in a folder. Raises FolderRefused."""
    folder = allowed_folder(settings, path)
    discovery = discover(folder, without=settings.own_folders)
    return _Examined(folder, discovery, first_sync.seconds_of_each(folder, discovery, settings.timezone, settings))


def allowed_folder(settings: Settings, path: str) -> Path:
    """The folder of a path, with links resolved. Raises FolderRefused unless it lies below an allowed root."""
    try:
        folder = Path(path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise FolderRefused("there is no such folder", code="folder_absent") from None
    if not Path(path).is_absolute() or not _is_allowed(settings, folder):
        raise FolderRefused(
            "this folder lies outside of those that the pages may look into; browse_roots in relrag.toml names them",
            code="folder_outside",
        )
    if not folder.is_dir():
        raise FolderRefused("that is a file; choose the folder that it lies in", code="folder_is_file")
    return folder


def is_present(settings: Settings, kind: str, path: Path) -> bool:
    """Whether a source of that kind reads that path already."""
    return any(source.kind == kind and path.is_relative_to(settings.source_path(source)) for source in settings.sources)


def _is_allowed(settings: Settings, folder: Path) -> bool:
    """Whether a folder lies below an allowed root, is not hidden, and is no part of the index."""
    if any(folder.is_relative_to(own) for own in settings.own_folders):
        return False
    above = [root for root in roots(settings) if folder.is_relative_to(root)]
    return any(not _is_hidden(folder.relative_to(root)) for root in above)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_text(name: str) -> bool:
    """Whether a name can be written on a page."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _found(settings: Settings, folder: Path, source: ProposedSource, seconds: float) -> FoundSource:
    size = estimate(source.files, source.records, text_bytes(source.sizes))
    return FoundSource(
        name=source.name,
        kind=source.kind,
        meaning=KINDS[source.kind].meaning,
        path=source.path,
        files=source.files,
        records=source.records,
        bytes=source.bytes,
        seconds=seconds,
        disk_bytes=size.bytes,
        present=is_present(settings, source.kind, (folder / source.path).resolve()),
    )
