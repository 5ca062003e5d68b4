"""Searches the new rows of a generation for replaced values, and leaves out rows that hold one.

The lake is searched before the build: a row that holds such a value is removed, its dependent tables are rebuilt, and
a removed record becomes a failure. Then the build is searched, with Dagster's events and logs. Only files that are new
since the current generation are read; older records are searched for values that are new in the vault.
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

_MAX_ROUNDS = 5
"""removing a row can bring out another that holds a value; the search repeats at most this often"""
_MONTHLY = (*dict.fromkeys(stage.table for stage in month_stages.STAGES), "failures")
EVENTS, _EVENT_LOGS = "dagster/history/event_log.db", "event_logs"
"""Dagster's event database, and its append-only table"""
_SERVER_MARK = "events on a server"
"""key of the server's row number in `marks`; after a change of database the search starts at 0"""
_SOURCE_TABLES = ("lake/records/", "lake/identifiers/", "lake/failures/")
"""monthly tables from which all others are derived"""
_EARLIER_OMISSIONS = "records/when redacted"
"""kind of records left out because they still held a value when their month was redacted"""
_REREAD_ROWS = 200
"""the last rows of the event log are read twice, because several processes write them"""


class LeakSearch:
    """The search of one publish: first `clean_lake`, then, after the build, `scan_build`."""

    def __init__(self, workspace: Workspace) -> None:
        """Raises VaultError if the values cannot be read."""
        self._workspace, self._rules = workspace, LeakRules(workspace)
        self._former_marks = build_info.read_current(workspace.home).get("scanned", {})
        self._searched: set[str] = set()
        """lake files without any of the values"""
        self.report = WithholdingReport()

    def clean_lake(self) -> None:
        """Removes each row that holds a value from the new files of the lake, and rebuilds the dependent tables."""
        if not self._rules.known:
            (self._workspace.home / searched_values.NAME).unlink(missing_ok=True)
            return
        searched = self._former_marks.get("lake", {})
        self.report.removals.update(self._count_earlier_omissions(searched))
        self._search_older(searched)
        for _ in range(_MAX_ROUNDS):
            outputs = _outputs(self._workspace)
            result = self._scan(name for name, output in outputs.items() if searched.get(name) != output)
            self.report.count_scan(result, remove_rows(self._workspace, result.leaks) if result.leaks else ())
            if not result.leaks:
                return
            searched = outputs
        self.report.count_remainder(self._scan(_outputs(self._workspace)).leaks)

    def _search_older(self, searched: Mapping[str, str]) -> None:
        """Searches the unchanged source tables for values that are new in the vault."""
        home = self._workspace.home
        names = vault.names(home)
        unsearched = searched_values.unsearched_values(home, names)
        older = [name for name, output in _outputs(self._workspace).items() if searched.get(name) == output]
        source_files = [name for name in older if name.startswith(_SOURCE_TABLES)]
        if unsearched and source_files:
            result = self._scan(source_files, LeakRules(self._workspace, unsearched))
            removed = remove_rows(self._workspace, result.leaks) if result.leaks else ()
            self.report.count_scan(result, removed)
            remaining = set(result.leaks) - set(removed)
            self.report.count_remainder(remaining)
            if result.unread or remaining:
                searched_values.note_unfinished(home)
                return
        searched_values.note(home, names)

    def _count_earlier_omissions(self, searched: Mapping[str, str]) -> Counter[str]:
        """Counts records of new months that were left out when their month was redacted."""
        home, unsearched = self._workspace.home, set(_outputs(self._workspace).items()) - searched.items()
        failures = (name for name, _ in unsearched if name.startswith("lake/failures/"))
        faults = Counter(fault for name in failures for fault in _faults(home / name))
        return Counter({_EARLIER_OMISSIONS: faults[leaked_records.FAULT]} if faults[leaked_records.FAULT] else {})

    def scan_build(self) -> None:
        """Searches the new catalog, the evaluations, and the new parts of Dagster's files.

        It skips the catalog's copies of rows that `clean_lake` has just searched. Rows that only the catalog has, such
        as edges across sources, are searched.
        """
        if self._rules.known:
            result = self._scan(self._build_files())
            self.report.count_scan(result)
            self.report.count_remainder(result.leaks)

    @property
    def _events_on_server(self) -> bool:
        return self._workspace.settings.dagster_storage == "postgres"

    @property
    def known_values(self) -> KnownValues:
        """The values searched for."""
        return self._rules.known

    def marks(self) -> dict[str, Any]:
        """The files and the row number that the next search can skip."""
        if not self._rules.known:
            return {}
        if self._events_on_server:
            mark, events = _SERVER_MARK, event_database.last_row(_EVENT_LOGS)
        else:
            mark, events = "events", leak_scan.last_row(self._workspace.home / EVENTS, _EVENT_LOGS)
        return {"lake": _outputs(self._workspace), mark: max(0, events - _REREAD_ROWS)}

    def _scan(self, names: Iterable[str], rules: LeakRules | None = None) -> LeakScan:
        marks = {EVENTS: "events", event_database.NAME: _SERVER_MARK}
        since = {name: {_EVENT_LOGS: self._former_marks.get(mark, 0)} for name, mark in marks.items()}
        names = list(names)
        result = leak_scan.scan(self._workspace, rules or self._rules, names, since=since, searched=self._searched)
        if not rules and not result.unread:
            self._searched |= {name for name in names if name.startswith("lake/")} - {
                leak.path for leak in result.leaks
            }
        return result

    def _build_files(self) -> Iterator[str]:
        home = self._workspace.home
        yield (generations.build_folder(home) / catalog.NAME).relative_to(home).as_posix()
        yield evaluation_history.NAME
        if self._events_on_server:
            yield event_database.NAME
        published = _mtime(home / "published" / str(generations.current_number(home)) / build_info.NAME)
        for journal in (home / "dagster").rglob("*.db-wal"):
            leak_scan.empty_journal(journal)
        for name in atomic.files(home / "dagster"):
            if _mtime(home / "dagster" / name) >= published:
                yield f"dagster/{name}"


def _mtime(path: Path) -> float:
    """When a file was last written; 0 if it does not exist."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0


def _faults(failures: Path) -> list[str]:
    return parquet_file.read(failures, ["fault"])["fault"].to_pylist()  # type: ignore[no-any-return]


def _outputs(workspace: Workspace) -> dict[str, str]:
    """The hash of each lake file that a generation is built from, by name within the home."""
    home, outputs = workspace.home, {}
    for source in workspace.settings.sources:
        for table in _MONTHLY:
            months = lake.manifest(home, table, source.name)
            for month, path in lake.month_files(home, table, source.name).items():
                outputs[path] = months[month].output
    for table in archive_tables.NAMES:
        if (manifest := archive_tables.entry(home, table)) and manifest.rows:
            outputs[archive_tables.path(home, table)] = manifest.output
    return {path.relative_to(home).as_posix(): output for path, output in outputs.items()}
