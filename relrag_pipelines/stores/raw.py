"""Bytes of items that could not be read to their end, as they were found: private/raw/<source>/.

A file is named by the keyed hashes of the item's unit and place: its name reveals nothing, and equal runs write equal
files.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from relrag_pipelines.keys import Keys
from relrag_pipelines.stores.atomic import replacing


def keep(home: Path, source: str, keys: Keys, unit: str, place: str, data: bytes) -> None:
    """Stores the bytes of the item at that place of a unit."""
    with replacing(path_of(home, source, keys, unit, place)) as beside:
        beside.write_bytes(data)


def path_of(home: Path, source: str, keys: Keys, unit: str, place: str) -> Path:
    """Where the bytes of an item are kept."""
    return _folder(home, source) / keys.id_hash(unit) / keys.id_hash(place)


def drop(home: Path, source: str, keys: Keys, units: Iterable[str]) -> None:
    """Removes what is kept of those units: they are read again, or gone."""
    for unit in units:
        shutil.rmtree(_folder(home, source) / keys.id_hash(unit), ignore_errors=True)


def forget(home: Path, source: str, keys: Keys, locations: Iterable[str]) -> None:
    """Removes what is kept of the items at those `locations` of records: `<unit>#<place>`, or a unit that is one."""
    if _folder(home, source).exists():
        for location in locations:
            unit, _, place = location.rpartition("#")
            path_of(home, source, keys, unit, place).unlink(missing_ok=True)
            path_of(home, source, keys, location, "").unlink(missing_ok=True)


def _folder(home: Path, source: str) -> Path:
    return home / "private" / "raw" / source
