"""Merges what was read into a source's private records: which earlier ones go or stay, which months are rewritten.

A unit's earlier records are replaced by what it holds now, as far as it says to speak of them (its coverage); a unit
that was not read to its end keeps its earlier ones. Before the first month is written the touched units are marked
unfinished, so that after a kill they are read again.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.erasure.rule_matching import Rows
from relrag_pipelines.errors import SafeError
from relrag_pipelines.ingest import revisit
from relrag_pipelines.ingest.unit_records import UnitRecords, combined_hash
from relrag_pipelines.records import UnitMonth, UnitState
from relrag_pipelines.settings import Source, now
from relrag_pipelines.sources import KINDS, CoveredInterval, mail_ids
from relrag_pipelines.stores import lake, thread_index, unit_state
from relrag_pipelines.stores.lake import InputFingerprint
from relrag_pipelines.stores.spill_buffer import SpillBuffer
from relrag_pipelines.workspace import Workspace

_COUNTED_COLUMNS = ("asset_id", "unit", "thread_id", "ts")
_FEW_RECORDS = 20
_SHARE = 5


class TooManyDeletions(SafeError):
    """More of a source would vanish than is likely intended; the message says how much and what to do."""


@dataclass
class MonthRewrites:
    """The months to be rewritten, and with what."""

    states: dict[str, UnitState]
    """the units as they are now"""
    replaced_units: set[str] = field(default_factory=set)
    """units whose earlier records go"""
    extended_units: set[str] = field(default_factory=set)
    """units whose earlier records stay and get further ones"""
    months: set[str] = field(default_factory=set)
    """months to be rewritten"""
    tables: SpillBuffer = field(default_factory=SpillBuffer)
    """new private records"""
    thread_tables: list[pa.Table] = field(default_factory=list)
    """what the threads of the new records follow from"""
    coverage: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    """replaced unit -> from when to when it speaks of a thread; one that is not here speaks of all that it held"""
    ids_by_unit: dict[str, pa.ChunkedArray] = field(default_factory=dict)
    """unit with coverage -> asset_ids of what it holds now: none of them is kept as it was"""
    superseded_ids: dict[str, pa.Array] = field(default_factory=dict)
    """month -> asset_ids that go from what `gone` units hold there"""
    missing_units: set[str] = field(default_factory=set)
    """units whose files are gone and whose records stay"""

    @functools.cached_property
    def leaving_units(self) -> pa.Array:
        """The replaced units, once all are known."""
        return pa.array(sorted(self.replaced_units), pa.string())

    @functools.cached_property
    def held_now(self) -> pa.Array:
        """Unit and asset_id, with a zero byte between, of all that is held by units with coverage."""
        pairs = [
            pc.binary_join_element_wise(unit, ids, "\0").combine_chunks() for unit, ids in self.ids_by_unit.items()
        ]
        return pa.concat_arrays([pa.array([], pa.string()), *pairs])


def rewrites_for_removed(source: Source, units: dict[str, UnitState], missing: tuple[str, ...]) -> MonthRewrites:
    """The rewrites that follow from units that no longer exist."""
    if not source.retain:
        months = {month.month for path in missing for month in units[path].months}
        remaining = {path: state for path, state in units.items() if path not in missing}
        return MonthRewrites(remaining, replaced_units=set(missing), months=months)
    settled = {path: replace(state, reader=unit_state.RETAINED) for path, state in units.items() if path in missing}
    # what was written of them stays; months that were being replaced when they vanished need entries again
    unfinished = {path for path in missing if units[path].reader == unit_state.UNFINISHED}
    months = {month.month for path in unfinished for month in units[path].months}
    return MonthRewrites({**units, **settled}, months=months)


def drop_replaced(home: Path, source: Source, change: MonthRewrites, gone: set[str], *, newly: bool) -> None:
    """Drops records of retained files that an existing file holds, too: that one is newer."""
    new = change.tables.ids()
    if not gone or not (newly or len(new)):
        return
    change.missing_units = gone
    change.superseded_ids = revisit.superseded_records(home, source, change.states, gone, new, all_months=newly)
    change.months |= change.superseded_ids.keys()


def replace_unit(change: MonthRewrites, path: str, before: UnitState | None, contents: UnitRecords, full: bool) -> None:
    """Replaces the stored records of a unit by its current ones."""
    unfinished = before is not None and before.reader == unit_state.UNFINISHED
    finished_once = before is not None and any(month.rows for month in before.months)
    if not contents.complete and before and finished_once:
        # what was not read is not deleted; after a kill that is what lies there, and no hash describes it
        if unfinished:
            months = [replace(month, hash="") for month in before.months]
            change.states[path] = UnitState(path, 0, 0, "", "", months)
        return
    earlier = {month.month: month for month in before.months} if before else {}
    later = {month.month: month for month in contents.months}
    anew = full or unfinished or before is None or before.reader == unit_state.RETAINED
    change.months |= {month for month in earlier | later if anew or earlier.get(month) != later.get(month)}
    change.replaced_units.add(path)
    # what a killed first export left of a unit is nothing that the unit ever held
    if contents.coverage and (finished_once or not unfinished):
        change.coverage[path], change.ids_by_unit[path] = _spans(contents.coverage), contents.tables.ids()
    _add(change, path, contents, later)


def extend_unit(change: MonthRewrites, before: UnitState, contents: UnitRecords) -> None:
    """Adds the records that a unit has gained; nothing is deleted, since the unit covers nothing else."""
    months = {month.month: month for month in before.months}
    for more in contents.months:
        stored = months.get(more.month, UnitMonth(more.month, 0, ""))
        months[more.month] = UnitMonth(more.month, stored.rows + more.rows, combined_hash([stored.hash, more.hash]))
    change.months |= {month.month for month in contents.months}
    change.extended_units.add(before.path)
    _add(change, before.path, contents, months)


def _add(change: MonthRewrites, path: str, contents: UnitRecords, months: dict[str, UnitMonth]) -> None:
    change.tables.take(contents.tables)
    change.thread_tables += contents.thread_tables
    change.states[path] = UnitState(path, 0, 0, "", "", [months[month] for month in sorted(months)])


def check_deletion_limit(
    workspace: Workspace, source: Source, units: Mapping[str, UnitState], change: MonthRewrites
) -> None:
    """Raises TooManyDeletions if too many records of the last finished export would vanish; `units` are its units.

    What a killed export has written beyond that is no loss: its files are read again.
    """
    vanishing = _count_vanishing(workspace.home, source, units, change)
    total = sum(month.rows for state in units.values() for month in state.months)
    if vanishing > _FEW_RECORDS and vanishing * _SHARE > total:
        renamed = ", or have another title, which makes them others" if KINDS[source.kind].ids_depend_on_names else ""
        raise TooManyDeletions(
            f"{source.name}: {vanishing} of {total} records would be deleted: their files are gone or hold less"
            f"{renamed}; if that is meant, run `relrag sync --accept-deletions`, else restore the files "
            "(nothing was changed)"
        )


def _count_vanishing(home: Path, source: Source, units: Mapping[str, UnitState], change: MonthRewrites) -> int:
    """Number of stored records that would vanish.

    Of a unit that a kill left half replaced, which of the stored records it held before is not known, only their
    number: it loses at most as many as it would have fewer.
    """
    half = {path: state for path, state in units.items() if state.reader == unit_state.UNFINISHED}
    half_units = pa.array(sorted(half), pa.string())
    leaving_whole: set[str] = set()
    leaving_half: set[str] = set()
    after: set[str] = set()
    held_by_half: Counter[str] = Counter()
    for month in change.months:
        columns = [*_COUNTED_COLUMNS, *["extra"] * KINDS[source.kind].threads]
        stored = lake.read(home, "private_records", source.name, month, columns, damaged=True)
        stored = revisit.under_ids_as_read(source, stored)
        ids = stored["asset_id"]
        leaves = pa.array(_rows_to_drop(stored, change))
        of_half = pc.is_in(stored["unit"], half_units)
        leaving_whole.update(ids.filter(pc.and_not(leaves, of_half)).to_pylist())
        leaving_half.update(ids.filter(pc.and_(leaves, of_half)).to_pylist())
        for rows in (stored.filter(pc.invert(leaves)), change.tables.month(month)):
            remaining = rows["asset_id"]
            after.update(
                remaining.to_pylist(), mail_ids.plain_ids(remaining).to_pylist()
            )  # older records have no other
            held_by_half.update(rows["unit"].filter(pc.is_in(rows["unit"], half_units)).to_pylist())
    fewer = sum(max(0, sum(month.rows for month in half[path].months) - held_by_half[path]) for path in half)
    return len(leaving_whole - after) + min(fewer, len(leaving_half - leaving_whole - after))


def write(
    workspace: Workspace,
    source: Source,
    stored: dict[str, UnitState],
    change: MonthRewrites,
    index: thread_index.ThreadIndex | None,
) -> dict[str, int]:
    """Rewrites the touched months; returns how many records each holds now. `stored` are the units before."""
    home, first, last = workspace.home, workspace.settings.first_month, now().strftime("%Y-%m")
    if not change.months:
        return {}
    marked = dict(stored)
    for path in change.replaced_units | change.extended_units:
        before, after = stored.get(path), change.states.get(path)
        # the rows of each month are those that the unit held when it was last read to its end
        months_by_name = {month.month: replace(month, rows=0, hash="") for month in (after.months if after else ())}
        months_by_name |= {month.month: month for month in (before.months if before else ())}
        marked.pop(unit_state.hashed_path(path, workspace.keys.id_hash), None)
        marked[path] = UnitState(
            path, 0, 0, "", unit_state.UNFINISHED, [months_by_name[month] for month in sorted(months_by_name)]
        )
    unit_state.save(home, source.name, marked)

    def make(month: str) -> tuple[pa.Table, InputFingerprint | None]:
        # one that is missing is made of what is read now; what of it was not read now is lost with it
        earlier = lake.read(home, "private_records", source.name, month, damaged=True)
        remaining = earlier.filter(pa.array(~_rows_to_drop(earlier, change)))
        if month == first:
            remaining = revisit.mark_due_records_exact(remaining, change.leaving_units, first, last)
        if month in change.superseded_ids:
            is_missing = pc.is_in(remaining["unit"], pa.array(sorted(change.missing_units), pa.string()))
            remaining = remaining.filter(
                pc.invert(pc.and_(is_missing, pc.is_in(remaining["asset_id"], change.superseded_ids[month])))
            )
        _carry_over_months(change, stored, month, remaining)
        rows = pa.concat_tables([remaining, change.tables.month(month)])
        if index:
            rows = index.assign(month, rows)
        return rows, InputFingerprint("", 0, "") if rows.num_rows else None

    months = sorted(change.months)
    entries = lake.write(home, "private_records", source.name, months, map(make, months))
    return {month: entries[month].rows if month in entries else 0 for month in months}


def _rows_to_drop(earlier: pa.Table, change: MonthRewrites) -> Rows:
    """The records to drop: those of replaced units, except outside of what these cover now."""
    leaving: Rows = pc.is_in(earlier["unit"], change.leaving_units).to_numpy()
    if not change.coverage or not leaving.any():
        return leaving
    # a path holds no zero byte
    unit_threads = pc.binary_join_element_wise(earlier["unit"], pc.fill_null(earlier["thread_id"], ""), "\0")
    groups = unit_threads.combine_chunks().dictionary_encode()
    group = groups.indices.to_numpy()
    times = pa.table({"group": groups.indices, "ts": earlier["ts"]}).group_by("group")
    spans = times.aggregate([("ts", "min"), ("ts", "max")]).sort_by("group")
    covered = np.array([_span(change.coverage.get(unit, {}), thread) for unit, _, thread in _parts(groups)])
    since, until = covered[:, 0], covered[:, 1]
    first, last = (spans[f"ts_{end}"].to_numpy().astype(float) for end in ("min", "max"))  # NaN where none has a time
    ts = earlier["ts"].to_numpy().astype(float)
    ts = np.where(np.isnan(ts), np.where(first >= since, first, last)[group], ts)
    outside = leaving & ((ts < since[group]) | (ts >= until[group]))
    if outside.any():
        unit_records = pc.binary_join_element_wise(earlier["unit"], earlier["asset_id"], "\0")
        outside &= ~pc.is_in(unit_records, change.held_now).to_numpy()
    leaving[outside] = False
    return leaving


def _parts(groups: pa.DictionaryArray) -> Iterator[tuple[str, str, str]]:
    return (together.partition("\0") for together in groups.dictionary.to_pylist())


def _span(coverage: Mapping[str, tuple[float, float]], thread: str) -> tuple[float, float]:
    """The time that a unit covers of a thread; of a thread that it does not name, the unit's own coverage."""
    return coverage.get(thread) or coverage.get("") or (-math.inf, math.inf)


def _spans(coverage: Iterable[CoveredInterval]) -> dict[str, tuple[float, float]]:
    """The time that a unit covers of each thread, and of all others under an empty name."""
    spans: dict[str, tuple[float, float]] = {}
    for interval in coverage:
        since, until = spans.get(interval.thread_id or "", (math.inf, -math.inf))
        since = min(since, -math.inf if interval.since is None else interval.since)
        until = max(until, math.inf if interval.until is None else interval.until)
        spans[interval.thread_id or ""] = since, until
    return spans


def _carry_over_months(change: MonthRewrites, stored: dict[str, UnitState], month: str, remaining: pa.Table) -> None:
    """Adds a month to the state of a unit that no longer contains records which are kept in that month."""
    for path in set(remaining["unit"].unique().to_pylist()) & change.coverage.keys():
        state, before = change.states[path], stored.get(path)
        if before and month not in {unit_month.month for unit_month in state.months}:
            added = [unit_month for unit_month in before.months if unit_month.month == month]
            state.months = sorted([*state.months, *added], key=lambda unit_month: unit_month.month)
