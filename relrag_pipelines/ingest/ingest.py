"""Reads the units of a source that changed and rewrites the private records of the months that they touch.

A unit that only grew at its end is read from where it ended before. What the owner had forgotten is left out as soon as
it is read. What is read and does not fit into memory waits in private/spill until its month is written. Which earlier
records go for it is in merge.py.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import pyarrow.compute as pc

from relrag_pipelines.erasure import purge, rule_file
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.files.sealed_json import file_hash, file_hashes
from relrag_pipelines.ingest import merge, revisit, unit_records
from relrag_pipelines.ingest.read_context import read_context, reader_fingerprint, scan_source
from relrag_pipelines.ingest.scan import ASKED, DUE, SourceScan, reader_with_context
from relrag_pipelines.ingest.unit_records import UnitRecords
from relrag_pipelines.records import Failure, UnitState
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, UNREADABLE, Unit
from relrag_pipelines.stores import lake, quarantine, thread_index, unit_state
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.stores.spill_buffer import spill_folder
from relrag_pipelines.workers import sandbox
from relrag_pipelines.workspace import Workspace


@dataclass
class IngestReport:
    """What an export did."""

    units_read: int = 0
    units_gone: int = 0
    bytes_read: int = 0
    months: dict[str, int] = field(default_factory=dict)
    """month that was rewritten -> records in it now"""
    failures: list[Failure] = field(default_factory=list)
    """of the units read now"""


def ingest(workspace: Workspace, source: Source, *, full: bool = False, accept_deletions: bool = False) -> IngestReport:
    """Brings the private records of a source up to date with its files.

    full reads every unit again. Raises units.SourceNotFound when the source's path is not there, and, with nothing
    written, merge.TooManyDeletions when more than a fifth of the source would vanish and that was not accepted.
    """
    kind, home, keyed = KINDS[source.kind], workspace.home, workspace.keys.id_hash
    purge.resume(workspace)
    forgotten = rule_file.load(home, workspace.keys)
    if source.name in forgotten.sources():
        return IngestReport()
    stored, reader = unit_state.load(home, source.name), reader_fingerprint(workspace, source)
    found = scan_source(workspace, source, stored)
    if not (full or found.changed or found.gone):
        return IngestReport()
    known, hidden, matcher = (
        found.known,
        found.known.keys() - stored.keys(),
        RuleMatcher(forgotten.rules, workspace.keys),
    )
    full = (
        full
        or lake.has_old_schema(home, source.name)
        or (kind.threads and not thread_index.has_index(home, source.name))
    )
    hashes, grown = _content_hashes(workspace, source, found, known, full)
    copies = _duplicate_units(hashes) if kind.one_record else {}
    readers = {path: reader_with_context(unit, reader, keyed) for path, unit in found.units.items()}
    readers |= {path: f"{readers[path]}+{keyed(repr(places))}" for path, places in copies.items()}
    stale = _units_to_read(workspace, source, found, hashes, readers, full=full)

    change = merge.rewrites_for_removed(source, known, found.gone)
    change.tables.folder = spill_folder(home, source.name)
    change.tables.clear()  # a kill may have left some there
    report = IngestReport(units_read=len(stale), units_gone=len(found.gone))
    quarantine.drop_units(home, source.name, workspace.keys, [path for path in stale if path not in grown])
    leading = [path for path in stale if copies.get(path, [path])[0] == path]
    read_one = functools.partial(unit_records.read_unit, workspace, source, matcher)
    opened = [(replace(found.units[path], start=grown.get(path, 0)), copies.get(path, [path])) for path in leading]
    alone = kind.loads and getattr(read_context(workspace, source), kind.loads)
    given_up = functools.partial(unit_records.given_up, source)
    read = map(read_one, opened) if alone else workspace.each(read_one, opened, given_up)
    for done, path in enumerate(stale):
        workspace.report(f"{source.name}: export", done, len(stale))
        contents = next(read) if copies.get(path, [path])[0] == path else UnitRecords()
        if path in grown and _reuses_ids(home, source.name, known[path], contents):
            del grown[path]
            quarantine.drop_units(home, source.name, workspace.keys, [path])
            contents = read_one((found.units[path], [path]))
        if path in grown:
            merge.extend_unit(change, known[path], contents)
        else:
            merge.replace_unit(change, path, known.get(path), contents, full)
        if contents.forgotten:
            hidden = hidden | {path}
        report.failures += contents.failures
        report.bytes_read += found.units[path].size - grown.get(path, 0)
    failing = {one.unit for one in report.failures if one.fault == UNREADABLE and one.whole_unit}
    hashes |= dict.fromkeys(failing, "")  # a disk or a network may give it the next time, so it counts as never read
    if alone:
        sandbox.stop()  # what was loaded would take memory from all that follows
    for path, unit in found.units.items():
        if path not in change.interrupted:
            months = change.states[path].months
            change.states[path] = UnitState(path, unit.size, unit.mtime_ns, hashes[path], readers[path], months)
    # what a kill left half rewritten: no unit need be marked for it, where only threads of its mails have moved
    change.touched |= lake.unlisted_months(home, source.name)
    if not accept_deletions:
        merge.check_deletion_limit(workspace, source, change)
    if not source.retain:
        quarantine.drop_units(home, source.name, workspace.keys, found.gone)
    else:
        merge.drop_superseded(home, source, change, known.keys() - found.units.keys(), newly=bool(found.gone))
    index = thread_index.ThreadIndex(home, source.name, change.replaced, change.threaded) if kind.threads else None
    if index:
        change.touched |= index.moved
    report.months = merge.write(workspace, source, stored, change, index)
    hidden = {path for path in found.units if copies.get(path, [path])[0] in hidden and not change.states[path].months}
    quarantine.drop_units(home, source.name, workspace.keys, hidden)
    report.failures = [one for one in report.failures if one.unit not in hidden]
    whole = set(stale) - grown.keys()
    failed = [one for one in unit_state.load_failures(home, source.name) if one.unit in change.states.keys() - hidden]
    unit_state.save_failures(home, source.name, [one for one in failed if one.unit not in whole] + report.failures)
    if index:
        index.save()
    states = {
        path: unit_state.hide_unit(state, keyed) if path in hidden else state for path, state in change.states.items()
    }
    unit_state.save(home, source.name, states)
    change.tables.clear()
    lake.drop_outside(home, source.name, workspace.settings.first_month)
    _delete_orphan_transcripts(workspace, source)
    workspace.report(f"{source.name}: export", len(stale), len(stale))
    return report


def _delete_orphan_transcripts(workspace: Workspace, source: Source) -> None:
    """Transcripts that were made here go with the recordings that they are of."""
    made = workspace.home / "private" / "transcripts" / source.name
    if not made.is_dir():
        return
    held: set[str] = set()
    for month in lake.manifest(workspace.home, "private_records", source.name):
        held.update(lake.read(workspace.home, "private_records", source.name, month)["source_id"].to_pylist())
    for file in made.glob("*.vtt"):
        if file.stem not in held:
            file.unlink()


def _content_hashes(
    workspace: Workspace, source: Source, found: SourceScan, known: dict[str, UnitState], full: bool
) -> tuple[dict[str, str], dict[str, int]]:
    """Hash of every unit's bytes or its fingerprint, only changed ones are opened; where those go on that only grew.

    One that cannot be opened has the empty hash. One that was not read to its end before is read from its beginning.
    """
    kind, reader = KINDS[source.kind], reader_fingerprint(workspace, source)
    failed = {one.unit for one in unit_state.load_failures(workspace.home, source.name) if one.whole_unit}
    hashes, grown = {}, {}
    for path, unit in found.units.items():
        before = known.get(path)
        if before and path not in found.changed and not full:
            hashes[path] = before.content_hash
            continue
        if unit.fingerprint:
            hashes[path] = unit.fingerprint
            continue
        try:
            as_before = before and before.reader == reader and 0 < before.size < unit.size and path not in failed
            as_before = as_before and found.why.get(path) != DUE
            if kind.appends and before and as_before and not full:
                earlier, hashes[path] = file_hashes(unit.file, before.size)
                if earlier == before.content_hash and kind.continues(unit.file, before.size):
                    grown[path] = before.size
            else:
                hashes[path] = _content_hash_of(unit)
        except OSError:
            hashes[path] = ""
    return hashes, grown


def _content_hash_of(unit: Unit) -> str:
    hashes = [file_hash(file) for file in (unit.file, *unit.beside)]
    names = [os.fsencode(file.name).hex() for file in unit.beside]
    refused = [[f"{one.fault} {one.location}" for one in unit.refused]] if unit.refused else []
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
    found: SourceScan,
    hashes: Mapping[str, str],
    readers: Mapping[str, str],
    *,
    full: bool,
) -> list[str]:
    """The units that are read, in order: those that changed, and those whose dates are no longer right."""
    known = found.known
    changed = {path for path in found.units if full or not _is_unchanged(known.get(path), hashes[path], readers[path])}
    changed |= {path for path, why in found.why.items() if why in (DUE, ASKED)}
    touched = [known[path] for path in found.changed if path not in changed and not found.units[path].fingerprint]
    changed |= revisit.units_dated_by_mtime(workspace.home, source.name, touched)
    return [path for path in found.units if path in changed]


def _is_unchanged(state: UnitState | None, content_hash: str, reader: str) -> bool:
    return state is not None and (state.content_hash, state.reader) == (content_hash, reader) and content_hash != ""


def _reuses_ids(home: Path, source: str, before: UnitState, contents: UnitRecords) -> bool:
    """Whether a unit grew by an id that it holds already: then only reading it whole tells what it means now."""
    new = contents.tables.ids()
    return any(
        pc.any(pc.is_in(new, lake.private_ids(home, source, month.month, before.path))).as_py()
        for month in before.months
    )
