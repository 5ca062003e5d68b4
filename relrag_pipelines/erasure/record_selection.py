"""Selects the private records that rules of erasure name; changes nothing."""

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
"""inode, bytes, and when it was written"""
FileStates = dict[Path, FileState]
_MOST_IN_MEMORY = 100_000_000
"""bytes of months"""
_IN_MEMORY: ContextVar[dict[Path, tuple[FileState, pa.Table]] | None] = ContextVar("months_in_memory", default=None)


@dataclass
class ErasureSelection:
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
    ids_as_read: dict[str, str] = field(default_factory=dict)
    """of mails that go, and of their parts: asset_id -> the id that their file gives them"""
    shared_ids: set[str] = field(default_factory=set)
    """of `ids` Message-IDs that a mail which stays bears as well"""
    native_ids: set[tuple[str, str]] = field(default_factory=set)
    """their sources and native ids there"""
    text_hashes: word_hashes.Hashes = field(default_factory=word_hashes.empty)
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


def select(workspace: Workspace, rules: Iterable[ErasureRule]) -> ErasureSelection:
    """Finds what the rules name in the private records of all sources, and the parts of it; changes nothing."""
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
    """asset_ids of the mails that stay and quote what goes by that rule; changes nothing."""
    matcher, found = (
        RuleMatcher([replace(rule, said=word_hashes.encode(chosen.text_hashes))], workspace.keys, workspace.regions),
        set[str](),
    )
    for source, _, table in private_months(workspace) if len(chosen.text_hashes) else ():
        staying = table.filter(pc.invert(chosen.rows(source, table)))
        found.update(record.asset_id for record in mail_quotes.quoting_mails(staying, matcher).values())
    return sorted(found)


def complete_rule(rule: ErasureRule, chosen: ErasureSelection, workspace: Workspace) -> ErasureRule:
    """The rule with the ids of all that it does not tell by itself, so that none of it comes back."""
    keys, ids = workspace.keys, set(rule.ids)
    names = chosen.parts
    if rule.what in ("records", "person"):
        # another file may hold the same record without what told it here, such as a folder's name
        names, ids = chosen.ids, ids | chosen.marks
        rule = replace(rule, hints=sorted(chosen.hints), said=word_hashes.encode(chosen.text_hashes))
    as_read = {chosen.ids_as_read[one] for one in names if one in chosen.ids_as_read}
    ids |= {rule_matching.keyed_id(one, keys) for one in names | as_read}
    single = sorted(rule_matching.keyed_id(one, keys) for one in chosen.shared_ids)
    return replace(rule, ids=sorted(ids), single_mails=single, records=sum(map(chosen.count, chosen.months)))


def private_months(
    workspace: Workspace, only: Mapping[str, Collection[str]] | None = None
) -> Iterator[tuple[str, str, pa.Table]]:
    """Every month of private records that is stored, or `only` some by source: source, month, rows.

    Raises ForgettingError where one cannot be read.
    """
    for source, path in _month_paths(workspace):
        if only is not None and path.stem not in only.get(source, ()):
            continue
        try:
            yield source, path.stem, _rows(workspace, source, path)
        except (pa.ArrowException, OSError):
            what = path.relative_to(workspace.home).as_posix()
            raise ForgettingError(f"{what} cannot be read; run `relrag sync --full` first") from None


def month_files(workspace: Workspace) -> FileStates:
    """The state of each file that `private_months` reads: equal states have equal rows."""
    return {path: _file_state(path) for _, path in _month_paths(workspace)}


@contextmanager
def months_in_memory() -> Iterator[None]:
    """Within it, `private_months` reads a month again only where its file has changed; small months only.

    A forget goes through all of them a dozen times, and opening a small file takes longer than anything done with it.
    """
    token = _IN_MEMORY.set({})
    try:
        yield
    finally:
        _IN_MEMORY.reset(token)


def _month_paths(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    for source in sorted(lake.sources(workspace.home)):
        for path in sorted(lake.folder(workspace.home, "private_records", source).glob("*.parquet")):
            yield source, path


def _rows(workspace: Workspace, source: str, path: Path) -> pa.Table:
    months = _IN_MEMORY.get()
    state = _file_state(path) if months is not None else None
    if months and path in months and months[path][0] == state:
        return months[path][1]
    rows = lake.read(workspace.home, "private_records", source, path.stem)
    if months is not None and state is not None:
        months.pop(path, None)
        if sum(held.nbytes for _, held in months.values()) + rows.nbytes <= _MOST_IN_MEMORY:
            months[path] = state, rows
    return rows


def _file_state(path: Path) -> FileState:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def selected_rows(workspace: Workspace, chosen: ErasureSelection) -> Iterator[pa.Table]:
    """The chosen records themselves, month by month."""
    for source, _, table in private_months(workspace, chosen.months):
        yield table.filter(chosen.rows(source, table))


def _count(workspace: Workspace, chosen: ErasureSelection) -> None:
    held: set[str] = set()
    for source, month, table in private_months(workspace):
        rows = chosen.rows(source, table)
        going = table.filter(rows)
        if chosen.sources:
            held.update(table["asset_id"].filter(pc.invert(rows)).to_pylist())
        if going.num_rows:
            chosen.months.setdefault(source, {})[month] = going.num_rows
            chosen.nowhere.update(going["asset_id"].to_pylist())
            chosen.native_ids.update((source, one) for one in going["source_id"].to_pylist())
            as_read = zip(going["asset_id"].to_pylist(), mail_ids.ids_as_read(going), strict=True)
            chosen.ids_as_read.update((name, one) for name, one in as_read if mail_ids.plain_id(one) != one)
    chosen.nowhere -= held


def _find_shared_ids(workspace: Workspace, chosen: ErasureSelection) -> None:
    """Notes which Message-IDs of the chosen a mail that stays bears as well."""
    plain = {one for one in chosen.ids_as_read if mail_ids.plain_id(one) == one}
    if not plain:
        return
    wanted = pa.array(sorted(plain), pa.string())
    for source, _, table in private_months(workspace):
        staying = mail_ids.plain_ids(table["asset_id"].filter(pc.invert(chosen.rows(source, table))))
        chosen.shared_ids.update(staying.filter(pc.is_in(staying, wanted)).to_pylist())


def _record_fingerprints(workspace: Workspace, chosen: ErasureSelection) -> None:
    """Notes by what the chosen are known again, and which records that stay are the same: an attachment, saved."""
    for going in selected_rows(workspace, chosen):
        for mark in record_fingerprints.fingerprints(going, workspace.keys):
            (chosen.marks if mark.sure else chosen.hints).add(mark.hash)
    wanted, kept = chosen.marks | chosen.hints, set[str]()
    for source, _, table in private_months(workspace) if wanted else ():
        staying = table.filter(pc.invert(chosen.rows(source, table)))
        for mark in record_fingerprints.fingerprints(staying, workspace.keys):
            if mark.hash in wanted:
                kept.add(mark.hash)
                if mark.telling:
                    chosen.copies.add(staying["asset_id"][mark.row].as_py())
    chosen.marks -= kept
    chosen.hints -= kept


def _record_quotes(workspace: Workspace, chosen: ErasureSelection) -> None:
    """Notes what the chosen mails say, and who else does: a phrase is everybody's, a longer stretch is said again.

    What a mail that stays says itself is its own, wherever it is quoted: the chosen one may pass it on, or be its copy.
    """
    words = word_hashes.WordHasher(workspace.keys.id_hash)
    going = _union(
        mail_quotes.own_shingles(some.filter(mail_quotes.is_mail(some)), words)
        for some in selected_rows(workspace, chosen)
    )
    if not len(going.runs) and not len(going.lines):
        return
    others, everyday = [word_hashes.empty()], np.zeros(len(going.pieces), dtype=bool)
    for source, _, table in private_months(workspace):
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
    own = [
        going.runs,
        going.lines,
        going.pieces[~everyday],
        word_hashes.mark_shared(going.pieces[everyday]),
        going.edges,
    ]
    not_own = np.concatenate(others)
    chosen.text_hashes = np.setdiff1d(np.concatenate(own), np.concatenate([not_own, word_hashes.mark_shared(not_own)]))


def _union(some: Iterable[mail_quotes.OwnShingles]) -> mail_quotes.OwnShingles:
    parts = zip(mail_quotes.OwnShingles(*[word_hashes.empty()] * 4), *some, strict=True)
    return mail_quotes.OwnShingles(*(np.unique(np.concatenate(part)) for part in parts))
