"""What a generation would add is searched for values that were replaced, and rows that hold one are left out.

The lake is searched before the generation is built: a row that holds what it may not is taken out of its table, what
is made of that is made again, and a record that goes so is a failure. What was built is then searched as well, with
Dagster's events and logs. Only what is new since the current generation is read; records that are not are
searched for the values that became known since.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from relrag_pipelines.files import atomic
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.pii import leaked_records
from relrag_pipelines.pii.known_values import KnownValues
from relrag_pipelines.publishing import build_info, event_database, leak_scan, searched_values
from relrag_pipelines.publishing.leak_scan import Leak, LeakScan
from relrag_pipelines.records import Failure, to_table
from relrag_pipelines.stages import monthly, whole_archive
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.leak_rules import LeakRules
from relrag_pipelines.stores import archive_tables, catalog, evaluation_history, generations, lake, vault
from relrag_pipelines.workspace import Workspace

_ROUNDS = 5
"""a row that goes can leave another one that holds a value: so often at most"""
_MONTHLY = (*dict.fromkeys(stage.table for stage in monthly.STAGES), "failures")
EVENTS, _EVENT_LOGS = "dagster/history/event_log.db", "event_logs"
"""Dagster's database of events, and the table in it that only grows"""
_ON_SERVER = "events on a server"
"""their mark among those of the next search; a database of another kind counts anew"""
_FIRST = ("lake/records/", "lake/identifiers/", "lake/failures/")
"""of what the lake holds by month, from which all else is made"""
_BEFORE = "records/when redacted"
"""records that still held a value of their own month"""
_AGAIN = 200
"""of its rows, the last ones are read once more: several processes write them"""


@dataclass
class Withheld:
    """What a search for replaced values found, in figures."""

    files: int = 0
    taken_out: Counter[str] = field(default_factory=Counter)
    """rows that were left out, by table and entity"""
    left: Counter[str] = field(default_factory=Counter)
    """finds that stay, in what holds no record: nothing can be left out there"""
    unread: int = 0

    def counts(self) -> dict[str, int]:
        """Figures alone, by table and entity: what keeps them may outlive the records."""
        found = {f"{name}/{what}": count for name, of in self._by_kind() for what, count in sorted(of.items())}
        totals = {name: sum(of.values()) for name, of in self._by_kind()}
        return {"files": self.files, "unread": self.unread, **totals, **found}

    def _by_kind(self) -> list[tuple[str, Counter[str]]]:
        return [("withheld", self.taken_out), ("left", self.left)]

    def saw(self, seen: LeakScan, taken_out: Collection[Leak] = ()) -> None:
        """Counts what a scan read, and of its finds those that were taken out."""
        self.files += seen.files
        self.unread += len(seen.unread)
        self.taken_out.update(f"{one.table}/{one.entity}" for one in taken_out)

    def leaves(self, leaks: Iterable[Leak]) -> None:
        """Counts finds that stay."""
        self.left.update(f"{one.table}/{one.entity}" for one in leaks)

    def __str__(self) -> str:
        """A sentence for whoever syncs; empty where all is well."""
        said = []
        if rows := sum(self.taken_out.values()):
            held = "1 row still held a value that was replaced elsewhere and was" if rows == 1 else ""
            held = held or f"{rows} rows still held values that were replaced elsewhere and were"
            said.append(f"{held} left out; `relrag status --failures` names the records")
        if self.left or self.unread:
            said.append("`relrag verify --pii` names files that hold such a value, or could not be read")
        return "; ".join(said)


class Search:
    """The search of one publish: first `clean_lake`, and when the generation is built `look_at_build`."""

    def __init__(self, workspace: Workspace) -> None:
        """Raises VaultError where the values cannot be read."""
        self._workspace, self._rules = workspace, LeakRules(workspace)
        self._before = build_info.of_current(workspace.home).get("scanned", {})
        self.found = Withheld()

    def clean_lake(self) -> None:
        """Takes out of the lake, of what is new in it, each row that holds a value, and makes again what follows."""
        if not self._rules.known:
            (self._workspace.home / searched_values.NAME).unlink(missing_ok=True)
            return
        known = self._before.get("lake", {})
        self.found.taken_out.update(self._left_out_before(known))
        self._search_older(known)
        for _ in range(_ROUNDS):
            there = _outputs(self._workspace)
            seen = self._scan(name for name, output in there.items() if known.get(name) != output)
            self.found.saw(seen, _take_out(self._workspace, seen.leaks) if seen.leaks else ())
            if not seen.leaks:
                return
            known = there
        self.found.leaves(self._scan(_outputs(self._workspace)).leaks)

    def _search_older(self, known: Mapping[str, str]) -> None:
        """Looks in what did not change, and from which all else is made, for values that are new."""
        home = self._workspace.home
        there = vault.names(home)
        new = searched_values.since_then(home, there)
        older = [name for name, output in _outputs(self._workspace).items() if known.get(name) == output]
        first = [name for name in older if name.startswith(_FIRST)]
        if new and first:
            seen = self._scan(first, LeakRules(self._workspace, new))
            taken = _take_out(self._workspace, seen.leaks) if seen.leaks else ()
            self.found.saw(seen, taken)
            stay = set(seen.leaks) - set(taken)
            self.found.leaves(stay)
            if seen.unread or stay:
                return  # so that the next sync looks again
        searched_values.note(home, there)

    def _left_out_before(self, known: Mapping[str, str]) -> Counter[str]:
        """Records of months that are new which were left out when their month was redacted."""
        home, new = self._workspace.home, set(_outputs(self._workspace).items()) - known.items()
        failures = (name for name, _ in new if name.startswith("lake/failures/"))
        faults = Counter(fault for name in failures for fault in _faults(home / name))
        return Counter({_BEFORE: faults[leaked_records.FAULT]} if faults[leaked_records.FAULT] else {})

    def look_at_build(self) -> None:
        """Searches the catalog that was built, the evaluations, and what is new in Dagster's files."""
        if self._rules.known:
            seen = self._scan(self._beside_lake())
            self.found.saw(seen)
            self.found.leaves(seen.leaks)

    @property
    def _in_database(self) -> bool:
        return self._workspace.settings.dagster_storage == "postgres"

    @property
    def known(self) -> KnownValues:
        """The values that are looked for."""
        return self._rules.known

    def marks(self) -> dict[str, Any]:
        """What the next search need not read again, once this one is done."""
        if not self._rules.known:
            return {}
        if self._in_database:
            mark, events = _ON_SERVER, event_database.last_row(_EVENT_LOGS)
        else:
            mark, events = "events", leak_scan.last_row(self._workspace.home / EVENTS, _EVENT_LOGS)
        return {"lake": _outputs(self._workspace), mark: max(0, events - _AGAIN)}

    def _scan(self, names: Iterable[str], rules: LeakRules | None = None) -> LeakScan:
        marks = {EVENTS: "events", event_database.NAME: _ON_SERVER}
        since = {name: {_EVENT_LOGS: self._before.get(mark, 0)} for name, mark in marks.items()}
        return leak_scan.scan(self._workspace, rules or self._rules, names, since=since)

    def _beside_lake(self) -> Iterator[str]:
        home = self._workspace.home
        yield (generations.build_folder(home) / catalog.NAME).relative_to(home).as_posix()
        yield evaluation_history.NAME
        if self._in_database:
            yield event_database.NAME
        published = _mtime(home / "published" / str(generations.current_number(home)) / build_info.NAME)
        for name in atomic.files(home / "dagster"):
            if _mtime(home / "dagster" / name) >= published:
                yield f"dagster/{name}"


def _mtime(path: Path) -> float:
    """When a file was written; 0 for one that is gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0


def _faults(failures: Path) -> list[str]:
    return pq.read_table(failures, columns=["fault"], partitioning=None)["fault"].to_pylist()  # type: ignore[no-any-return]


def _outputs(workspace: Workspace) -> dict[str, str]:
    """The hash of each file of the lake that a generation is made from, by its name within the home."""
    home, months = workspace.home, {}
    for source in workspace.settings.sources:
        for table in _MONTHLY:
            for month, entry in lake.manifest(home, table, source.name).items():
                if entry.rows:
                    months[lake.month_path(home, table, source.name, month)] = entry.output
    for table in archive_tables.NAMES:
        if (held := archive_tables.entry(home, table)) and held.rows:
            months[archive_tables.path(home, table)] = held.output
    return {path.relative_to(home).as_posix(): output for path, output in months.items()}


def _take_out(workspace: Workspace, leaks: Collection[Leak]) -> list[Leak]:
    """Takes rows out of the lake, and makes again what is made of their tables; returns which were taken out.

    Of a month these are the rows of one table: those of tables that are made of it may hold nothing then.
    """
    months: dict[tuple[str, str], dict[str, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    tables: dict[str, set[int]] = defaultdict(set)
    for leak in leaks:
        _, table, *place = leak.path.split("/")
        if table in archive_tables.NAMES:
            tables[table].add(leak.row)
        else:
            months[place[0], place[1].removesuffix(".parquet")][table][leak.row] = leak.record
    changed = {f"lake/{table}/{archive_tables.FILE}" for table in tables}
    for (source, month), found in sorted(months.items()):
        taken = _take_out_of_month(workspace, source, month, found)
        changed |= {f"lake/{table}/{source}/{month}.parquet" for table in taken}
    for table, rows in tables.items():
        _take_out_of_table(workspace, table, rows)
    surveys = [plans.inspect_source(workspace, source) for source in workspace.settings.sources]
    for stale in plans.stale_stages(plans.inspect_archive(workspace), surveys, ()):
        whole_archive.run(workspace, whole_archive.stage_named(stale.stage))
    return [leak for leak in leaks if leak.path in changed]


def _take_out_of_month(
    workspace: Workspace, source: str, month: str, found: Mapping[str, Mapping[int, str]]
) -> list[str]:
    """Makes again what is made of a table that loses rows; returns the tables that lost some."""
    home, changed, taken = workspace.home, set[str](), []
    if rows := found.get("failures"):
        kept = _drop_rows(lake.read(home, "failures", source, month), rows)
        stamp = lake.manifest(home, "failures", source)[month].stamp
        lake.write(home, "failures", source, [month], [(kept, stamp)])
        taken.append("failures")
    for stage in monthly.STAGES:
        if changed & {*stage.inputs}:
            monthly.run(workspace, workspace.settings.source(source), stage, [month])
            changed.add(stage.table)
        elif rows := found.get(stage.table):
            kept = _drop_rows(lake.read(home, stage.table, source, month), rows)
            stamp = lake.manifest(home, stage.table, source)[month].stamp
            # first, so that no kill between the two makes a record vanish without a word
            _keep_failures(workspace, source, month, rows.values(), stamp)
            failpoint("withheld.failures", lake.month_path(home, stage.table, source, month))
            lake.write(home, stage.table, source, [month], [(kept, stamp)])
            changed.add(stage.table)
            taken.append(stage.table)
    return taken


def _keep_failures(
    workspace: Workspace, source: str, month: str, records: Iterable[str], stamp: lake.InputFingerprint
) -> None:
    """Adds a failure for each of these records to those of the month.

    Meanwhile the month's records are not listed: after a kill they are redacted again, which tells all failures anew.
    """
    before = lake.read(workspace.home, "failures", source, month)
    told = {row["location"] for row in before.to_pylist() if row["fault"] == leaked_records.FAULT}
    rows = [
        Failure(one, leaked_records.FAULT, leaked_records.MEANING, source)
        for one in dict.fromkeys(records)
        if one not in told
    ]
    if not rows:
        return
    listed = lake.manifest(workspace.home, "records", source)
    unlisted = {name: entry for name, entry in listed.items() if name != month}
    lake.write_manifest(workspace.home, "records", source, unlisted)
    after = pa.concat_tables([before, to_table(rows, Failure)])
    lake.write(workspace.home, "failures", source, [month], [(after, stamp)])
    lake.write_manifest(workspace.home, "records", source, listed)


def _take_out_of_table(workspace: Workspace, table: str, rows: Collection[int]) -> None:
    """A person stays, without a name: other tables know the person by number."""
    held, entry = archive_tables.read(workspace.home, table), archive_tables.entry(workspace.home, table)
    assert entry
    if table == "persons":
        names = pc.if_else(pa.array(_mask(held, rows)), held["name"], "")
        kept = held.set_column(held.schema.get_field_index("name"), held.schema.field("name"), names)
    else:
        kept = _drop_rows(held, rows)
    archive_tables.write(workspace.home, {table: kept}, entry.stamp)


def _drop_rows(table: pa.Table, rows: Collection[int]) -> pa.Table:
    return table.filter(pa.array(_mask(table, rows)))


def _mask(table: pa.Table, rows: Collection[int]) -> list[bool]:
    return [row not in rows for row in range(table.num_rows)]
