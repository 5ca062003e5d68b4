"""The units of a source: which files it consists of, and which belong together. None is opened."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files.regular_files import walk
from relrag_pipelines.settings import CONFIG_NAME, Source
from relrag_pipelines.sources import Excluded, Kind, ListingError, Unit, path_of, unit_of


class SourceNotFound(RelragError):
    """The path of a source is not there or cannot be listed; the message says which and what to do."""

    stored = "the path of the source is missing or cannot be listed; `relrag plan` says which"


def list_units(root: Path, kind: Kind, source: Source, taken: Callable[[Path], bool]) -> Iterator[Unit]:
    """Every unit of a source, none of them opened; SourceNotFound when its path is not there."""
    excluded, follow_links = source.excludes, source.follow_links
    try:
        if not root.is_file():
            os.scandir(root).close()
    except FileNotFoundError:
        advice = (
            "`relrag backfill legacy` writes it"
            if source.url
            else "mount or restore it, or change the path in relrag.toml"
        )
        raise SourceNotFound(f"{root} is not there; {advice}") from None
    except PermissionError:
        raise SourceNotFound(f"{root} cannot be read; give this user permission to list it") from None
    if kind.units:
        try:
            yield from (unit for unit in kind.units(root, excluded, follow_links) if not excluded(unit.path))
        except ListingError as error:
            raise SourceNotFound(str(error)) from None
        except OSError as error:
            _refuse(error)
    elif root.is_file() and taken(root):
        return
    elif root.is_file():
        near = kind.companions or kind.tells_of_folder
        names = sorted(one.name for one in root.parent.iterdir() if not one.is_dir()) if near else []
        beside = [name for name in names if name.lower().endswith(kind.companions)]
        around = _around(root.parent, names, kind)
        yield from (
            unit
            for unit in _units(root.parent, [root.name, *beside], kind, root.parent, around, follow_links)
            if unit.file == root
        )
    else:
        yield from _files(root, kind, excluded, taken, follow_links)


def _files(
    root: Path, kind: Kind, excluded: Excluded, taken: Callable[[Path], bool], follow_links: bool
) -> Iterator[Unit]:
    def _all_excluded(folder: Path) -> bool:
        # a path that no pattern can mean but one that means all in the folder, or the folder itself
        return excluded(f"{path_of(folder, root)}/\0")

    for inside, folders, files in walk(root, _refuse, follow_links=follow_links):
        folders[:] = sorted(
            name
            for name in folders
            if (not name.startswith(".") or _is_maildir(inside / name, kind)) and not _all_excluded(inside / name)
        )
        paths = {name: path_of(inside / name, root) for name in sorted(files) if not name.startswith((".", "~$"))}
        read = [
            name
            for name, path in paths.items()
            if (kind.holds(path) or name.lower().endswith(kind.companions))
            and not excluded(path)
            and not taken(inside / name)
        ]
        yield from _units(inside, read, kind, root, _around(inside, list(paths), kind) if read else "", follow_links)


def _is_maildir(folder: Path, kind: Kind) -> bool:
    """A Maildir keeps its folders in hidden ones."""
    return kind.holds("cur/mail") and (folder / "cur").is_dir()


def _units(folder: Path, names: list[str], kind: Kind, root: Path, around: str, follow_links: bool) -> Iterator[Unit]:
    """The units among the files of a folder, each with those that belong to it."""
    for name, beside in _together(names, kind).items():
        seen = around if name.lower().endswith(kind.tells_of_folder) else ""
        together = tuple(folder / one for one in beside)
        yield unit_of(folder / name, root, beside=together, around=seen, follow_links=follow_links)


def _around(folder: Path, names: list[str], kind: Kind) -> str:
    """A digest of what lies in a folder beside its units; empty where there is nothing, or no unit tells of it.

    Units are left out, so that one more of them does not have the others read again.
    """
    told = hashlib.blake2b(digest_size=16)
    seen = False
    for name in names if kind.tells_of_folder else ():
        if name.startswith((".", CONFIG_NAME)) or kind.holds(name):
            continue
        try:
            found = (folder / name).stat()
        except OSError:  # a link to nowhere, or gone since the folder was listed
            continue
        seen = True
        told.update(os.fsencode(name) + b"\0%d %d\n" % (found.st_size, found.st_mtime_ns))
    return told.hexdigest() if seen else ""


def _together(names: list[str], kind: Kind) -> dict[str, list[str]]:
    """Unit -> its companions: `call.m4a` has `call.vtt`, `call.m4a.vtt` and `call.en.vtt`."""
    found: dict[str, list[str]] = {}
    owners: dict[str, str] = {}
    for name in names:
        if not kind.companions or not name.lower().endswith(kind.companions):
            found[name] = []
            owners |= {part: name for part in (name, name.rpartition(".")[0]) if part not in owners}
    for name in names if kind.companions else ():
        if name in found:
            continue
        stem = _stem(name)
        while stem and stem not in owners:
            stem = _stem(stem)
        if owner := owners.get(stem):
            found[owner].append(name)
        elif name.lower().endswith(kind.suffixes):
            found[name] = []
    return dict(sorted(found.items()))


def _stem(name: str) -> str:
    return name.rpartition(".")[0]


def _refuse(error: OSError) -> None:
    # os.walk skips what it cannot list; its records would then count as deleted
    raise SourceNotFound(f"{error.filename} cannot be listed; give this user permission, or exclude it") from None
