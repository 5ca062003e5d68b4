"""Compares the files of a source with what was read of them, and says which have to be read again, and why."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from relrag_pipelines.ingest.units import list_units
from relrag_pipelines.records import UnitState
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import Kind, Listing, ListingScope, Unit
from relrag_pipelines.stores.fingerprint import changed_settings, describe_changes
from relrag_pipelines.stores.unit_state import HIDDEN, RETAINED, RETRY, UNFINISHED, hashed_path, reader_version

DUE_RECORDS = "dates in them have come"
"""why a unit is read again of which a record was to come"""

RELATED_UNITS = "other files that they are read by changed"
"""why a unit is read again that says too little to be read alone: see `asks_others` of its kind"""

_READER_MARKS = {
    UNFINISHED: "they were left half read",
    RETAINED: "they are there again",
    RETRY: "what failed in them is tried again",
    "": "something of them was forgotten, or no longer is",
}
_UNREAD = "not read"
"""version of a unit that could not be read and that its lister does not name again"""
READER, RIVALS = "reader", "rivals"
"""parts of `reader` that are no settings: kind and version; the other sources that could read its files"""


@dataclass(frozen=True)
class SourceScan:
    """How the files of a source differ from what was read."""

    units: dict[str, Unit]
    """all that are there, by path"""
    changed_units: tuple[str, ...]
    """new ones and those whose size, time or reader differ"""
    missing_units: tuple[str, ...]
    """read before and no longer there; where the source retains them, only those not yet known to be gone"""
    reasons: dict[str, str] = field(default_factory=dict)
    """of the changed ones that were read before, by path: why they are to be read again"""
    known_units: dict[str, UnitState] = field(default_factory=dict)
    """what was read before, by path; forgotten units that are still there under their own paths again"""
    cursor: str = ""
    """where the next listing goes on, once all of this has been read"""
    complete: bool = True
    """every unit was listed, not only those that changed since a cursor"""


def reader_with_context(unit: Unit, reader: str, hash: Callable[[str], str]) -> str:
    """The fingerprint of a unit's reader and of what it may see of the folder; `hash` is keyed."""
    return f"{reader}~{hash(unit.siblings_fingerprint)}" if unit.siblings_fingerprint else reader


def scan_units(
    root: Path,
    kind: Kind,
    source: Source,
    stored: dict[str, UnitState],
    reader: str,
    hash: Callable[[str], str] = str,
    taken: Callable[[Path], bool] = lambda file: False,
) -> SourceScan:
    """Looks at every unit of a source, without opening any file; SourceNotFound when its path is not there.

    `hash` is the keyed one that hid the paths of forgotten units. `taken` says whether another source reads a file.
    """
    listing = list_units(ListingScope(root, source.excludes, source.follow_links), kind, source, taken)
    return compare_units(listing, root, source, stored, reader, hash)


def compare_units(
    listing: Listing, root: Path, source: Source, stored: dict[str, UnitState], reader: str, hash: Callable[[str], str]
) -> SourceScan:
    """Compares the listed units with the stored ones; `hash` is the one that hid the paths of forgotten units."""
    units = {unit.path: unit for unit in listing.units if isinstance(unit, Unit)}
    if any(path.startswith(HIDDEN) for path in stored):
        paths = {hashed_path(path, hash): path for path in units}
        stored = {paths.get(name, name): replace(state, path=paths.get(name, name)) for name, state in stored.items()}
    missing = sorted(path for path in stored.keys() - units.keys() if not listing.is_withheld(path))
    if listing.removed_ids is not None:
        same = [path for path in missing if path not in listing.removed_ids and not path.startswith(HIDDEN)]
        units |= {path: Unit(path, root, 0, 0, version=stored[path].content_hash or _UNREAD) for path in same}
        missing = sorted(stored.keys() & listing.removed_ids)
    reasons = {path: _reason(unit, stored.get(path), reader, hash) for path, unit in units.items()}
    reasons = {path: reason for path, reason in reasons.items() if reason}
    missing_units = tuple(path for path in missing if not source.retain or stored[path].reader != RETAINED)
    stored_reasons = {path: reason for path, reason in reasons.items() if path in stored}
    return SourceScan(
        units, tuple(reasons), missing_units, stored_reasons, stored, listing.cursor, listing.removed_ids is None
    )


def _reason(unit: Unit, stored: UnitState | None, reader: str, hash: Callable[[str], str]) -> str:
    """Why a unit has to be read: `new`, `changed` or a clause; empty for an unchanged one."""
    if stored is None:
        return "new"
    if reader_version(stored) != reader:
        return _reader_change(stored.reader, reader)
    if unit.version:
        same = stored.content_hash in (unit.version, hashed_path(unit.version, hash))
        return "" if same else "changed"
    if stored.content_hash == "" and os.access(unit.file, os.R_OK):
        return "they could not be read before"
    if (stored.size, stored.mtime_ns) != (unit.size, unit.mtime_ns):
        return "changed"
    return "" if stored.reader.split("+")[0] == reader_with_context(unit, reader, hash) else "files beside them changed"


def _reader_change(before: str, now: str) -> str:
    """What differs between a reader and the one before."""
    if before in _READER_MARKS:
        return _READER_MARKS[before]
    names = changed_settings(re.split("[~+]", before)[0], now)
    if READER in names or not names:
        return "the reader version changed"
    return "the sources that share their folder changed" if RIVALS in names else describe_changes(names)
