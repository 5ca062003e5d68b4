"""Removes rows that hold a replaced value from the lake, and makes again what depends on them."""

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


def remove_rows(workspace: Workspace, leaks: Collection[Leak]) -> list[Leak]:
    """Removes rows from the lake and makes again what depends on their tables; returns the leaks that are gone.

    Of a month, rows of one table are removed: the tables that are made from it may then hold no leak any more.
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
        taken = _remove_from_month(workspace, source, month, found)
        changed |= {f"lake/{table}/{source}/{month}.parquet" for table in taken}
    for table, rows in tables.items():
        _remove_from_table(workspace, table, rows)
    surveys = [plans.inspect_source(workspace, source) for source in workspace.settings.sources]
    for stale in plans.stale_stages(plans.inspect_archive(workspace), surveys, ()):
        whole_archive.run(workspace, whole_archive.stage_named(stale.stage, workspace.settings))
    return [leak for leak in leaks if leak.path in changed]


def _remove_from_month(
    workspace: Workspace, source: str, month: str, found: Mapping[str, Mapping[int, str]]
) -> list[str]:
    """Removes rows of a month and makes again what depends on them; returns the tables whose rows were removed."""
    home, changed, taken = workspace.home, set[str](), []
    if rows := found.get("failures"):
        kept = _drop_rows(lake.read(home, "failures", source, month), rows)
        stamp = lake.manifest(home, "failures", source)[month].stamp
        lake.write(home, "failures", source, [month], [(kept, stamp)])
        taken.append("failures")
    for stage in month_stages.STAGES:
        if changed & {*stage.inputs}:
            month_stages.run(workspace, workspace.settings.source(source), stage, [month])
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


def _remove_from_table(workspace: Workspace, table: str, rows: Collection[int]) -> None:
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
