"""Reads the units of a source that changed and rewrites the private records of the months that they touch.

A unit that only grew at its end is read from where it ended before. What the owner had forgotten is left out as soon as
it is read. What is read and does not fit into memory waits in private/spill until its month is written. Which units are
read is in unit_selection.py, which earlier records go for it in merge.py.
"""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from relrag_pipelines.erasure import mirrored_items, purge, rule_file
from relrag_pipelines.erasure.rule_file import ErasureRules
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.ingest import fetching, merge, regions, unit_records, unpacking
from relrag_pipelines.ingest.merge import MonthRewrites
from relrag_pipelines.ingest.read_context import read_context, scan_source
from relrag_pipelines.ingest.scan import SourceScan
from relrag_pipelines.ingest.unit_records import UnitRecords
from relrag_pipelines.ingest.unit_selection import UnitSelection, select_units
from relrag_pipelines.records import Failure, UnitState
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, UNREADABLE
from relrag_pipelines.stores import lake, quarantine, thread_index, unit_state
from relrag_pipelines.stores.spill_buffer import spill_folder
from relrag_pipelines.workers import sandbox
from relrag_pipelines.workspace import Workspace


@dataclass
class IngestReport:
    """What was read, and what changed."""

    units_read: int = 0
    units_gone: int = 0
    bytes_read: int = 0
    months: dict[str, int] = field(default_factory=dict)
    """month that was rewritten -> records in it now"""
    failures: list[Failure] = field(default_factory=list)
    """of the units read now"""


def ingest(workspace: Workspace, source: Source, *, full: bool = False, accept_deletions: bool = False) -> IngestReport:
    """Brings the private records of a source up to date with its files.

    A source on a server is fetched first; if the server does not let that come to an end, what was fetched is read, and
    then FetchError or SecretError is raised.

    full reads every unit again. Raises units.SourceNotFound when the source's path is not there, and, with nothing
    written, merge.TooManyDeletions when more than a fifth of the source would vanish and that was not accepted.
    """
    home = workspace.home
    purge.resume(workspace)
    forgotten = rule_file.load(home, workspace.keys)
    if source.name in forgotten.sources():
        return IngestReport()
    if source.open_zips:
        return _read_with_zips(workspace, source, forgotten, full=full, accept_deletions=accept_deletions)
    if not source.is_fetched:
        return _read_changes(workspace, source, forgotten, full=full, accept_deletions=accept_deletions)
    unreached = fetching.fetch(workspace, source, accept_deletions=accept_deletions)
    fetching.require_mirror(workspace, source)
    report = _read_changes(workspace, source, forgotten, full=full, accept_deletions=accept_deletions)
    fetching.note_failures(workspace, source, unreached)
    if unreached is not None:
        raise unreached
    return report


def _read_with_zips(
    workspace: Workspace, source: Source, forgotten: ErasureRules, *, full: bool, accept_deletions: bool
) -> IngestReport:
    """Opens the zips of a source that changed, then reads what changed of all its files."""
    unpacking.refresh(workspace, source)
    report = _read_changes(workspace, source, forgotten, full=full, accept_deletions=accept_deletions)
    fetching.note_failures(workspace, source, None)
    return report


def _read_changes(
    workspace: Workspace, source: Source, forgotten: ErasureRules, *, full: bool, accept_deletions: bool
) -> IngestReport:
    """Reads the units that changed, and rewrites the months that they touch."""
    home = workspace.home
    stored = unit_state.load(home, source.name)
    scan = scan_source(workspace, source, stored)
    if not (full or scan.changed_units or scan.missing_units):
        return IngestReport()
    full = full or _must_read_all(workspace, source)
    if full and not scan.complete:
        scan = scan_source(workspace, source, stored, list_all=True)
    matcher = RuleMatcher(forgotten.rules, workspace.keys, workspace.regions)
    selected = select_units(workspace, source, scan, full=full)
    change = merge.rewrites_for_removed(source, scan.known_units, scan.missing_units)
    change.tables.folder = spill_folder(home, source.name)
    change.tables.clear()  # a kill may have left some there
    report = IngestReport(units_read=len(selected.stale), units_gone=len(scan.missing_units))
    hidden = scan.known_units.keys() - stored.keys()
    hidden = hidden | _read_units(workspace, source, matcher, scan, selected, change, report, full=full)
    # what a kill left half rewritten: no unit need be marked for it, where only threads of its mails have moved
    change.months |= lake.unlisted_months(home, source.name)
    if not accept_deletions:
        merge.check_deletion_limit(workspace, source, scan.known_units, change)
    index = _write_months(workspace, source, scan, stored, change, report, matcher)
    if index:
        index.save()
    _save_state(workspace, source, selected, change, hidden, report, "" if matcher else scan.cursor)
    if source.is_mirrored and matcher:
        mirrored_items.withhold(workspace, source, matcher, selected.stale, hidden)
    change.tables.clear()
    lake.drop_outside(home, source.name, workspace.settings.first_month)
    _delete_orphan_transcripts(workspace, source)
    regions.refresh(workspace)
    workspace.report(f"{source.name}: export", len(selected.stale), len(selected.stale))
    return report


def _must_read_all(workspace: Workspace, source: Source) -> bool:
    """Whether what is stored lacks something that only reading every unit provides."""
    home, name = workspace.home, source.name
    return lake.has_old_schema(home, name) or (KINDS[source.kind].threads and not thread_index.has_index(home, name))


def _read_units(
    workspace: Workspace,
    source: Source,
    matcher: RuleMatcher,
    scan: SourceScan,
    selected: UnitSelection,
    change: MonthRewrites,
    report: IngestReport,
    *,
    full: bool,
) -> set[str]:
    """Records the units' contents in `change` and `report`; returns the units of which something was forgotten."""
    home, keys, grown = workspace.home, workspace.keys, selected.resume_points
    hidden: set[str] = set()
    quarantine.drop_units(home, source.name, keys, [path for path in selected.stale if path not in grown])
    read_one = functools.partial(unit_records.read_unit, workspace, source, matcher)
    option = KINDS[source.kind].single_process_option
    in_this_process = option and getattr(read_context(workspace, source), option)
    given_up = functools.partial(unit_records.given_up, source)
    units_to_read = selected.to_read()
    contents_by_unit = (
        map(read_one, units_to_read) if in_this_process else workspace.each(read_one, units_to_read, given_up)
    )
    for position, path in enumerate(selected.stale):
        workspace.report(f"{source.name}: export", position, len(selected.stale))
        contents = next(contents_by_unit) if selected.locations(path)[0] == path else UnitRecords()
        if path in grown and _reuses_ids(home, source.name, scan.known_units[path], contents):
            del grown[path]
            quarantine.drop_units(home, source.name, keys, [path])
            contents = read_one((replace(scan.units[path], resume_point=""), [path]))
        if path in grown:
            merge.extend_unit(change, scan.known_units[path], contents)
        else:
            merge.replace_unit(change, path, scan.known_units.get(path), contents, full)
        if contents.omits_forgotten:
            hidden.add(path)
        report.failures += contents.failures
        report.bytes_read += scan.units[path].size - (scan.known_units[path].size if path in grown else 0)
    if in_this_process:
        sandbox.stop()  # what was loaded would take memory from all that follows
    _note_states(selected, change, report)
    return hidden


def _note_states(selected: UnitSelection, change: MonthRewrites, report: IngestReport) -> None:
    """Updates the state of every unit."""
    failing = {failure.unit for failure in report.failures if failure.fault == UNREADABLE and failure.whole_unit}
    # a disk or a network may give it the next time, so it counts as never read
    selected.hashes.update(dict.fromkeys(failing, ""))
    change.states |= {path: selected.state(path, change.states[path]) for path in selected.units}


def _write_months(
    workspace: Workspace,
    source: Source,
    scan: SourceScan,
    stored: dict[str, UnitState],
    change: MonthRewrites,
    report: IngestReport,
    matcher: RuleMatcher,
) -> thread_index.ThreadIndex | None:
    """Rewrites the months that changed; the index of threads, where the kind has one, is saved once all else is."""
    home = workspace.home
    if not source.retain:
        quarantine.drop_units(home, source.name, workspace.keys, scan.missing_units)
    else:
        merge.drop_replaced(
            home, source, change, scan.known_units.keys() - scan.units.keys(), newly=bool(scan.missing_units)
        )
    threads = KINDS[source.kind].threads
    index = None
    if threads:
        reserved = matcher.reserves if matcher.reserves_ids else None
        index = thread_index.ThreadIndex(home, source.name, change.replaced_units, change.thread_tables, reserved)
        change.months |= index.moved
    report.months = merge.write(workspace, source, stored, change, index)
    return index


def _save_state(
    workspace: Workspace,
    source: Source,
    selected: UnitSelection,
    change: MonthRewrites,
    forgotten: Collection[str],
    report: IngestReport,
    cursor: str,
) -> None:
    """Stores the current units and failures; nothing of units that were forgotten completely.

    The cursor is empty where anything was forgotten: it may hold hashes of that.
    """
    home, keys = workspace.home, workspace.keys
    hidden = {
        path for path in selected.units if selected.locations(path)[0] in forgotten and not change.states[path].months
    }
    quarantine.drop_units(home, source.name, keys, hidden)
    report.failures = [failure for failure in report.failures if failure.unit not in hidden]
    read_completely = set(selected.stale) - selected.resume_points.keys()
    failed = [
        failure
        for failure in unit_state.load_failures(home, source.name)
        if failure.unit in change.states.keys() - hidden
    ]
    still_failing = [failure for failure in failed if failure.unit not in read_completely]
    # of a unit that has grown, what is true of all of it comes again
    failures = {astuple(failure): failure for failure in [*still_failing, *report.failures]}
    unit_state.save_failures(home, source.name, list(failures.values()))
    states = {
        path: unit_state.hide_unit(state, keys.id_hash) if path in hidden else state
        for path, state in change.states.items()
    }
    unit_state.save(home, source.name, states, cursor)


def _delete_orphan_transcripts(workspace: Workspace, source: Source) -> None:
    """Deletes transcripts that were made here when their recordings are gone."""
    folder = workspace.home / "private" / "transcripts" / source.name
    if not folder.is_dir():
        return
    source_ids: set[str] = set()
    for month in lake.manifest(workspace.home, "private_records", source.name):
        source_ids.update(lake.read(workspace.home, "private_records", source.name, month)["source_id"].to_pylist())
    for file in folder.glob("*.vtt"):
        if file.stem not in source_ids:
            file.unlink()


def _reuses_ids(home: Path, source: str, before: UnitState, contents: UnitRecords) -> bool:
    """Whether a unit grew by an id that it already holds: only reading it whole tells what that means now."""
    new = contents.tables.ids().combine_chunks()
    return any(lake.holds_private_id(home, source, month.month, before.path, new) for month in before.months)
