"""Removes rows that hold a replaced value from the lake, and rebuilds the tables that depend on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.pii import leaked_records
from relrag_pipelines.publishing.leak_scan import Leak
from relrag_pipelines.records import Failure
from relrag_pipelines.stages import month_stages, whole_archive
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import archive_tables, lake
from relrag_pipelines.stores.table_schema import to_table
from relrag_pipelines.workspace import Workspace


def _rows_of(leaks: Iterable[Leak]) -> tuple[dict[tuple[str, str], dict[str, dict[int, str]]], dict[str, set[int]]]:
    """The rows that leak: by source and month, table and row, with their records; and by table of the whole archive."""
    months: dict[tuple[str, str], dict[str, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    tables: dict[str, set[int]] = defaultdict(set)
    for leak in leaks:
        _, table, *parts = leak.path.split("/")
        if table in archive_tables.NAMES:
            tables[table].add(leak.row)
        else:
            months[parts[0], parts[1].removesuffix(".parquet")][table][leak.row] = leak.record
    return months, tables


def remove_rows(workspace: Workspace, leaks: Collection[Leak]) -> list[Leak]:
    """Removes rows from the lake and rebuilds the tables that depend on them; returns the removed leaks.

    A table that is rebuilt loses no rows here: after the rebuild it may hold no leak.
    """
    months, tables = _rows_of(leaks)
    changed = {f"lake/{table}/{archive_tables.FILE}" for table in tables}
    for (source, month), records in sorted(months.items()):
        cut_tables = _remove_from_month(workspace, source, month, records)
        changed |= {f"lake/{table}/{source}/{month}.parquet" for table in cut_tables}
    for table, rows in tables.items():
        _remove_from_table(workspace, table, rows)
    surveys = [plans.inspect_source(workspace, source) for source in workspace.settings.sources]
    for stale in plans.stale_stages(plans.inspect_archive(workspace), surveys, ()):
        whole_archive.run(workspace, whole_archive.stage_named(stale.stage, workspace.settings))
    return [leak for leak in leaks if leak.path in changed]


def _remove_from_month(
    workspace: Workspace, source: str, month: str, records: Mapping[str, Mapping[int, str]]
) -> list[str]:
    """Removes rows of a month and rebuilds dependent tables; returns the tables from which rows were removed."""
    home, changed, cut_tables = workspace.home, set[str](), []
    if rows := records.get("failures"):
        remaining = _drop_rows(lake.read(home, "failures", source, month), rows)
        stamp = lake.manifest(home, "failures", source)[month].stamp
        lake.write(home, "failures", source, [month], [(remaining, stamp)])
        cut_tables.append("failures")
    for stage in month_stages.STAGES:
        if changed & {*stage.inputs}:
            month_stages.run(workspace, workspace.settings.source(source), stage, [month])
            changed.add(stage.table)
        elif rows := records.get(stage.table):
            remaining = _drop_rows(lake.read(home, stage.table, source, month), rows)
            stamp = lake.manifest(home, stage.table, source)[month].stamp
            # failures first: a kill between the two writes must not lose a record silently
            _add_failures(workspace, source, month, rows.values(), stamp)
            failpoint("withheld.failures", lake.month_path(home, stage.table, source, month))
            lake.write(home, stage.table, source, [month], [(remaining, stamp)])
            changed.add(stage.table)
            cut_tables.append(stage.table)
    return cut_tables


def _add_failures(
    workspace: Workspace, source: str, month: str, records: Iterable[str], stamp: lake.InputFingerprint
) -> None:
    """Adds a failure for each of these records to the month's failures.

    Meanwhile the manifest does not list the month's records: after a kill they are redacted again, and all failures are
    written again.
    """
    stored = lake.read(workspace.home, "failures", source, month)
    reported = {row["location"] for row in stored.to_pylist() if row["fault"] == leaked_records.FAULT}
    rows = [
        Failure(record, leaked_records.FAULT, leaked_records.MEANING, source)
        for record in dict.fromkeys(records)
        if record not in reported
    ]
    if not rows:
        return
    manifest = lake.manifest(workspace.home, "records", source)
    unlisted = {name: output for name, output in manifest.items() if name != month}
    lake.write_manifest(workspace.home, "records", source, unlisted)
    extended = pa.concat_tables([stored, to_table(rows, Failure)])
    lake.write(workspace.home, "failures", source, [month], [(extended, stamp)])
    lake.write_manifest(workspace.home, "records", source, manifest)


def _remove_from_table(workspace: Workspace, table: str, rows: Collection[int]) -> None:
    """Removes rows of a table; a person keeps the row but loses the name, because other tables refer to its number."""
    current, manifest = archive_tables.read(workspace.home, table), archive_tables.entry(workspace.home, table)
    assert manifest
    if table == "persons":
        names = pc.if_else(pa.array(_mask(current, rows)), current["name"], "")
        remaining = current.set_column(current.schema.get_field_index("name"), current.schema.field("name"), names)
    else:
        remaining = _drop_rows(current, rows)
    archive_tables.write(workspace.home, {table: remaining}, manifest.stamp)


def _drop_rows(table: pa.Table, rows: Collection[int]) -> pa.Table:
    return table.filter(pa.array(_mask(table, rows)))


def _mask(table: pa.Table, rows: Collection[int]) -> list[bool]:
    return [row not in rows for row in range(table.num_rows)]
