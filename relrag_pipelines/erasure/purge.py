"""Removes what the rules name: from the private records, the units and failures, what else private/ keeps about
records, and what is left of killed writers.

The lake and the published generation follow from the private records, as after any deletion. A store that this does
not reach is named by the search of every file that ends a `relrag forget`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.erasure import (
    fingerprints,
    mail_quotes,
    people,
    raw_items,
    rule_file,
    rule_matching,
    sidecars,
    word_hashes,
)
from relrag_pipelines.erasure.rule_file import ErasureRule, ErasureRules, ForgettingError
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.files import atomic
from relrag_pipelines.records import UnitMonth
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores import archive_tables, generations, graph_indexes, lake, quarantine, unit_state
from relrag_pipelines.stores.lake import InputFingerprint
from relrag_pipelines.workspace import Workspace


@dataclass
class Selection:
    """The records that rules name."""

    sources: set[str] = field(default_factory=set)
    """sources that go as a whole"""
    ids: set[str] = field(default_factory=set)
    """asset_ids of the records that go, wherever they are held"""
    parts: set[str] = field(default_factory=set)
    """those of them that no rule names, but which are part of one that goes"""
    months: dict[str, dict[str, int]] = field(default_factory=dict)
    """source -> month -> how many rows of it go"""
    nowhere: set[str] = field(default_factory=set)
    """asset_ids of which no row is left"""
    native_ids: set[tuple[str, str]] = field(default_factory=set)
    """their sources and native ids there"""
    said: word_hashes.Hashes = field(default_factory=word_hashes.empty)
    """what the mails among them say, by which quotations of them are found; not the phrases that others use as well"""
    repeating: dict[str, int] = field(default_factory=dict)
    """asset_ids of records that stay and say the same in their own text -> how many words in a row"""
    marks: set[str] = field(default_factory=set)
    """by which they are known again; not those that a record that stays has as well"""
    hints: set[str] = field(default_factory=set)
    """the same of those that something else may have as well"""
    copies: set[str] = field(default_factory=set)
    """asset_ids of records that stay and are the same file or message"""

    def count(self, source: str) -> int:
        """How many rows of that source go."""
        return sum(self.months.get(source, {}).values())

    def rows(self, source: str, table: pa.Table) -> pa.Array:
        """Which of a month's private records go."""
        whole = source in self.sources
        return pa.array([whole or one in self.ids for one in table["asset_id"].to_pylist()], pa.bool_())


def select(workspace: Workspace, rules: Iterable[ErasureRule]) -> Selection:
    """Finds what the rules name in the private records of all sources, and the parts of it; changes nothing."""
    rules = list(rules)
    chosen, matcher = Selection({rule.source for rule in rules if rule.source}), RuleMatcher(rules, workspace.keys)
    parts: dict[str, list[str]] = {}
    for source, _, table in private(workspace):
        if source not in chosen.sources:
            matcher.rows(table, chosen.ids)
            contained = table.filter(pc.is_valid(table["index_in_parent"])).select(["parent_asset_id", "asset_id"])
            for parent, part in zip(*(contained[name].to_pylist() for name in contained.schema.names), strict=True):
                parts.setdefault(parent, []).append(part)
    waiting = list(chosen.ids)
    while waiting:
        for part in parts.get(waiting.pop(), ()):
            if part not in chosen.ids:
                chosen.ids.add(part)
                chosen.parts.add(part)
                waiting.append(part)
    _count(workspace, chosen)
    _record_fingerprints(workspace, chosen)
    _record_quotes(workspace, chosen)
    return chosen


def quoting(workspace: Workspace, rule: ErasureRule, chosen: Selection) -> list[str]:
    """asset_ids of the mails that stay and quote what goes by that rule; changes nothing."""
    matcher, found = RuleMatcher([replace(rule, said=word_hashes.encode(chosen.said))], workspace.keys), set[str]()
    for source, _, table in private(workspace) if len(chosen.said) else ():
        staying = table.filter(pc.invert(chosen.rows(source, table)))
        found.update(record.asset_id for record in mail_quotes.quoting_mails(staying, matcher).values())
    return sorted(found)


def with_attachments(rule: ErasureRule, chosen: Selection, workspace: Workspace) -> ErasureRule:
    """The rule with the ids of all that it does not tell by itself, so that none of it comes back."""
    keys, ids = workspace.keys, set(rule.ids)
    ids |= {rule_matching.keyed_id(one, keys) for one in chosen.parts}
    if rule.what in ("records", "person"):
        # another file may hold the same record without what told it here, such as a folder's name
        ids |= {rule_matching.keyed_id(one, keys) for one in chosen.ids} | chosen.marks
        rule = replace(rule, hints=sorted(chosen.hints), said=word_hashes.encode(chosen.said))
    return replace(rule, ids=sorted(ids), records=sum(map(chosen.count, chosen.months)))


def remove(workspace: Workspace, rules: ErasureRules, chosen: Selection) -> None:
    """Takes the chosen records out of private/, and sweeps what killed writers left; the rules count as carried out."""
    people.remove_statements(workspace, chosen.nowhere, RuleMatcher(rules.rules, workspace.keys))
    sidecars.remove_from_sidecars(
        workspace.home, chosen.nowhere, chosen.native_ids, RuleMatcher(rules.rules, workspace.keys)
    )
    for source in sorted(lake.sources(workspace.home)):
        if source in chosen.sources:
            lake.remove(workspace.home, source)
        else:
            _remove_from(workspace, source, chosen, RuleMatcher(rules.rules, workspace.keys))
    # they are made of all months, and may keep nothing of what goes even where they cannot be made again
    archive_tables.drop(workspace.home)
    graph_indexes.drop(workspace.home)
    _clean_up(workspace.home)
    rule_file.save(workspace.home, replace(rules, unfinished=False), workspace.keys)


def resume(workspace: Workspace) -> None:
    """Goes on with what a kill interrupted."""
    if rule_file.load(workspace.home).unfinished:
        rules = rule_file.load(workspace.home, workspace.keys)
        remove(workspace, rules, select(workspace, rules.rules))


def undo(workspace: Workspace, number: int) -> ErasureRule:
    """Takes a rule back and returns it: the next sync reads again what the exports still hold.

    Raises ForgettingError where there is no such rule.
    """
    home, keys = workspace.home, workspace.keys
    rules = rule_file.load(home, keys)
    taken = next((rule for rule in rules.rules if rule.number == number), None)
    if taken is None:
        known = ", ".join(str(rule.number) for rule in rules.rules) or "none"
        raise ForgettingError(f"there is no rule {number}; rules: {known} (`relrag forget --list`)")
    for source in lake.sources(home):
        known_units = unit_state.load(home, source)
        read = {path: state for path, state in known_units.items() if not path.startswith(unit_state.HIDDEN)}
        again = {
            path: replace(state, reader="" if state.reader != unit_state.UNFINISHED else state.reader)
            for path, state in read.items()
        }
        unit_state.save(home, source, again)
    left = [rule for rule in rules.rules if rule.number != number]
    rule_file.save(home, replace(rules, rules=left), keys)
    return taken


def private(
    workspace: Workspace, only: Mapping[str, Collection[str]] | None = None
) -> Iterator[tuple[str, str, pa.Table]]:
    """Every month of private records that is stored, or `only` some by source: source, month, rows.

    Raises ForgettingError where one cannot be read.
    """
    for source in sorted(lake.sources(workspace.home)):
        for path in sorted(lake.folder(workspace.home, "private_records", source).glob("*.parquet")):
            if only is not None and path.stem not in only.get(source, ()):
                continue
            try:
                yield source, path.stem, lake.read(workspace.home, "private_records", source, path.stem)
            except (pa.ArrowException, OSError):
                what = path.relative_to(workspace.home).as_posix()
                raise ForgettingError(f"{what} cannot be read; run `relrag sync --full` first") from None


def selected_rows(workspace: Workspace, chosen: Selection) -> Iterator[pa.Table]:
    """The chosen records themselves, month by month."""
    for source, _, table in private(workspace, chosen.months):
        yield table.filter(chosen.rows(source, table))


def _count(workspace: Workspace, chosen: Selection) -> None:
    held: set[str] = set()
    for source, month, table in private(workspace):
        rows = chosen.rows(source, table)
        going = table.filter(rows)
        if chosen.sources:
            held.update(table["asset_id"].filter(pc.invert(rows)).to_pylist())
        if going.num_rows:
            chosen.months.setdefault(source, {})[month] = going.num_rows
            chosen.nowhere.update(going["asset_id"].to_pylist())
            chosen.native_ids.update((source, one) for one in going["source_id"].to_pylist())
    chosen.nowhere -= held


def _record_fingerprints(workspace: Workspace, chosen: Selection) -> None:
    """Notes by what the chosen are known again, and which records that stay are the same: an attachment, saved."""
    for going in selected_rows(workspace, chosen):
        for mark in fingerprints.fingerprints(going, workspace.keys):
            (chosen.marks if mark.sure else chosen.hints).add(mark.hash)
    wanted, kept = chosen.marks | chosen.hints, set[str]()
    for source, _, table in private(workspace) if wanted else ():
        staying = table.filter(pc.invert(chosen.rows(source, table)))
        for mark in fingerprints.fingerprints(staying, workspace.keys):
            if mark.hash in wanted:
                kept.add(mark.hash)
                if mark.telling:
                    chosen.copies.add(staying["asset_id"][mark.row].as_py())
    chosen.marks -= kept
    chosen.hints -= kept


def _record_quotes(workspace: Workspace, chosen: Selection) -> None:
    """Notes what the chosen mails say, and who else does: a phrase is everybody's, a longer stretch is said again.

    What a mail that stays says itself is its own, wherever it is quoted: the chosen one may pass it on, or be its copy.
    """
    words = word_hashes.WordHasher(workspace.keys.id_hash)
    going = _united(
        mail_quotes.own_shingles(some.filter(mail_quotes.is_mail(some)), words)
        for some in selected_rows(workspace, chosen)
    )
    if not len(going.runs) and not len(going.lines):
        return
    others, everyday = [word_hashes.empty()], np.zeros(len(going.pieces), dtype=bool)
    for source, _, table in private(workspace):
        staying = table.filter(pc.invert(chosen.rows(source, table)))
        for again in mail_quotes.shared_shingles(staying, going, words):
            everyday[again.pieces] = True
            for asset_id, longest, runs in again.records:
                if longest >= mail_quotes.SAID_AGAIN:
                    chosen.repeating[asset_id] = longest
                else:
                    others.append(runs)
        copies = pc.is_in(staying["asset_id"], pa.array(chosen.repeating, pa.string()))
        others += mail_quotes.own_shingles(
            staying.filter(pc.and_(copies, mail_quotes.is_mail(staying))), words, passing_on=False
        )[:3]
    own = [going.runs, going.lines, going.pieces[~everyday], word_hashes.as_shared(going.pieces[everyday]), going.edges]
    not_own = np.concatenate(others)
    chosen.said = np.setdiff1d(np.concatenate(own), np.concatenate([not_own, word_hashes.as_shared(not_own)]))


def _united(some: Iterable[mail_quotes.Said]) -> mail_quotes.Said:
    parts = zip(mail_quotes.Said(*[word_hashes.empty()] * 4), *some, strict=True)
    return mail_quotes.Said(*(np.unique(np.concatenate(part)) for part in parts))


def _remove_from(workspace: Workspace, source: str, chosen: Selection, matcher: RuleMatcher) -> None:
    """The months themselves go last: after a kill, what they still hold tells what else has to go."""
    home, touched = workspace.home, dict(chosen.months.get(source, {}))
    if matcher.of_texts:
        every = {source: lake.manifest(home, "private_records", source)}
        touched |= {
            month: 0
            for _, month, table in private(workspace, every)
            if month not in touched and mail_quotes.quoting_mails(table, matcher)
        }
    places: set[str] = set()
    left: dict[str, Counter[str]] = {}
    for _, month, table in private(workspace, {source: touched}):
        going = chosen.rows(source, table)
        places.update(pc.list_flatten(table["locations"].filter(going)).to_pylist())
        left[month] = Counter(table["unit"].filter(pc.invert(going)).to_pylist())
    _forget_units(workspace, source, places, left, matcher)
    if any(state.reader == unit_state.UNFINISHED for state in unit_state.load(home, source).values()):
        # their months wait for a sync; until then nothing of what goes may stand in the lake
        lake.drop_derived(home, source, touched)

    def make(month: str) -> tuple[pa.Table, InputFingerprint | None]:
        table = lake.read(home, "private_records", source, month)
        rows = mail_quotes.cut_quotations(table.filter(pc.invert(chosen.rows(source, table))), matcher, workspace.keys)
        return rows, InputFingerprint("", 0, "") if rows.num_rows else None

    # a kill between two months leaves some without an entry: they get it back
    if months := sorted(touched.keys() | lake.unlisted_months(home, source)):
        lake.write(home, "private_records", source, months, map(make, months))


def _forget_units(
    workspace: Workspace, source: str, places: set[str], left: dict[str, Counter[str]], matcher: RuleMatcher
) -> None:
    """Brings the units and failures of a source in step; `left` are the rows of touched months by unit."""
    home, states = workspace.home, unit_state.load(workspace.home, source)
    one_record = any(one.name == source and KINDS[one.kind].one_record_per_unit for one in workspace.settings.sources)
    hidden = set()
    for path, state in states.items():
        counted = [(month, left[month.month][path] if month.month in left else month.rows) for month in state.months]
        months = [UnitMonth(month.month, rows, month.hash) for month, rows in counted if rows]
        emptied = bool(state.months) and not months
        if emptied or (one_record and path in places and not months) or matcher.names(path):
            hidden.add(path)
        states[path] = replace(state, months=months)
    keyed = workspace.keys.id_hash
    unit_state.save(
        home,
        source,
        {path: unit_state.hide_unit(one, keyed) if path in hidden else one for path, one in states.items()},
    )
    quarantine.drop_units(home, source, workspace.keys, hidden)
    quarantine.erase(home, source, workspace.keys, places)
    zone = workspace.zone(source)
    for file in quarantine.list_items(home, source, workspace.keys) if matcher else ():
        if raw_items.matches_rules(matcher, file.read_bytes(), zone):
            file.unlink()
    failures = unit_state.load_failures(home, source)
    kept = [
        one
        for one in failures
        if one.unit not in hidden
        and one.location not in places
        and not matcher.names(f"{one.unit} {one.location} {one.message}")
    ]
    if kept != failures:
        unit_state.save_failures(home, source, kept)


def _clean_up(home: Path) -> None:
    """What killed writers left behind: files that were never put in place, and a generation that was never finished."""
    generations.discard(home)
    shutil.rmtree(home / "private" / "spill", ignore_errors=True)
    left = [*home.glob(".*.tmp")]
    for part in (home / name for name in ("private", "lake", "published", graph_indexes.FOLDER)):
        # a reader that opens a generation meanwhile makes and removes folders there
        left += [part / one for one in atomic.files(part) if PurePosixPath(one).match(".*.tmp")]
    for path in left:
        path.unlink(missing_ok=True)
