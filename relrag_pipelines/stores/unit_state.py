"""The state of every unit: its size, time, content hash, months and failures.

Units stand in private/units, with the cursor of their source's lister: both change in one rename.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files.atomic import replace_file
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import Failure, UnitMonth, UnitState
from relrag_pipelines.stores import private_manifest
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.stores.table_schema import conform, to_table

UNFINISHED = "unfinished"
"""`reader` of a unit whose records are being replaced: a kill there makes it be read again"""

RETAINED = "retained"
"""`reader` of a unit that is gone while its records stay: when it is there again, it is read again"""

RETRY = "retry"
"""`reader` of a unit with failures that the owner wants read again"""

_CURSOR = b"relrag.cursor"
"""key in the metadata of the file"""

HIDDEN = "forgotten:"
"""how the path of a unit begins of which nothing may be kept: a keyed hash stands for the path itself"""


class UnitsError(SafeError):
    """What is known of a source's units cannot be read; the message says which file and what to do."""


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


def load(home: Path, source: str) -> dict[str, UnitState]:
    """The units of a source as last read, by path."""
    return {
        row["path"]: UnitState(**{**row, "months": [UnitMonth(**month) for month in row["months"]]})
        for row in _load(home, f"private/units/{source}.parquet", UnitState)
    }


def load_cursor(home: Path, source: str) -> str:
    """Where the lister of a source goes on; empty where it has to list all."""
    try:
        metadata = pq.read_schema(home / f"private/units/{source}.parquet").metadata or {}
    except (pa.ArrowException, OSError):  # what is wrong with the file is said where its units are loaded
        return ""
    return str(metadata.get(_CURSOR, b"").decode())


def save(home: Path, source: str, units: dict[str, UnitState], cursor: str = "") -> None:
    """Stores the units of a source. Without a cursor its next listing is of all units."""
    # a hidden unit still has its own path as key: its place among the others would tell of it
    rows = sorted(units.values(), key=lambda unit: unit.path)
    table = to_table(rows, UnitState).replace_schema_metadata({_CURSOR: cursor.encode()} if cursor else None)
    _save(home, f"private/units/{source}.parquet", table)


def load_failures(home: Path, source: str) -> list[Failure]:
    """What could not be read in a source, ordered by unit and location."""
    return [Failure(**row) for row in _load(home, f"private/failures/{source}.parquet", Failure)]


def save_failures(home: Path, source: str, failures: list[Failure]) -> None:
    """Stores what could not be read in a source."""
    ordered = sorted(failures, key=lambda failure: (failure.unit, failure.location, failure.fault))
    _save(home, f"private/failures/{source}.parquet", to_table(ordered, Failure))


def _load(home: Path, name: str, row: type) -> list[dict[str, Any]]:
    try:
        with pq.ParquetFile(home / name) as file:  # `read_table` imports twice as much of Arrow
            rows: list[dict[str, Any]] = conform(file.read(), row).to_pylist()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise UnitsError(f"{home / name} cannot be read; `relrag verify --repair` makes it again") from None
    return rows


def _save(home: Path, name: str, table: pa.Table) -> None:
    with replace_file(home / name) as temporary:
        pq.write_table(table, temporary, compression="zstd")
        private_manifest.expect(home, name, file_hash(temporary))


def file_orders(units: Mapping[str, UnitState]) -> dict[str, str]:
    """month -> fingerprint of the order in which the files of its units were written; none for months of one unit."""
    written: dict[str, list[tuple[int, str]]] = {}
    for path, unit in units.items():
        for part in unit.months:
            written.setdefault(part.month, []).append((unit.mtime_ns, path))
    return {month: fingerprint(_ranks(times)) for month, times in written.items() if len(times) > 1}


def _ranks(written: Sequence[tuple[int, str]]) -> list[tuple[str, int]]:
    """(path, position of its time among the times) of each unit, by path."""
    times = sorted({time for time, _ in written})
    return sorted((path, bisect_left(times, time)) for time, path in written)
