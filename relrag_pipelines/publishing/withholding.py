"""Searches what a generation would add for values that were replaced, and leaves out rows that hold one.

The lake is searched before the generation is built: a row that holds what it may not is taken out of its table, what
is made of that is made again, and a record that goes so is a failure. What was built is then searched as well, with
Dagster's events and logs. Only what is new since the current generation is read; records that are not are
searched for the values that became known since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from relrag_pipelines.files import atomic
from relrag_pipelines.pii import leaked_records
from relrag_pipelines.pii.known_values import KnownValues
from relrag_pipelines.publishing import build_info, event_database, leak_scan
from relrag_pipelines.publishing.leak_scan import LeakScan
from relrag_pipelines.publishing.row_removal import remove_rows
from relrag_pipelines.publishing.withholding_report import WithholdingReport
from relrag_pipelines.stages import month_stages
from relrag_pipelines.stages.leak_rules import LeakRules
from relrag_pipelines.stores import (
    archive_tables,
    catalog,
    evaluation_history,
    generations,
    lake,
    parquet_file,
    searched_values,
    vault,
)
from relrag_pipelines.workspace import Workspace

_ROUNDS = 5
"""a row that goes can leave another one that holds a value: so often at most"""
_MONTHLY = (*dict.fromkeys(stage.table for stage in month_stages.STAGES), "failures")
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


class LeakSearch:
    """The search of one publish: first `clean_lake`, and when the generation is built `look_at_build`."""

    def __init__(self, workspace: Workspace) -> None:
        """Raises VaultError where the values cannot be read."""
        self._workspace, self._rules = workspace, LeakRules(workspace)
        self._before = build_info.of_current(workspace.home).get("scanned", {})
        self._searched: set[str] = set()
        """files of the lake that hold none of the values"""
        self.found = WithholdingReport()

    def clean_lake(self) -> None:
        """Takes out of the lake, of what is new in it, each row that holds a value, and makes again what follows."""
        if not self._rules.known:
            (self._workspace.home / searched_values.NAME).unlink(missing_ok=True)
            return
        known = self._before.get("lake", {})
        self.found.removals.update(self._count_earlier_omissions(known))
        self._search_older(known)
        for _ in range(_ROUNDS):
            there = _outputs(self._workspace)
            seen = self._scan(name for name, output in there.items() if known.get(name) != output)
            self.found.count_scan(seen, remove_rows(self._workspace, seen.leaks) if seen.leaks else ())
            if not seen.leaks:
                return
            known = there
        self.found.count_remainder(self._scan(_outputs(self._workspace)).leaks)

    def _search_older(self, known: Mapping[str, str]) -> None:
        """Looks in what did not change, and from which all else is made, for values that are new."""
        home = self._workspace.home
        there = vault.names(home)
        new = searched_values.unsearched_values(home, there)
        older = [name for name, output in _outputs(self._workspace).items() if known.get(name) == output]
        first = [name for name in older if name.startswith(_FIRST)]
        if new and first:
            seen = self._scan(first, LeakRules(self._workspace, new))
            taken = remove_rows(self._workspace, seen.leaks) if seen.leaks else ()
            self.found.count_scan(seen, taken)
            stay = set(seen.leaks) - set(taken)
            self.found.count_remainder(stay)
            if seen.unread or stay:
                searched_values.note_unfinished(home)
                return
        searched_values.note(home, there)

    def _count_earlier_omissions(self, known: Mapping[str, str]) -> Counter[str]:
        """Records of months that are new which were left out when their month was redacted."""
        home, new = self._workspace.home, set(_outputs(self._workspace).items()) - known.items()
        failures = (name for name, _ in new if name.startswith("lake/failures/"))
        faults = Counter(fault for name in failures for fault in _faults(home / name))
        return Counter({_BEFORE: faults[leaked_records.FAULT]} if faults[leaked_records.FAULT] else {})

    def look_at_build(self) -> None:
        """Searches the catalog that was built, the evaluations, and what is new in Dagster's files.

        Of the catalog it leaves out the rows of months and tables that `clean_lake` searched just before: they are the
        same. What the catalog adds to them, such as edges across sources, is searched.
        """
        if self._rules.known:
            seen = self._scan(self._beside_lake())
            self.found.count_scan(seen)
            self.found.count_remainder(seen.leaks)

    @property
    def _in_database(self) -> bool:
        return self._workspace.settings.dagster_storage == "postgres"

    @property
    def known_values(self) -> KnownValues:
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
        names = list(names)
        seen = leak_scan.scan(self._workspace, rules or self._rules, names, since=since, searched=self._searched)
        if not rules and not seen.unread:
            self._searched |= {name for name in names if name.startswith("lake/")} - {leak.path for leak in seen.leaks}
        return seen

    def _beside_lake(self) -> Iterator[str]:
        home = self._workspace.home
        yield (generations.build_folder(home) / catalog.NAME).relative_to(home).as_posix()
        yield evaluation_history.NAME
        if self._in_database:
            yield event_database.NAME
        published = _mtime(home / "published" / str(generations.current_number(home)) / build_info.NAME)
        for journal in (home / "dagster").rglob("*.db-wal"):
            leak_scan.empty_journal(journal)
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
    return parquet_file.read(failures, ["fault"])["fault"].to_pylist()  # type: ignore[no-any-return]


def _outputs(workspace: Workspace) -> dict[str, str]:
    """The hash of each file of the lake that a generation is made from, by its name within the home."""
    home, outputs = workspace.home, {}
    for source in workspace.settings.sources:
        for table in _MONTHLY:
            entries = lake.manifest(home, table, source.name)
            for month, path in lake.month_files(home, table, source.name).items():
                outputs[path] = entries[month].output
    for table in archive_tables.NAMES:
        if (held := archive_tables.entry(home, table)) and held.rows:
            outputs[archive_tables.path(home, table)] = held.output
    return {path.relative_to(home).as_posix(): output for path, output in outputs.items()}
