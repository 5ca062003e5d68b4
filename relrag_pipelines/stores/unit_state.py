"""What is known of every unit: its size, time, content hash and months (private/units), and what failed in it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines.files.atomic import replacing
from relrag_pipelines.files.regular_files import walk
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import Failure, UnitMonth, UnitState, arrow_schema, conform, to_table
from relrag_pipelines.settings import CONFIG_NAME, Source
from relrag_pipelines.sources import Excluded, Kind, ListingError, Unit, path_of, unit_of
from relrag_pipelines.stores import private_manifest, settings_fingerprint

UNFINISHED = "unfinished"
"""`reader` of a unit whose records are being replaced: a kill there makes it be read again"""

RETAINED = "retained"
"""`reader` of a unit that is gone while its records stay: when it is there again, it is read again"""

DUE = "dates in them have come"
"""why a unit is read again of which a record was to come"""

ASKED = "other files that they are read by changed"
"""why a unit is read again that says too little to be read alone: see `asks_others` of its kind"""

_LEFT = {
    UNFINISHED: "they were left half read",
    RETAINED: "they are there again",
    "": "something of them was forgotten, or no longer is",
}
READER, RIVALS = "reader", "rivals"
"""parts of `reader` that are no settings: kind and version; the other sources that could read its files"""

HIDDEN = "forgotten:"
"""how the path of a unit begins of which nothing may be kept: a keyed hash stands for the path itself"""


class UnitsError(Exception):
    """What is known of a source's units cannot be read; the message says which file and what to do."""


class SourceNotFound(Exception):
    """The path of a source is not there or cannot be listed; the message says which and what to do."""


@dataclass(frozen=True)
class SourceScan:
    """How the files of a source differ from what was read."""

    units: dict[str, Unit]
    """all that are there, by path"""
    changed: tuple[str, ...]
    """new ones and those whose size, time or reader differ"""
    gone: tuple[str, ...]
    """read before and no longer there; where the source retains them, only those not yet known to be gone"""
    why: dict[str, str] = field(default_factory=dict)
    """of the changed ones that were read before, by path: why they are to be read again"""
    known: dict[str, UnitState] = field(default_factory=dict)
    """what was read before, by path; forgotten units that are still there under their own paths again"""


def hashed_path(path: str, hash: Callable[[str], str]) -> str:
    """What stands for the path of a forgotten unit; `hash` is keyed."""
    return path if path.startswith(HIDDEN) else HIDDEN + hash(f"unit\0{path}")


def hide_unit(state: UnitState, hash: Callable[[str], str]) -> UnitState:
    """A forgotten unit as it is stored: nothing of its name, and its bytes can be told only with the key."""
    content = state.content_hash and hashed_path(state.content_hash, hash)
    return replace(state, path=hashed_path(state.path, hash), content_hash=content, months=[])


def reader_version(state: UnitState) -> str:
    """What read a unit, without what it saw of the folder and of copies."""
    return re.split("[~+]", state.reader, maxsplit=1)[0]


def reader_with_context(unit: Unit, reader: str, hash: Callable[[str], str]) -> str:
    """What stands for the reader of a unit, with what it may see of the folder; `hash` is keyed."""
    return f"{reader}~{hash(unit.around)}" if unit.around else reader


def scan(
    root: Path,
    kind: Kind,
    source: Source,
    known: dict[str, UnitState],
    reader: str,
    hash: Callable[[str], str] = str,
    taken: Callable[[Path], bool] = lambda file: False,
) -> SourceScan:
    """Looks at every unit of a source, without opening any file; SourceMissing when its path is not there.

    `hash` is the keyed one that hid the paths of forgotten units. `taken` says whether another source reads a file.
    """
    units = {unit.path: unit for unit in list_units(root, kind, source, taken)}
    if any(path.startswith(HIDDEN) for path in known):
        paths = {hashed_path(path, hash): path for path in units}
        known = {paths.get(name, name): replace(state, path=paths.get(name, name)) for name, state in known.items()}
    why = {path: _reason(unit, known.get(path), reader, hash) for path, unit in units.items()}
    why = {path: reason for path, reason in why.items() if reason}
    missing = sorted(known.keys() - units.keys())
    gone = tuple(path for path in missing if not source.retain or known[path].reader != RETAINED)
    return SourceScan(units, tuple(why), gone, {path: reason for path, reason in why.items() if path in known}, known)


def load(home: Path, source: str) -> dict[str, UnitState]:
    """The units of a source as last read, by path."""
    return {
        row["path"]: UnitState(**{**row, "months": [UnitMonth(**month) for month in row["months"]]})
        for row in _load(home, f"private/units/{source}.parquet", UnitState)
    }


def save(home: Path, source: str, units: dict[str, UnitState]) -> None:
    """Stores the units of a source."""
    # a hidden unit still has its own path as key: its place among the others would tell of it
    rows = sorted(units.values(), key=lambda unit: unit.path)
    _save(home, f"private/units/{source}.parquet", rows, UnitState)


def load_failures(home: Path, source: str) -> list[Failure]:
    """What could not be read in a source, ordered by unit and location."""
    return [Failure(**row) for row in _load(home, f"private/failures/{source}.parquet", Failure)]


def save_failures(home: Path, source: str, failures: list[Failure]) -> None:
    """Stores what could not be read in a source."""
    ordered = sorted(failures, key=lambda failure: (failure.unit, failure.location, failure.fault))
    _save(home, f"private/failures/{source}.parquet", ordered, Failure)


def _load(home: Path, name: str, row: type) -> list[dict[str, Any]]:
    try:
        with pq.ParquetFile(home / name) as file:  # `read_table` imports twice as much of Arrow
            found: list[dict[str, Any]] = conform(file.read(), row).to_pylist()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise UnitsError(f"{home / name} cannot be read; `relrag verify --repair` makes it again") from None
    return found


def _save(home: Path, name: str, rows: list[UnitState] | list[Failure], row: type) -> None:
    with replacing(home / name) as beside:
        table: pa.Table = to_table(list(rows), row) if rows else arrow_schema(row).empty_table()
        pq.write_table(table, beside, compression="zstd")
        private_manifest.expect(home, name, file_hash(beside))


def _reason(unit: Unit, known: UnitState | None, reader: str, hash: Callable[[str], str]) -> str:
    """Why units are to be read, `new`, `changed` or a clause; empty for one that is as it was read."""
    if known is None:
        return "new"
    if reader_version(known) != reader:
        return _reader_change(known.reader, reader)
    if unit.fingerprint:
        same = known.content_hash in (unit.fingerprint, hashed_path(unit.fingerprint, hash))
        return "" if same else "changed"
    if known.content_hash == "" and os.access(unit.file, os.R_OK):
        return "they could not be read before"
    if (known.size, known.mtime_ns) != (unit.size, unit.mtime_ns):
        return "changed"
    return "" if known.reader.split("+")[0] == reader_with_context(unit, reader, hash) else "files beside them changed"


def _reader_change(before: str, now: str) -> str:
    """In what a reader differs from the one before."""
    if before in _LEFT:
        return _LEFT[before]
    names = settings_fingerprint.changed_settings(re.split("[~+]", before)[0], now)
    if READER in names or not names:
        return "the reader version changed"
    return (
        "the sources that share their folder changed"
        if RIVALS in names
        else settings_fingerprint.describe_changes(names)
    )


def list_units(root: Path, kind: Kind, source: Source, taken: Callable[[Path], bool]) -> Iterator[Unit]:
    """Every unit of a source, none of them opened; SourceMissing when its path is not there."""
    excluded, follow_links = source.excludes, source.follow_links
    try:
        if not root.is_file():
            os.scandir(root).close()
    except FileNotFoundError:
        raise SourceNotFound(f"{root} is not there; mount or restore it, or change the path in relrag.toml") from None
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
