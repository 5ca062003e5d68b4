"""Reads the units of a source that changed and rewrites the private records of the months that they touch.

A unit's earlier records are replaced by what it holds now, as far as it says to speak of them (its coverage); a unit
that was not read to its end keeps its earlier ones. What the owner had forgotten is left out as soon as it is read.
Before the first month is written the touched units are marked unfinished, so that after a kill they are read again.
A unit that only grew at its end is read from where it ended before. What is read and does not fit into memory waits in
private/spill until its month is written.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines import again, unit_contents
from relrag_pipelines.forgetting import purge, rules
from relrag_pipelines.forgetting.rules import Matcher, Rows
from relrag_pipelines.records import Failure, UnitMonth, UnitState
from relrag_pipelines.settings import Source, now
from relrag_pipelines.sources import KINDS, UNREADABLE, Coverage, Unit
from relrag_pipelines.stores import lake, raw, threads, units
from relrag_pipelines.stores.lake import Stamp
from relrag_pipelines.stores.seal import file_hash, file_hashes
from relrag_pipelines.stores.spill import Tables, spill_folder
from relrag_pipelines.unit_contents import Contents, sum_of
from relrag_pipelines.workspace import Workspace, stamp_hash

_FEW_RECORDS = 20
_SHARE = 5


class ManyDeletions(Exception):
    """More of a source would vanish than is likely meant; the message says how much and what to do."""


@dataclass
class Exported:
    """What an export did."""

    units_read: int = 0
    units_gone: int = 0
    bytes_read: int = 0
    months: dict[str, int] = field(default_factory=dict)
    """month that was rewritten -> records in it now"""
    failures: list[Failure] = field(default_factory=list)
    """of the units read now"""


@dataclass
class _Change:
    """What is to be written."""

    states: dict[str, UnitState]
    """the units as they are now"""
    replaced: set[str] = field(default_factory=set)
    """units whose earlier records go"""
    extended: set[str] = field(default_factory=set)
    """units whose earlier records stay and get further ones"""
    touched: set[str] = field(default_factory=set)
    """months to be rewritten"""
    tables: Tables = field(default_factory=Tables)
    """new private records"""
    threaded: list[pa.Table] = field(default_factory=list)
    """what the threads of the new records follow from"""
    coverage: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    """replaced unit -> from when to when it speaks of a thread; one that is not here speaks of all that it held"""
    held: dict[str, pa.ChunkedArray] = field(default_factory=dict)
    """unit with coverage -> asset_ids of what it holds now: none of them is kept as it was"""
    superseded: dict[str, pa.Array] = field(default_factory=dict)
    """month -> asset_ids that go from what `gone` units hold there"""
    gone: set[str] = field(default_factory=set)
    """units whose files are gone and whose records stay"""
    interrupted: set[str] = field(default_factory=set)
    """units that a kill left half replaced and that could not be read now"""

    @functools.cached_property
    def leaving_units(self) -> pa.Array:
        """The replaced units, once all are known."""
        return pa.array(sorted(self.replaced), pa.string())

    @functools.cached_property
    def held_now(self) -> pa.Array:
        """Unit and asset_id, with a zero byte between, of all that is held by units with coverage."""
        pairs = [pc.binary_join_element_wise(unit, ids, "\0").combine_chunks() for unit, ids in self.held.items()]
        return pa.concat_arrays([pa.array([], pa.string()), *pairs])


def export(workspace: Workspace, source: Source, *, full: bool = False, accept_deletions: bool = False) -> Exported:
    """Brings the private records of a source up to date with its files.

    full reads every unit again. Raises units.SourceMissing when the source's path is not there, and ManyDeletions,
    with nothing written, when more than a fifth of the source would vanish and that was not accepted.
    """
    kind, home, keyed = KINDS[source.kind], workspace.home, workspace.keys.id_hash
    purge.resume(workspace)
    forgotten = rules.load(home, workspace.keys)
    if source.name in forgotten.sources():
        return Exported()
    stored, reader = units.load(home, source.name), workspace.reader(source)
    found = workspace.scan(source, stored)
    if not (full or found.changed or found.gone):
        return Exported()
    known, hidden, matcher = found.known, found.known.keys() - stored.keys(), Matcher(forgotten.rules, workspace.keys)
    full = full or lake.private_outdated(home, source.name) or (kind.threads and not threads.known(home, source.name))
    hashes, grown = _content_hashes(workspace, source, found, known, full)
    copies = _copies(hashes) if kind.one_record else {}
    readers = {path: units.read_by(unit, reader, keyed) for path, unit in found.units.items()}
    readers |= {path: f"{readers[path]}+{keyed(repr(places))}" for path, places in copies.items()}
    stale = _stale(workspace, source, found, hashes, readers, full=full)

    change = _gone(source, known, found.gone)
    change.tables.folder = spill_folder(home, source.name)
    change.tables.clear()  # a kill may have left some there
    report = Exported(units_read=len(stale), units_gone=len(found.gone))
    raw.drop(home, source.name, workspace.keys, [path for path in stale if path not in grown])
    leading = [path for path in stale if copies.get(path, [path])[0] == path]
    read_one = functools.partial(unit_contents.read, workspace, source, matcher)
    opened = [(replace(found.units[path], start=grown.get(path, 0)), copies.get(path, [path])) for path in leading]
    alone = kind.loads and getattr(workspace.reading(source), kind.loads)
    read = map(read_one, opened) if alone else workspace.each(read_one, opened)
    for done, path in enumerate(stale):
        workspace.report(f"{source.name}: export", done, len(stale))
        contents = next(read) if copies.get(path, [path])[0] == path else Contents()
        if path in grown and _repeats(home, source.name, known[path], contents):
            del grown[path]
            raw.drop(home, source.name, workspace.keys, [path])
            contents = read_one((found.units[path], [path]))
        if path in grown:
            _extend(change, known[path], contents)
        else:
            _replace(change, path, known.get(path), contents, full)
        if contents.forgotten:
            hidden = hidden | {path}
        report.failures += contents.failures
        report.bytes_read += found.units[path].size - grown.get(path, 0)
    failing = {one.unit for one in report.failures if one.fault == UNREADABLE and one.whole_unit}
    hashes |= dict.fromkeys(failing, "")  # a disk or a network may give it the next time, so it counts as never read
    for path, unit in found.units.items():
        if path not in change.interrupted:
            months = change.states[path].months
            change.states[path] = UnitState(path, unit.size, unit.mtime_ns, hashes[path], readers[path], months)
    # what a kill left half rewritten: no unit need be marked for it, where only threads of its mails have moved
    change.touched |= lake.unlisted(home, source.name)
    if not accept_deletions:
        _refuse_many_deletions(workspace, source, change)
    if not source.retain:
        raw.drop(home, source.name, workspace.keys, found.gone)
    else:
        _supersede(home, source, change, known.keys() - found.units.keys(), newly=bool(found.gone))
    index = threads.Index(home, source.name, change.replaced, change.threaded) if kind.threads else None
    if index:
        change.touched |= index.moved
    report.months = _commit(workspace, source, stored, change, index)
    hidden = {path for path in found.units if copies.get(path, [path])[0] in hidden and not change.states[path].months}
    raw.drop(home, source.name, workspace.keys, hidden)
    report.failures = [one for one in report.failures if one.unit not in hidden]
    whole = set(stale) - grown.keys()
    failed = [one for one in units.load_failures(home, source.name) if one.unit in change.states.keys() - hidden]
    units.save_failures(home, source.name, [one for one in failed if one.unit not in whole] + report.failures)
    if index:
        index.save()
    states = {path: units.hide(state, keyed) if path in hidden else state for path, state in change.states.items()}
    units.save(home, source.name, states)
    change.tables.clear()
    lake.drop_outside(home, source.name, workspace.settings.first_month)
    _drop_transcripts(workspace, source)
    workspace.report(f"{source.name}: export", len(stale), len(stale))
    return report


def _drop_transcripts(workspace: Workspace, source: Source) -> None:
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


def _gone(source: Source, known: dict[str, UnitState], gone: tuple[str, ...]) -> _Change:
    """The change that follows from units that are no longer there."""
    if not source.retain:
        months = {month.month for path in gone for month in known[path].months}
        left = {path: state for path, state in known.items() if path not in gone}
        return _Change(left, replaced=set(gone), touched=months)
    settled = {path: replace(state, reader=units.RETAINED) for path, state in known.items() if path in gone}
    # what was written of them stays; months that were being replaced when they vanished need entries again
    unfinished = {path for path in gone if known[path].reader == units.UNFINISHED}
    months = {month.month for path in unfinished for month in known[path].months}
    return _Change({**known, **settled}, touched=months)


def _supersede(home: Path, source: Source, change: _Change, gone: set[str], *, newly: bool) -> None:
    """Notes which records of retained files give way, as a file that is there holds the same ones: it is newer."""
    new = change.tables.ids()
    if not gone or not (newly or len(new)):
        return
    change.gone = gone
    change.superseded = again.superseded(home, source.name, change.states, gone, new, all_months=newly)
    change.touched |= change.superseded.keys()


def _content_hashes(
    workspace: Workspace, source: Source, found: units.Scan, known: dict[str, UnitState], full: bool
) -> tuple[dict[str, str], dict[str, int]]:
    """Hash of every unit's bytes or its fingerprint, only changed ones are opened; where those go on that only grew.

    One that cannot be opened has the empty hash. One that was not read to its end before is read from its beginning.
    """
    kind, reader = KINDS[source.kind], workspace.reader(source)
    failed = {one.unit for one in units.load_failures(workspace.home, source.name) if one.whole_unit}
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
            as_before = as_before and found.why.get(path) != units.DUE
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
    return stamp_hash([hashes, [os.fsencode(file.name).hex() for file in unit.beside]]) if unit.beside else hashes[0]


def _copies(hashes: dict[str, str]) -> dict[str, list[str]]:
    """For each unit the paths with equal bytes and suffix, in order: the first is the record, all its locations.

    Equal bytes under another suffix are another unit: the suffix decides how they are read.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for path in sorted(hashes):
        groups.setdefault((hashes[path] or path, PurePosixPath(path).suffix.lower()), []).append(path)
    return {path: group for group in groups.values() for path in group}


def _stale(
    workspace: Workspace,
    source: Source,
    found: units.Scan,
    hashes: Mapping[str, str],
    readers: Mapping[str, str],
    *,
    full: bool,
) -> list[str]:
    """The units that are read, in order: those that changed, and those whose dates are no longer right."""
    known = found.known
    changed = {path for path in found.units if full or not _as_read(known.get(path), hashes[path], readers[path])}
    changed |= {path for path, why in found.why.items() if why == units.DUE}
    touched = [known[path] for path in found.changed if path not in changed and not found.units[path].fingerprint]
    changed |= again.dated_by_file(workspace.home, source.name, touched)
    return [path for path in found.units if path in changed]


def _as_read(state: UnitState | None, content_hash: str, reader: str) -> bool:
    return state is not None and (state.content_hash, state.reader) == (content_hash, reader) and content_hash != ""


def _replace(change: _Change, path: str, before: UnitState | None, contents: Contents, full: bool) -> None:
    """Notes what one unit holds now in place of what it held."""
    unfinished = before is not None and before.reader == units.UNFINISHED
    if not contents.complete and before and before.months:
        # what was not read is not deleted; one that a kill left half replaced stays so until it can be read
        if unfinished:
            change.interrupted.add(path)
        return
    earlier = {month.month: month for month in before.months} if before else {}
    later = {month.month: month for month in contents.months}
    anew = full or unfinished or before is None or before.reader == units.RETAINED
    change.touched |= {month for month in earlier | later if anew or earlier.get(month) != later.get(month)}
    change.replaced.add(path)
    if contents.coverage:
        change.coverage[path], change.held[path] = _spans(contents.coverage), contents.tables.ids()
    _add(change, path, contents, later)


def _repeats(home: Path, source: str, before: UnitState, contents: Contents) -> bool:
    """Whether a unit grew by an id that it holds already: then only reading it whole tells what it means now."""
    new = contents.tables.ids()
    return any(
        pc.any(pc.is_in(new, lake.private_ids(home, source, month.month, before.path))).as_py()
        for month in before.months
    )


def _extend(change: _Change, before: UnitState, contents: Contents) -> None:
    """Notes what one unit holds behind what it held; it speaks of nothing else, so nothing is deleted."""
    months = {month.month: month for month in before.months}
    for more in contents.months:
        held = months.get(more.month, UnitMonth(more.month, 0, ""))
        months[more.month] = UnitMonth(more.month, held.rows + more.rows, sum_of([held.hash, more.hash]))
    change.touched |= {month.month for month in contents.months}
    change.extended.add(before.path)
    _add(change, before.path, contents, months)


def _add(change: _Change, path: str, contents: Contents, months: dict[str, UnitMonth]) -> None:
    change.tables.take(contents.tables)
    change.threaded += contents.threaded
    change.states[path] = UnitState(path, 0, 0, "", "", [months[month] for month in sorted(months)])


def _refuse_many_deletions(workspace: Workspace, source: Source, change: _Change) -> None:
    home = workspace.home
    before: set[str] = set()
    after: set[str] = set()
    for month in change.touched:
        stored = lake.read(home, "private_records", source.name, month, damaged=True)
        leaving = pa.array(_leaving(stored, change))
        before.update(stored["asset_id"].filter(leaving).to_pylist())
        after.update(stored["asset_id"].filter(pc.invert(leaving)).to_pylist())
        after.update(change.tables.of(month)["asset_id"].to_pylist())
    vanishing = len(before - after)
    total = sum(entry.rows for entry in lake.manifest(home, "private_records", source.name).values())
    if vanishing > _FEW_RECORDS and vanishing * _SHARE > total:
        raise ManyDeletions(
            f"{source.name}: {vanishing} of {total} records would be deleted: their files are gone or hold less; "
            "if that is meant, run `relrag sync --accept-deletions`, else restore the files (nothing was changed)"
        )


def _commit(
    workspace: Workspace, source: Source, stored: dict[str, UnitState], change: _Change, index: threads.Index | None
) -> dict[str, int]:
    """Rewrites the touched months; returns how many records each holds now. `stored` are the units before."""
    home, first, last = workspace.home, workspace.settings.first_month, now().strftime("%Y-%m")
    if not change.touched:
        return {}
    marked = dict(stored)
    for path in change.replaced | change.extended:
        before, after = stored.get(path), change.states.get(path)
        held = {month.month: month for state in (before, after) if state for month in state.months}
        marked.pop(units.hidden(path, workspace.keys.id_hash), None)
        marked[path] = UnitState(path, 0, 0, "", units.UNFINISHED, [held[month] for month in sorted(held)])
    units.save(home, source.name, marked)

    def make(month: str) -> tuple[pa.Table, Stamp | None]:
        # one that is missing is made of what is read now; what of it was not read now is lost with it
        earlier = lake.read(home, "private_records", source.name, month, damaged=True)
        kept = earlier.filter(pa.array(~_leaving(earlier, change)))
        if month == first:
            kept = again.settled(kept, change.leaving_units, first, last)
        if month in change.superseded:
            gone = pc.is_in(kept["unit"], pa.array(sorted(change.gone), pa.string()))
            kept = kept.filter(pc.invert(pc.and_(gone, pc.is_in(kept["asset_id"], change.superseded[month]))))
        _keep_months(change, stored, month, kept)
        rows = pa.concat_tables([kept, change.tables.of(month)])
        if index:
            rows = index.threaded(month, rows)
        return rows, Stamp("", 0, "") if rows.num_rows else None

    months = sorted(change.touched)
    entries = lake.write(home, "private_records", source.name, months, map(make, months))
    return {month: entries[month].rows if month in entries else 0 for month in months}


def _leaving(earlier: pa.Table, change: _Change) -> Rows:
    """Which records go: those of replaced units, but for what lies outside of what these speak of now."""
    leaving: Rows = pc.is_in(earlier["unit"], change.leaving_units).to_numpy()
    if not change.coverage or not leaving.any():
        return leaving
    # a path holds no zero byte
    together = pc.binary_join_element_wise(earlier["unit"], pc.fill_null(earlier["thread_id"], ""), "\0")
    groups = together.combine_chunks().dictionary_encode()
    group = groups.indices.to_numpy()
    times = pa.table({"group": groups.indices, "ts": earlier["ts"]}).group_by("group")
    spans = times.aggregate([("ts", "min"), ("ts", "max")]).sort_by("group")
    spoken = np.array([_span(change.coverage.get(unit, {}), thread) for unit, _, thread in _parts(groups)])
    since, until = spoken[:, 0], spoken[:, 1]
    first, last = (spans[f"ts_{end}"].to_numpy().astype(float) for end in ("min", "max"))  # NaN where none has a time
    ts = earlier["ts"].to_numpy().astype(float)
    ts = np.where(np.isnan(ts), np.where(first >= since, first, last)[group], ts)
    outside = leaving & ((ts < since[group]) | (ts >= until[group]))
    if outside.any():
        held = pc.binary_join_element_wise(earlier["unit"], earlier["asset_id"], "\0")
        outside &= ~pc.is_in(held, change.held_now).to_numpy()
    leaving[outside] = False
    return leaving


def _parts(groups: pa.DictionaryArray) -> Iterator[tuple[str, str, str]]:
    return (together.partition("\0") for together in groups.dictionary.to_pylist())


def _span(coverage: Mapping[str, tuple[float, float]], thread: str) -> tuple[float, float]:
    """From when to when a unit speaks of a thread; of one that it does not name it speaks as a whole."""
    return coverage.get(thread) or coverage.get("") or (-math.inf, math.inf)


def _spans(coverage: Iterable[Coverage]) -> dict[str, tuple[float, float]]:
    """From when to when a unit speaks of each thread, and of all others under an empty name."""
    found: dict[str, tuple[float, float]] = {}
    for one in coverage:
        since, until = found.get(one.thread_id or "", (math.inf, -math.inf))
        since = min(since, -math.inf if one.since is None else one.since)
        until = max(until, math.inf if one.until is None else one.until)
        found[one.thread_id or ""] = since, until
    return found


def _keep_months(change: _Change, stored: dict[str, UnitState], month: str, kept: pa.Table) -> None:
    """A unit of which records are kept that it holds no more still contributes to their month."""
    for path in set(kept["unit"].unique().to_pylist()) & change.coverage.keys():
        state, before = change.states[path], stored.get(path)
        if before and month not in {known.month for known in state.months}:
            added = [known for known in before.months if known.month == month]
            state.months = sorted([*state.months, *added], key=lambda known: known.month)
