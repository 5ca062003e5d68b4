"""Lists the units of a source: by the lister of its kind, else the files with its suffixes. None is opened."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files.regular_files import walk
from relrag_pipelines.ingest.unit_context import UnitContext
from relrag_pipelines.settings import CONFIG_NAME, Source
from relrag_pipelines.sources import Kind, Listing, ListingError, ListingScope, Unit, UnitRef
from relrag_pipelines.sources.unit_files import path_of, unit_of, unit_of_ref


class SourceNotFound(RelragError):
    """The path of a source does not exist or cannot be listed; the message says which and what to do."""

    stored = "the path of the source is missing or cannot be listed; `relrag plan` says which"


def list_units(scope: ListingScope, kind: Kind, source: Source, is_claimed: Callable[[Path], bool]) -> Listing:
    """Every unit of a source, or those that changed since the cursor where its kind can tell; none of them is opened.

    `is_claimed` says whether another source reads a file. SourceNotFound where the source's path is not there.
    """
    root = scope.root
    if source.is_fetched and not root.exists():
        return Listing(())
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
            listing = kind.units(scope)
        except ListingError as error:
            raise SourceNotFound(str(error)) from None
        except OSError as error:
            _refuse(error)
        units = (unit_of_ref(listed, root) if isinstance(listed, UnitRef) else listed for listed in listing.units)
        return replace(listing, units=tuple(unit for unit in units if not scope.is_excluded(unit.path)))
    files = _single_file(scope, kind, is_claimed) if root.is_file() else _files(scope, kind, source, is_claimed)
    return Listing(tuple(files))


def _single_file(scope: ListingScope, kind: Kind, is_claimed: Callable[[Path], bool]) -> Iterator[Unit]:
    """The unit, if a source's path is a single file."""
    file, folder = scope.root, scope.root.parent
    if is_claimed(file):
        return
    near = kind.companions or kind.references_siblings
    names = sorted(path.name for path in folder.iterdir() if not path.is_dir()) if near else []
    companions = [name for name in names if name.lower().endswith(kind.companions)]
    siblings = _siblings_fingerprint(folder, names, kind)
    units = _units(folder, [file.name, *companions], kind, folder, siblings, scope.follow_links)
    yield from UnitContext(kind, folder).add_to(unit for unit in units if unit.file == file)


def _files(scope: ListingScope, kind: Kind, source: Source, is_claimed: Callable[[Path], bool]) -> Iterator[Unit]:
    root, excluded = scope.root, scope.is_excluded
    context = UnitContext.of_folder(scope, kind, source.own_folders)

    def _all_excluded(folder: Path) -> bool:
        # a path that no pattern can mean but one that means all in the folder, or the folder itself
        return excluded(f"{path_of(folder, root)}/\0")

    for folder, folders, files in walk(root, _refuse, follow_links=scope.follow_links):
        folders[:] = sorted(
            name
            for name in folders
            if (not name.startswith(".") or _is_maildir(folder / name, kind)) and not _all_excluded(folder / name)
        )
        paths = {name: path_of(folder / name, root) for name in sorted(files) if not name.startswith((".", "~$"))}
        selected = [
            name
            for name, path in paths.items()
            if (kind.matches(path, paths.__contains__) or name.lower().endswith(kind.companions))
            and not excluded(path)
            and not is_claimed(folder / name)
        ]
        siblings = _siblings_fingerprint(folder, list(paths), kind) if selected else ""
        yield from context.add_to(_units(folder, selected, kind, root, siblings, scope.follow_links))


def _is_maildir(folder: Path, kind: Kind) -> bool:
    """A Maildir keeps its folders in hidden ones."""
    return kind.matches("cur/mail") and (folder / "cur").is_dir()


def _units(folder: Path, names: list[str], kind: Kind, root: Path, siblings: str, follow_links: bool) -> Iterator[Unit]:
    """The units among the files of a folder, each with those that belong to it."""
    for name, companions in _companions_by_unit(names, kind).items():
        seen = siblings if name.lower().endswith(kind.references_siblings) else ""
        files = tuple(folder / companion for companion in companions)
        yield unit_of(folder / name, root, files, seen, follow_links=follow_links)


def _siblings_fingerprint(folder: Path, names: list[str], kind: Kind) -> str:
    """A digest of the other files in a folder; empty if there are none, or no unit refers to them.

    Units are left out, so that a new one doesn't have the others read again.
    """
    digest = hashlib.blake2b(digest_size=16)
    seen = False
    for name in names if kind.references_siblings else ():
        if name.startswith((".", CONFIG_NAME)) or kind.matches(name):
            continue
        try:
            status = (folder / name).stat()
        except OSError:  # a link to nowhere, or gone since the folder was listed
            continue
        seen = True
        digest.update(os.fsencode(name) + b"\0%d %d\n" % (status.st_size, status.st_mtime_ns))
    return digest.hexdigest() if seen else ""


def _companions_by_unit(names: list[str], kind: Kind) -> dict[str, list[str]]:
    """Unit -> its companions: `call.m4a` has `call.vtt`, `call.m4a.vtt` and `call.en.vtt`."""
    if kind.pairs_companions:
        pairs = kind.companions_of(names)
        return {name: pairs.get(name, []) for name in sorted(names) if name.lower().endswith(kind.suffixes)}
    companions_by_unit: dict[str, list[str]] = {
        name: [] for name in names if not name.lower().endswith(kind.companions)
    }
    owners: dict[str, str] = {}
    for name in companions_by_unit:
        owners.setdefault(name, name)
        owners.setdefault(_stem(name), name)
    for name in [name for name in names if name not in companions_by_unit]:
        if owner := _owner(name, owners):
            companions_by_unit[owner].append(name)
        elif name.lower().endswith(kind.suffixes):
            companions_by_unit[name] = []
    return dict(sorted(companions_by_unit.items()))


def _owner(companion: str, owners: dict[str, str]) -> str | None:
    """The unit of a companion: the name with the fewest suffixes cut off that a unit has."""
    stem = _stem(companion)
    while stem and stem not in owners:
        stem = _stem(stem)
    return owners.get(stem)


def _stem(name: str) -> str:
    return name.rpartition(".")[0]


def _refuse(error: OSError) -> NoReturn:
    # os.walk skips what it cannot list; its records would then count as deleted
    raise SourceNotFound(f"{error.filename} cannot be listed; give this user permission, or exclude it") from None
