"""Removes what the rules name: from private records, units and failures, other files in private/ about records, and
leftovers of killed writers.

The lake and the published generation are then rebuilt from the private records, as after any deletion. At the end of
`relrag forget`, a search of every file reports any store that this does not reach.
"""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.erasure import (
    journal_removal,
    mail_quotes,
    mirrored_items,
    person_removal,
    raw_items,
    rule_file,
    shared_rules,
    sidecars,
)
from relrag_pipelines.erasure.record_selection import ErasureSelection, private_months, select
from relrag_pipelines.erasure.rule_file import ErasureRule, ErasureRules, ForgettingError
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.files import atomic
from relrag_pipelines.journal import registered_indexes
from relrag_pipelines.records import UnitMonth, UnitState
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores import archive_tables, generations, graph_indexes, lake, quarantine, unit_state
from relrag_pipelines.stores.lake import InputFingerprint
from relrag_pipelines.workspace import Workspace


def remove(workspace: Workspace, rules: ErasureRules, chosen: ErasureSelection) -> None:
    """Removes the selected records and leftovers of killed writers from private/; marks the rules as finished."""
    matcher = RuleMatcher(rules.rules, workspace.keys, workspace.regions)
    person_removal.remove_statements(workspace, chosen.nowhere, matcher)
    journal_removal.remove(workspace, chosen, matcher)
    sidecars.remove_from_sidecars(workspace.home, chosen.nowhere, chosen.native_ids, matcher)
    registered_indexes.sweep(workspace.home)  # vectors of an index whose name was forgotten
    for source in sorted(lake.sources(workspace.home)):
        if source in chosen.sources:
            lake.remove(workspace.home, source)
        else:
            _remove_from_source(workspace, source, chosen, matcher)
    # they are made from all months, and must not keep removed records even if they cannot be rebuilt
    archive_tables.drop(workspace.home)
    graph_indexes.drop(workspace.home)
    _clean_up(workspace.home)
    rule_file.save(workspace.home, replace(rules, unfinished=False), workspace.keys)


def resume(workspace: Workspace) -> None:
    """Finishes a removal that a kill interrupted."""
    if rule_file.load(workspace.home).unfinished:
        rules = rule_file.load(workspace.home, workspace.keys)
        remove(workspace, rules, select(workspace, rules.rules))


def _mark_unread(home: Path, source: str) -> None:
    """Marks the units of a source as unread and drops hidden ones: the next sync reads both again."""
    units = unit_state.load(home, source)
    visible = {path: state for path, state in units.items() if not path.startswith(unit_state.HIDDEN)}
    finished = {path: state for path, state in visible.items() if state.reader != unit_state.UNFINISHED}
    unread = {path: replace(state, reader="") for path, state in finished.items()}
    unit_state.save(home, source, visible | unread)


def undo(workspace: Workspace, number: int) -> ErasureRule:
    """Withdraws a rule and returns it: the next sync reads again the records that the exports still hold.

    Raises ForgettingError if there is no such rule.
    """
    home, keys = workspace.home, workspace.keys
    rules = rule_file.load(home, keys)
    removed = next((rule for rule in rules.rules if rule.number == number), None)
    if removed is None:
        numbers = ", ".join(str(rule.number) for rule in rules.rules) or "none"
        raise ForgettingError(f"there is no rule {number}; rules: {numbers} (`relrag forget --list`)")
    for source in lake.sources(home):
        _mark_unread(home, source)
    mirrored_items.release(workspace)
    shared_rules.withdraw(home, removed, keys)
    remaining = [rule for rule in rules.rules if rule.number != number]
    rule_file.save(home, replace(rules, rules=remaining), keys)
    return removed


def _remove_from_source(workspace: Workspace, source: str, chosen: ErasureSelection, matcher: RuleMatcher) -> None:
    """Removes the selected records of a source; the months last, because a resumed removal selects from them."""
    home, touched = workspace.home, dict(chosen.months.get(source, {}))
    if matcher.reads_texts:
        every = {source: lake.manifest(home, "private_records", source)}
        touched |= {
            month: 0
            for _, month, table in private_months(workspace, every)
            if month not in touched and mail_quotes.quoting_mails(table, matcher)
        }
    locations: set[str] = set()
    rows_by_month: dict[str, Counter[str]] = {}
    for _, month, table in private_months(workspace, {source: touched}):
        going = chosen.rows(source, table)
        locations.update(pc.list_flatten(table["locations"].filter(going)).to_pylist())
        rows_by_month[month] = Counter(table["unit"].filter(pc.invert(going)).to_pylist())
    _forget_units(workspace, source, locations, rows_by_month, matcher)
    if any(state.reader == unit_state.UNFINISHED for state in unit_state.load(home, source).values()):
        # their months wait for a sync; until then the lake must not hold any removed record
        lake.drop_derived(home, source, touched)

    def make(month: str) -> tuple[pa.Table, InputFingerprint | None]:
        table = lake.read(home, "private_records", source, month)
        rows = mail_quotes.cut_quotations(table.filter(pc.invert(chosen.rows(source, table))), matcher, workspace.keys)
        return rows, InputFingerprint("", 0, "") if rows.num_rows else None

    # after a kill between two months, some are not in the manifest: they are added again
    if months := sorted(touched.keys() | lake.unlisted_months(home, source)):
        lake.write(home, "private_records", source, months, map(make, months))


def _remove_raw_items(workspace: Workspace, source: str, matcher: RuleMatcher) -> None:
    """Removes items of a source that were not read to their end and that the rules name."""
    zone = workspace.zone(source)
    for file in quarantine.list_items(workspace.home, source, workspace.keys):
        if raw_items.matches_rules(matcher, file.read_bytes(), zone):
            file.unlink()


def _forget_units(
    workspace: Workspace, source: str, locations: set[str], rows_by_month: dict[str, Counter[str]], matcher: RuleMatcher
) -> None:
    """Brings the units and failures of a source in step; `rows_by_month` are the rows of touched months by unit."""
    home, states = workspace.home, unit_state.load(workspace.home, source)
    configured = [setting for setting in workspace.settings.sources if setting.name == source]
    one_record = any(KINDS[setting.kind].one_record_per_unit for setting in configured)
    hidden = set()
    for path, state in states.items():
        months = _remaining_months(path, state, rows_by_month)
        may_be_empty = one_record and path in locations
        if matcher.names(path) or (not months and (state.months or may_be_empty)):
            hidden.add(path)
        states[path] = replace(state, months=months)
    keyed = workspace.keys.id_hash
    hidden_states = {path: unit_state.hide_unit(states[path], keyed) for path in states if path in hidden}
    unit_state.save(home, source, states | hidden_states)
    quarantine.drop_units(home, source, workspace.keys, hidden)
    quarantine.erase(home, source, workspace.keys, locations)
    if matcher:
        _remove_raw_items(workspace, source, matcher)
    touched = locations.union(location.rpartition("#")[0] for location in locations)
    mirrored_items.purge(workspace, source, matcher, hidden | (touched & states.keys()))
    _forget_failures(home, source, hidden, locations, matcher)


def _remaining_months(path: str, state: UnitState, rows_by_month: dict[str, Counter[str]]) -> list[UnitMonth]:
    """The months of a unit that still have rows."""
    months = []
    for month in state.months:
        rows = rows_by_month[month.month][path] if month.month in rows_by_month else month.rows
        if rows:
            months.append(UnitMonth(month.month, rows, month.hash))
    return months


def _forget_failures(home: Path, source: str, hidden: set[str], locations: set[str], matcher: RuleMatcher) -> None:
    """Removes the failures of hidden units and of forgotten records, and those that a rule matches."""
    failures = unit_state.load_failures(home, source)
    remaining = [
        failure
        for failure in failures
        if failure.unit not in hidden
        and failure.location not in locations
        and not matcher.names(f"{failure.unit} {failure.location} {failure.message}")
    ]
    if remaining != failures:
        unit_state.save_failures(home, source, remaining)


def _clean_up(home: Path) -> None:
    """Removes leftovers of killed writers: temporary files and an unfinished generation."""
    generations.discard(home)
    shutil.rmtree(home / "private" / "spill", ignore_errors=True)
    paths = [*home.glob(".*.tmp")]
    for part in (home / name for name in ("private", "lake", "published", graph_indexes.FOLDER)):
        # a reader that opens a generation meanwhile makes and removes folders there
        paths += [part / file_name for file_name in atomic.files(part) if PurePosixPath(file_name).match(".*.tmp")]
    for path in paths:
        path.unlink(missing_ok=True)
