"""Selects the private records that erasure rules name; changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.erasure import mail_quotes, record_fingerprints, rule_matching, word_hashes
from relrag_pipelines.erasure.rule_file import ErasureRule, ForgettingError
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.sources import mail_ids
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace

FileState = tuple[int, int, int]
"""inode, size in bytes, and modification time in nanoseconds"""
FileStates = dict[Path, FileState]
_MAX_BYTES_IN_MEMORY = 100_000_000
"""bytes of months"""
_CACHED_MONTHS: ContextVar[dict[Path, tuple[FileState, pa.Table]] | None] = ContextVar("months_in_memory", default=None)


@dataclass
class ErasureSelection:
    """The records that rules name."""

    sources: set[str] = field(default_factory=set)
    """sources that are removed as a whole"""
    ids: set[str] = field(default_factory=set)
    """asset_ids of the selected records"""
    parts: set[str] = field(default_factory=set)
    """asset_ids of selected records that no rule names, but which are parts of one that a rule names"""
    months: dict[str, dict[str, int]] = field(default_factory=dict)
    """source -> month -> number of selected rows"""
    nowhere: set[str] = field(default_factory=set)
    """asset_ids of the records whose rows are all removed"""
    ids_as_read: dict[str, str] = field(default_factory=dict)
    """selected mails and their parts: asset_id -> the id in their file"""
    shared_ids: set[str] = field(default_factory=set)
    """Message-IDs in `ids` that a remaining mail has too"""
    native_ids: set[tuple[str, str]] = field(default_factory=set)
    """(source, native id) of the selected records"""
    text_hashes: word_hashes.Hashes = field(default_factory=word_hashes.empty)
    """hashes of the selected mails' texts, for matching quotations; without phrases that other mails contain"""
    repeating: dict[str, int] = field(default_factory=dict)
    """asset_id of a remaining record whose own text repeats a selected mail -> length of the repetition in words"""
    marks: set[str] = field(default_factory=set)
    """fingerprints of the selected records that no remaining record has"""
    hints: set[str] = field(default_factory=set)
    """fingerprints that another record may have too"""
    copies: set[str] = field(default_factory=set)
    """asset_ids of remaining records that are the same file or message"""

    def count(self, source: str) -> int:
        """Number of selected rows of a source."""
        return sum(self.months.get(source, {}).values())

    def rows(self, source: str, table: pa.Table) -> pa.Array:
        """The selected rows of a month's private records, as a mask."""
        whole = source in self.sources
        return pa.array([whole or asset_id in self.ids for asset_id in table["asset_id"].to_pylist()], pa.bool_())


def select(workspace: Workspace, rules: Iterable[ErasureRule]) -> ErasureSelection:
    """Selects the records that the rules name, in all sources, with their parts; changes nothing."""
    rules = list(rules)
    chosen, matcher = (
        ErasureSelection({rule.source for rule in rules if rule.source}),
        RuleMatcher(rules, workspace.keys, workspace.regions),
    )
    parts: dict[str, list[str]] = {}
    for source, _, table in private_months(workspace):
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
    _find_shared_ids(workspace, chosen)
    _record_fingerprints(workspace, chosen)
    _record_quotes(workspace, chosen)
    return chosen


def mails_quoting_selection(workspace: Workspace, rule: ErasureRule, chosen: ErasureSelection) -> list[str]:
    """asset_ids of the remaining mails that quote a record of that rule; changes nothing."""
    matcher, quoting = (
        RuleMatcher([replace(rule, said=word_hashes.encode(chosen.text_hashes))], workspace.keys, workspace.regions),
        set[str](),
    )
    for source, _, table in private_months(workspace) if len(chosen.text_hashes) else ():
        staying = table.filter(pc.invert(chosen.rows(source, table)))
        quoting.update(record.asset_id for record in mail_quotes.quoting_mails(staying, matcher).values())
    return sorted(quoting)


def complete_rule(rule: ErasureRule, chosen: ErasureSelection, workspace: Workspace) -> ErasureRule:
    """The rule with the ids of selected records that it does not match by itself, so that none comes back."""
    keys, ids = workspace.keys, set(rule.ids)
    asset_ids = chosen.parts
    if rule.what in ("records", "person"):
        # another file may hold the same record without the words that matched here, such as a folder's name
        asset_ids, ids = chosen.ids, ids | chosen.marks
        rule = replace(rule, hints=sorted(chosen.hints), said=word_hashes.encode(chosen.text_hashes))
    as_read = {chosen.ids_as_read[asset_id] for asset_id in asset_ids if asset_id in chosen.ids_as_read}
    ids |= {rule_matching.keyed_id(asset_id, keys) for asset_id in asset_ids | as_read}
    single = sorted(rule_matching.keyed_id(asset_id, keys) for asset_id in chosen.shared_ids)
    return replace(rule, ids=sorted(ids), single_mails=single, records=sum(map(chosen.count, chosen.months)))


def private_months(
    workspace: Workspace, only: Mapping[str, Collection[str]] | None = None
) -> Iterator[tuple[str, str, pa.Table]]:
    """Yields the stored months of private records, or `only` these by source: source, month, rows.

    Raises ForgettingError if one cannot be read.
    """
    for source, path in _month_paths(workspace):
        if only is not None and path.stem not in only.get(source, ()):
            continue
        try:
            yield source, path.stem, _rows(workspace, source, path)
        except (pa.ArrowException, OSError):
            name = path.relative_to(workspace.home).as_posix()
            raise ForgettingError(f"{name} cannot be read; run `relrag sync --full` first") from None


def month_files(workspace: Workspace) -> FileStates:
    """The state of each file that `private_months` reads: equal states have equal rows."""
    return {path: _file_state(path) for _, path in _month_paths(workspace)}


@contextmanager
def months_in_memory() -> Iterator[None]:
    """While active, `private_months` caches small months and rereads one only if its file has changed.

    A forget reads all months a dozen times, and opening a small file takes longer than the work on it.
    """
    token = _CACHED_MONTHS.set({})
    try:
        yield
    finally:
        _CACHED_MONTHS.reset(token)


def _month_paths(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    for source in sorted(lake.sources(workspace.home)):
        for path in sorted(lake.folder(workspace.home, "private_records", source).glob("*.parquet")):
            yield source, path


def _rows(workspace: Workspace, source: str, path: Path) -> pa.Table:
    months = _CACHED_MONTHS.get()
    state = _file_state(path) if months is not None else None
    if months and path in months and months[path][0] == state:
        return months[path][1]
    rows = lake.read(workspace.home, "private_records", source, path.stem)
    if months is not None and state is not None:
        months.pop(path, None)
        if sum(table.nbytes for _, table in months.values()) + rows.nbytes <= _MAX_BYTES_IN_MEMORY:
            months[path] = state, rows
    return rows


def _file_state(path: Path) -> FileState:
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def selected_rows(workspace: Workspace, chosen: ErasureSelection) -> Iterator[pa.Table]:
    """Yields the selected records, month by month."""
    for source, _, table in private_months(workspace, chosen.months):
        yield table.filter(chosen.rows(source, table))


def _count(workspace: Workspace, chosen: ErasureSelection) -> None:
    remaining: set[str] = set()
    for source, month, table in private_months(workspace):
        rows = chosen.rows(source, table)
        going = table.filter(rows)
        if chosen.sources:
            remaining.update(table["asset_id"].filter(pc.invert(rows)).to_pylist())
        if going.num_rows:
            chosen.months.setdefault(source, {})[month] = going.num_rows
            chosen.nowhere.update(going["asset_id"].to_pylist())
            chosen.native_ids.update((source, native_id) for native_id in going["source_id"].to_pylist())
            as_read = zip(going["asset_id"].to_pylist(), mail_ids.ids_as_read(going), strict=True)
            chosen.ids_as_read.update(
                (name, native_id) for name, native_id in as_read if mail_ids.plain_id(native_id) != native_id
            )
    chosen.nowhere -= remaining


def _find_shared_ids(workspace: Workspace, chosen: ErasureSelection) -> None:
    """Stores the Message-IDs of selected mails that a remaining mail has too."""
    plain = {asset_id for asset_id in chosen.ids_as_read if mail_ids.plain_id(asset_id) == asset_id}
    if not plain:
        return
    message_ids = pa.array(sorted(plain), pa.string())
    for source, _, table in private_months(workspace):
        staying = mail_ids.plain_ids(table["asset_id"].filter(pc.invert(chosen.rows(source, table))))
        chosen.shared_ids.update(staying.filter(pc.is_in(staying, message_ids)).to_pylist())


def _record_fingerprints(workspace: Workspace, chosen: ErasureSelection) -> None:
    """Stores the selected records' fingerprints, and the remaining copies, such as saved attachments."""
    for going in selected_rows(workspace, chosen):
        for mark in record_fingerprints.fingerprints(going, workspace.keys):
            (chosen.marks if mark.sure else chosen.hints).add(mark.hash)
    hashes, remaining = chosen.marks | chosen.hints, set[str]()
    for source, _, table in private_months(workspace) if hashes else ():
        staying = table.filter(pc.invert(chosen.rows(source, table)))
        for mark in record_fingerprints.fingerprints(staying, workspace.keys):
            if mark.hash in hashes:
                remaining.add(mark.hash)
                if mark.telling:
                    chosen.copies.add(staying["asset_id"][mark.row].as_py())
    chosen.marks -= remaining
    chosen.hints -= remaining


def _record_quotes(workspace: Workspace, chosen: ErasureSelection) -> None:
    """Stores hashes of the selected mails' texts, and the remaining records that repeat them in a long stretch.

    The own text of a remaining mail stays wherever it is quoted: the selected mail may forward or copy it.
    """
    words = word_hashes.WordHasher(workspace.keys.id_hash)
    going = _union(
        mail_quotes.own_shingles(rows.filter(mail_quotes.is_mail(rows)), words)
        for rows in selected_rows(workspace, chosen)
    )
    if not len(going.runs) and not len(going.lines):
        return
    other_runs, is_everyday = [word_hashes.empty()], np.zeros(len(going.pieces), dtype=bool)
    for source, _, table in private_months(workspace):
        staying = table.filter(pc.invert(chosen.rows(source, table)))
        for shared in mail_quotes.shared_shingles(staying, going, words):
            is_everyday[shared.pieces] = True
            for asset_id, longest, runs in shared.records:
                if longest >= mail_quotes.MIN_REPEATED_WORDS:
                    chosen.repeating[asset_id] = longest
                else:
                    other_runs.append(runs)
        copies = pc.is_in(staying["asset_id"], pa.array(chosen.repeating, pa.string()))
        other_runs += mail_quotes.own_shingles(
            staying.filter(pc.and_(copies, mail_quotes.is_mail(staying))), words, passing_on=False
        )[:3]
    hashes = [
        going.runs,
        going.lines,
        going.pieces[~is_everyday],
        word_hashes.mark_shared(going.pieces[is_everyday]),
        going.edges,
    ]
    other_hashes = np.concatenate(other_runs)
    chosen.text_hashes = np.setdiff1d(
        np.concatenate(hashes), np.concatenate([other_hashes, word_hashes.mark_shared(other_hashes)])
    )


def _union(shingles: Iterable[mail_quotes.OwnShingles]) -> mail_quotes.OwnShingles:
    parts = zip(mail_quotes.OwnShingles(*[word_hashes.empty()] * 4), *shingles, strict=True)
    return mail_quotes.OwnShingles(*(np.unique(np.concatenate(part)) for part in parts))
