"""Decides which units of a source are read: those that changed, of copies one, of grown ones only the new part."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from relrag_pipelines.files.sealed_json import file_hash, file_hashes
from relrag_pipelines.ingest import revisit
from relrag_pipelines.ingest.read_context import reader_fingerprint
from relrag_pipelines.ingest.scan import DUE_RECORDS, RELATED_UNITS, SourceScan, reader_with_context
from relrag_pipelines.records import Failure, UnitState
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, Unit
from relrag_pipelines.stores import unit_state
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.workspace import Workspace


@dataclass(frozen=True)
class UnitSelection:
    """The units of a source that are read, and what is known of all of them."""

    units: Mapping[str, Unit]
    """all that are there, by path"""
    hashes: dict[str, str]
    """of every unit the hash of its bytes, or its version; empty where it cannot be opened"""
    readers: Mapping[str, str]
    """of every unit what reads it, with what that may see of its folder and of its copies"""
    copies: Mapping[str, list[str]]
    """of kinds whose units are one record each: the paths with the same bytes, in order; the first is read"""
    stale: list[str]
    """the units that are read, in order"""
    resume_points: dict[str, str]
    """of those that have only grown: where they go on"""

    def locations(self, path: str) -> list[str]:
        """All places with a unit's bytes, where its record lies."""
        return self.copies.get(path, [path])

    def to_read(self) -> list[tuple[Unit, list[str]]]:
        """The units to open, with their locations; copies are read once."""
        return [
            (replace(self.units[path], resume_point=self.resume_points.get(path, "")), self.locations(path))
            for path in self.stale
            if self.locations(path)[0] == path
        ]

    def state(self, path: str, stored: UnitState) -> UnitState:
        """The state of a unit that is stored with these months."""
        unit = self.units[path]
        return UnitState(path, unit.size, unit.mtime_ns, self.hashes[path], self.readers[path], stored.months)


def select_units(workspace: Workspace, source: Source, scan: SourceScan, *, full: bool) -> UnitSelection:
    """Decides which units are read; `full` reads every unit from its beginning."""
    reader, keyed = reader_fingerprint(workspace, source), workspace.keys.id_hash
    hashes, grown = _content_hashes(workspace, source, scan, full)
    copies = _duplicate_units(hashes) if KINDS[source.kind].one_record_per_unit else {}
    readers = {path: reader_with_context(unit, reader, keyed) for path, unit in scan.units.items()}
    readers |= {path: f"{readers[path]}+{keyed(repr(places))}" for path, places in copies.items()}
    stale = _units_to_read(workspace, source, scan, hashes, readers, full=full)
    return UnitSelection(scan.units, hashes, readers, copies, stale, grown)


def _content_hashes(
    workspace: Workspace, source: Source, scan: SourceScan, full: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """The hash of every unit's bytes, or its version, and where reading continues for units that have only grown.

    Only changed units are opened; one that cannot be opened has the empty hash. One that was not read completely before
    is read from its beginning.
    """
    kind, stored, reader = KINDS[source.kind], scan.known_units, reader_fingerprint(workspace, source)
    failed = {failure.unit for failure in unit_state.load_failures(workspace.home, source.name) if failure.whole_unit}
    hashes: dict[str, str] = {}
    grown: dict[str, str] = {}
    for path, unit in scan.units.items():
        before = stored.get(path)
        if before and path not in scan.changed_units and not full:
            hashes[path] = before.content_hash
            continue
        continuable = (
            before and before.reader == reader and path not in failed and scan.reasons.get(path) != DUE_RECORDS
        )
        earlier = before if continuable and not full else None
        try:
            if unit.version:
                hashes[path] = unit.version
                if earlier and unit.resume_point:
                    grown[path] = unit.resume_point
            elif kind.appends and earlier and 0 < earlier.size < unit.size:
                beginning, hashes[path] = file_hashes(unit.file, earlier.size)
                if beginning == earlier.content_hash and kind.starts_item_at(unit.file, earlier.size):
                    grown[path] = str(earlier.size)
            else:
                hashes[path] = content_hash(unit.file, unit.companions, unit.refusals)
        except OSError:
            hashes[path] = ""
    return hashes, grown


def content_hash(file: Path, companions: Sequence[Path] = (), refusals: Sequence[Failure] = ()) -> str:
    """Hashes the file of a unit together with its companions and their refusals, if it has any. Raises OSError."""
    hashes = [file_hash(part) for part in (file, *companions)]
    names = [os.fsencode(part.name).hex() for part in companions]
    refused = [[f"{failure.fault} {failure.location}" for failure in refusals]] if refusals else []
    return fingerprint([hashes, names, *refused]) if names or refused else hashes[0]


def _duplicate_units(hashes: dict[str, str]) -> dict[str, list[str]]:
    """For each unit the paths with equal bytes and suffix, in order: the first is the record, all its locations.

    Equal bytes under another suffix are another unit: the suffix decides how they are read.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for path in sorted(hashes):
        groups.setdefault((hashes[path] or path, PurePosixPath(path).suffix.lower()), []).append(path)
    return {path: group for group in groups.values() for path in group}


def _units_to_read(
    workspace: Workspace,
    source: Source,
    scan: SourceScan,
    hashes: Mapping[str, str],
    readers: Mapping[str, str],
    *,
    full: bool,
) -> list[str]:
    """The units to read, in order: those that changed, and those whose dates are no longer right."""
    stored = scan.known_units
    changed = {path for path in scan.units if full or not _is_unchanged(stored.get(path), hashes[path], readers[path])}
    changed |= {path for path, why in scan.reasons.items() if why in (DUE_RECORDS, RELATED_UNITS)}
    reopened = [stored[path] for path in scan.changed_units if path not in changed and not scan.units[path].version]
    if KINDS[source.kind].repeats:
        changed |= {state.path for state in reopened}
    changed |= revisit.units_dated_by_mtime(workspace.home, source.name, reopened)
    return [path for path in scan.units if path in changed]


def _is_unchanged(state: UnitState | None, content_hash: str, reader: str) -> bool:
    return state is not None and (state.content_hash, state.reader) == (content_hash, reader) and content_hash != ""
