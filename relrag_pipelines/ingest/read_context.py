"""The context in which a source is read: what its connector gets, the fingerprint of that, and its scan."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from relrag_pipelines.ingest import ownership, revisit
from relrag_pipelines.ingest.scan import DUE_RECORDS, READER, RELATED_UNITS, RIVALS, SourceScan, compare_units
from relrag_pipelines.ingest.units import list_units
from relrag_pipelines.journal import call_approvals
from relrag_pipelines.records import TABLES, UnitState
from relrag_pipelines.settings import Source, now
from relrag_pipelines.sources import KINDS, Listing, ListingScope, ReadContext, Unit
from relrag_pipelines.stores import quarantine, unit_state
from relrag_pipelines.stores.fingerprint import settings_fingerprint
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    from relrag_pipelines.sources.legacy.collection import LegacyCollection

_LIMITS = ("unit_max_bytes", "archive_max_ratio", "archive_max_bytes")
"""what was refused for one of them is read when it is raised"""
RECORD_VERSION = 3
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
        follow_links=source.follow_links,
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
    """A fingerprint of all that decides how units of that source are read; see stores/fingerprint.py."""
    kind, reading = KINDS[source.kind], read_context(workspace, source)
    decides: dict[str, Any] = {
        READER: [kind.name, kind.version, RECORD_VERSION, TABLES["private_records"].since],
        "keys_file": workspace.keys.id_fingerprint,
        "first_month": workspace.settings.first_month,
        **{name: getattr(reading, name) for name in (*_LIMITS, *kind.options)},
    }
    if said := ownership.competition_fingerprint(workspace.settings, source):
        decides[RIVALS] = said
    return settings_fingerprint(decides)


def scan_source(
    workspace: Workspace, source: Source, known: dict[str, UnitState], *, whole: bool = False
) -> SourceScan:
    """Compares every unit of a source with what was read. Raises SourceNotFound if its path does not exist.

    `whole` also lists those that a lister with a cursor would not name, as they are the same as before.
    """
    path, reader, kind = (
        workspace.settings.source_path(source),
        reader_fingerprint(workspace, source),
        KINDS[source.kind],
    )
    listing = _listing(workspace, source, known)
    if whole and listing.removed_ids is not None:
        listing = _list(workspace, source, known, "")
    found = compare_units(listing, path, source, known, reader, workspace.keys.id_hash)
    first, last = workspace.settings.first_month, now().strftime("%Y-%m")
    due = (
        revisit.units_with_due_records(workspace.home, source.name, first, last)
        & found.units.keys() - found.reasons.keys()
    )
    if due:  # one that can no longer be read to its end would be due for ever
        due -= {one.unit for one in unit_state.load_failures(workspace.home, source.name) if one.whole_unit}
    again_why = dict.fromkeys(sorted(due), DUE_RECORDS)
    if kind.asks_others and (found.changed_units or found.missing_units):
        failures = unit_state.load_failures(workspace.home, source.name)
        asked = {one.unit for one in failures if one.fault == kind.asks_others} & found.units.keys()
        again_why |= dict.fromkeys(sorted(asked - found.reasons.keys()), RELATED_UNITS)
    changed = tuple(dict.fromkeys((*found.changed_units, *again_why)))
    return replace(found, changed_units=changed, reasons={**found.reasons, **again_why})


def units_of_source(workspace: Workspace, source: Source) -> list[Unit]:
    """The units of a source. Raises SourceNotFound if its path does not exist."""
    listing = _listing(workspace, source, unit_state.load(workspace.home, source.name))
    return [unit for unit in listing.units if isinstance(unit, Unit)]


def _listing(workspace: Workspace, source: Source, known: dict[str, UnitState]) -> Listing:
    """The units as they are now, or as they were when the sync began."""
    if workspace.listings is not None and source.name in workspace.listings:
        return workspace.listings[source.name]
    # of what was never read no keys are needed, which would be made for it
    reader = reader_fingerprint(workspace, source) if known else ""
    same = known and all(unit_state.reader_version(state) == reader for state in known.values())
    found = _list(workspace, source, known, unit_state.load_cursor(workspace.home, source.name) if same else "")
    if workspace.listings is not None:
        workspace.listings[source.name] = found
    return found


def _list(workspace: Workspace, source: Source, known: dict[str, UnitState], cursor: str) -> Listing:
    place = ListingScope(workspace.settings.source_path(source), source.excludes, source.follow_links, cursor)
    return list_units(place, KINDS[source.kind], source, _is_claimed(workspace, source, known))


def _is_claimed(workspace: Workspace, source: Source, known: dict[str, UnitState]) -> Callable[[Path], bool]:
    """Whether another source reads a file; `known` are the units of this one as last read."""

    def as_read(one: Source) -> dict[str, UnitState]:
        read = known if one == source else unit_state.load(workspace.home, one.name)
        reader = reader_fingerprint(workspace, one) if read else ""
        return {path: state for path, state in read.items() if unit_state.reader_version(state) == reader}

    return ownership.claimed_elsewhere(workspace.settings, source, as_read)
