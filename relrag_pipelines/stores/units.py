"""What is known of every unit: its size, time, content hash and months (private/units), and what failed in it."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines.records import Failure, UnitMonth, UnitState, arrow_schema, conform, to_table
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import Kind, Unit
from relrag_pipelines.stores import expected
from relrag_pipelines.stores.atomic import replacing
from relrag_pipelines.stores.seal import file_hash

UNFINISHED = "unfinished"
"""`reader` of a unit whose records are being replaced: a kill there makes it be read again"""


class UnitsError(Exception):
    """What is known of a source's units cannot be read; the message says which file and what to do."""


class SourceMissing(Exception):
    """The path of a source is not there or cannot be listed; the message says which and what to do."""


@dataclass(frozen=True)
class Scan:
    """How the files of a source differ from what was read."""

    units: dict[str, Unit]
    """all that are there, by path"""
    changed: tuple[str, ...]
    """new ones and those whose size, time or reader differ"""
    gone: tuple[str, ...]
    """read before and no longer there; where the source retains them, only those left unfinished"""


def scan(root: Path, kind: Kind, source: Source, known: dict[str, UnitState], reader: str) -> Scan:
    """Looks at every file of a source, without opening any; SourceMissing when its path is not there."""
    units = {unit.path: unit for unit in _walk(root, kind, source.exclude)}
    changed = tuple(path for path, unit in units.items() if not _as_read(unit, known.get(path), reader))
    missing = sorted(known.keys() - units.keys())
    # one that vanished while its records were being replaced has months to be settled, retained or not
    gone = tuple(path for path in missing if not source.retain or known[path].reader == UNFINISHED)
    return Scan(units, changed, gone)


def load(home: Path, source: str) -> dict[str, UnitState]:
    """The units of a source as last read, by path."""
    return {
        row["path"]: UnitState(**{**row, "months": [UnitMonth(**month) for month in row["months"]]})
        for row in _load(home, f"private/units/{source}.parquet", UnitState)
    }


def save(home: Path, source: str, units: dict[str, UnitState]) -> None:
    """Stores the units of a source."""
    _save(home, f"private/units/{source}.parquet", [units[path] for path in sorted(units)], UnitState)


def load_failures(home: Path, source: str) -> list[Failure]:
    """What could not be read in a source, ordered by unit and location."""
    return [Failure(**row) for row in _load(home, f"private/failures/{source}.parquet", Failure)]


def save_failures(home: Path, source: str, failures: list[Failure]) -> None:
    """Stores what could not be read in a source."""
    ordered = sorted(failures, key=lambda failure: (failure.unit, failure.location, failure.fault))
    _save(home, f"private/failures/{source}.parquet", ordered, Failure)


def _load(home: Path, name: str, row: type) -> list[dict[str, Any]]:
    try:
        found: list[dict[str, Any]] = conform(pq.read_table(home / name, partitioning=None), row).to_pylist()
    except FileNotFoundError:
        return []
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise UnitsError(f"{home / name} cannot be read; `relrag verify --repair` makes it again") from None
    return found


def _save(home: Path, name: str, rows: list[UnitState] | list[Failure], row: type) -> None:
    with replacing(home / name) as beside:
        table: pa.Table = to_table(list(rows), row) if rows else arrow_schema(row).empty_table()
        pq.write_table(table, beside, compression="zstd")
        expected.note(home, name, file_hash(beside))


def _as_read(unit: Unit, known: UnitState | None, reader: str) -> bool:
    if known is None or known.reader.split("+")[0] != reader:
        return False
    if known.content_hash == "" and os.access(unit.file, os.R_OK):
        return False  # it could not be opened then and can be now
    return (known.size, known.mtime_ns) == (unit.size, unit.mtime_ns)


def _walk(root: Path, kind: Kind, exclude: list[str]) -> Iterator[Unit]:
    try:
        if root.is_file():
            yield _unit(root, root.parent)
            return
        os.scandir(root).close()
    except FileNotFoundError:
        raise SourceMissing(f"{root} is not there; mount or restore it, or change the path in relrag.toml") from None
    except PermissionError:
        raise SourceMissing(f"{root} cannot be read; give this user permission to list it") from None
    for folder, folders, files in os.walk(root, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.startswith((".", "~$")) or not name.lower().endswith(kind.suffixes):
                continue
            unit = _unit(Path(folder, name), root)
            if not any(fnmatch.fnmatch(unit.path, pattern) for pattern in exclude):
                yield unit


def _unit(file: Path, root: Path) -> Unit:
    # a name that is no valid UTF-8 comes with lone surrogates, which no table can hold
    path = file.relative_to(root).as_posix().encode("utf-8", "backslashreplace").decode()
    try:
        found = file.stat()
    except OSError:  # a link to nowhere: a unit all the same, so that reading it says what is wrong
        return Unit(path, file, 0, 0)
    return Unit(path, file, found.st_size, found.st_mtime_ns)


def _refuse(error: OSError) -> None:
    # os.walk skips what it cannot list; its records would then count as deleted
    raise SourceMissing(f"{error.filename} cannot be listed; give this user permission, or exclude it") from None
