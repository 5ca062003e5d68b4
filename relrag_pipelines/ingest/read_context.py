"""The context in which a source is read: what its connector gets, the fingerprint of that, and its scan."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relrag_pipelines.erasure import mirrored_items
from relrag_pipelines.ingest import fetching, ownership, revisit, unpacking
from relrag_pipelines.ingest.scan import DUE_RECORDS, READER, RELATED_UNITS, RIVALS, SourceScan, compare_units
from relrag_pipelines.ingest.units import list_units
from relrag_pipelines.journal import call_approvals
from relrag_pipelines.records import TABLES, UnitState
from relrag_pipelines.settings import Source, now
from relrag_pipelines.sources import KINDS, Listing, ListingScope, ReadContext, Unit
from relrag_pipelines.sources.formats import tesseract
from relrag_pipelines.stores import quarantine, unit_state
from relrag_pipelines.stores.fingerprint import settings_fingerprint
from relrag_pipelines.stores.spill_buffer import spill_folder
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    from relrag_pipelines.sources.legacy_collection import LegacyCollection

_LIMITS = ("unit_max_bytes", "archive_max_ratio", "archive_max_bytes")
"""what was refused for one of them is read when it is raised"""
RECORD_VERSION = 4
"""raised when the export finishes what connectors read in another way, so that every unit is read again"""


def read_context(workspace: Workspace, source: Source) -> ReadContext:
    """What the connector of that source is told."""
    return ReadContext(
        source=source.name,
        timezone=workspace.zone(source.name),
        hash=workspace.keys.id_hash,
        date_order=source.date_order,
        owner=workspace.settings.owner,
        file_names=tuple(source.file_names),
        approval_required=source.approval_required,
        approvals=functools.partial(call_approvals.load, workspace.home),
        transcription_model=str(model) if (model := workspace.settings.transcription_model_path) else "",
        transcription_max_seconds=workspace.settings.transcription_max_seconds,
        transcription_max_bytes=workspace.settings.transcription_max_bytes,
        transcripts=workspace.home / "private" / "transcripts",
        archive_max_ratio=workspace.settings.archive_max_ratio,
        archive_max_bytes=workspace.settings.archive_max_bytes,
        unit_max_bytes=workspace.settings.unit_max_bytes,
        parser_max_seconds=workspace.settings.parser_max_seconds,
        parser_max_bytes=workspace.settings.parser_max_bytes,
        ocr=tesseract.program(workspace.settings.ocr),
        ocr_languages=tuple(workspace.settings.ocr_languages),
        follow_links=source.follow_links,
        scratch=spill_folder(workspace.home, source.name),
        secret=functools.partial(fetching.read_secret, workspace.settings, source),
        url=source.url,
        collection=source.collection,
        server_collection=functools.partial(_server_collection, source),
        units=functools.partial(units_of_source, workspace, source),
        keep=functools.partial(quarantine.store, workspace.home, source.name, workspace.keys),
    )


def _server_collection(source: Source) -> LegacyCollection:
    # imported only here: few sources are on a server
    from relrag_pipelines.stores import legacy_server

    return legacy_server.collection(source.url, source.collection)


def reader_fingerprint(workspace: Workspace, source: Source) -> str:
    """A fingerprint of everything that decides how units of a source are read; see stores/fingerprint.py."""
    kind, reading = KINDS[source.kind], read_context(workspace, source)
    settings: dict[str, Any] = {
        READER: [kind.name, kind.version, RECORD_VERSION, TABLES["private_records"].since],
        "keys_file": workspace.keys.id_fingerprint,
        "first_month": workspace.settings.first_month,
        **{name: getattr(reading, name) for name in (*_LIMITS, *kind.options)},
    }
    if competition := ownership.competition_fingerprint(workspace.settings, source):
        settings[RIVALS] = competition
    return settings_fingerprint(settings)


def scan_source(
    workspace: Workspace, source: Source, stored: dict[str, UnitState], *, list_all: bool = False
) -> SourceScan:
    """Compares every unit of a source with what was read. Raises SourceNotFound if its path does not exist.

    `list_all` also lists unchanged units that a lister with a cursor would leave out.
    """
    path, reader, kind = (
        workspace.settings.source_path(source),
        reader_fingerprint(workspace, source),
        KINDS[source.kind],
    )
    listing = _listing(workspace, source, stored)
    if list_all and listing.removed_ids is not None:
        listing = _list(workspace, source, stored, "")
    scan = compare_units(listing, path, source, stored, reader, workspace.keys.id_hash)
    first, last = workspace.settings.first_month, now().strftime("%Y-%m")
    due = (
        revisit.units_with_due_records(workspace.home, source.name, first, last)
        & scan.units.keys() - scan.reasons.keys()
    )
    if due:  # one that can no longer be read to its end would be due for ever
        due -= {failure.unit for failure in unit_state.load_failures(workspace.home, source.name) if failure.whole_unit}
    reasons = dict.fromkeys(sorted(due), DUE_RECORDS)
    if kind.asks_others and (scan.changed_units or scan.missing_units):
        failures = unit_state.load_failures(workspace.home, source.name)
        dependent = {failure.unit for failure in failures if failure.fault == kind.asks_others} & scan.units.keys()
        reasons |= dict.fromkeys(sorted(dependent - scan.reasons.keys()), RELATED_UNITS)
    changed = tuple(dict.fromkeys((*scan.changed_units, *reasons)))
    return replace(scan, changed_units=changed, reasons={**scan.reasons, **reasons})


def units_of_source(workspace: Workspace, source: Source) -> list[Unit]:
    """The units of a source. Raises SourceNotFound if its path does not exist."""
    listing = _listing(workspace, source, unit_state.load(workspace.home, source.name))
    return [unit for unit in listing.units if isinstance(unit, Unit)]


def _listing(workspace: Workspace, source: Source, stored: dict[str, UnitState]) -> Listing:
    """The units as they are now, or as they were when the sync began."""
    if workspace.listings is not None and source.name in workspace.listings:
        return workspace.listings[source.name]
    # of what was never read no keys are needed, which would be made for it
    reader = reader_fingerprint(workspace, source) if stored else ""
    same = stored and all(unit_state.reader_version(state) == reader for state in stored.values())
    listing = _list(workspace, source, stored, unit_state.load_cursor(workspace.home, source.name) if same else "")
    if workspace.listings is not None:
        workspace.listings[source.name] = listing
    return listing


def _list(workspace: Workspace, source: Source, stored: dict[str, UnitState], cursor: str) -> Listing:
    scope = ListingScope(workspace.settings.source_path(source), source.excludes, source.follow_links, cursor)
    if source.open_zips:
        return _list_with_zips(workspace, source, scope, stored)
    if not source.is_fetched:
        return list_units(scope, KINDS[source.kind], source, _is_claimed(workspace, source, stored))
    fetching.require_mirror(workspace, source)
    mirror = mirrored_items.open_mirror(workspace, source) if stored else None
    listing = list_units(scope, KINDS[source.kind], source, lambda file: False)
    return replace(listing, is_withheld=mirror.is_withheld) if mirror else listing


def _list_with_zips(workspace: Workspace, source: Source, scope: ListingScope, stored: dict[str, UnitState]) -> Listing:
    """The files in the source's folder, and those that its zips hold."""
    kind, mirror = KINDS[source.kind], mirrored_items.open_mirror(workspace, source)
    is_claimed, is_bundle = _is_claimed(workspace, source, stored), unpacking.is_bundle(workspace, source)
    listing = list_units(scope, kind, source, lambda file: is_bundle(file) or is_claimed(file))
    if not mirror.items.is_dir():
        return listing
    unpacked = replace(scope, root=mirror.items)
    inside = list_units(unpacked, kind, source, unpacking.is_extra(workspace, source))
    return replace(listing, units=listing.units + inside.units, is_withheld=mirror.is_withheld)


def _is_claimed(workspace: Workspace, source: Source, stored: dict[str, UnitState]) -> Callable[[Path], bool]:
    """A function that tells whether another source reads a file; `stored` are this source's units as last read."""

    def as_read(other: Source) -> dict[str, UnitState]:
        states = stored if other == source else unit_state.load(workspace.home, other.name)
        reader = reader_fingerprint(workspace, other) if states else ""
        return {path: state for path, state in states.items() if unit_state.reader_version(state) == reader}

    return ownership.claimed_elsewhere(workspace.settings, source, as_read)
