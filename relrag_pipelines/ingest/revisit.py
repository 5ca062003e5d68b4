"""Finds records to read again or to drop although their file is unchanged: by its date, or by what newer files say.

A record with a time in the future is stored in the first month until then; a date that comes from the file's own time
follows that; and a record of a retained file that is missing gives way to the same one in an existing file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from relrag_pipelines.records import UnitState
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, mail_ids
from relrag_pipelines.stores import lake


def units_with_due_records(home: Path, source: str, first: str, last: str) -> set[str]:
    """Units with records that were in the future when read, or seemed so by a slow clock, and whose month has begun."""
    outside = [("date_quality", "==", "outside")]
    rows = _columns(home, source, first, ["unit", "timestamp", "date_quality"], outside)
    return set(rows["unit"].filter(_month_has_begun(rows, first, last)).unique().to_pylist())


def mark_due_records_exact(rows: pa.Table, units: pa.Array, first: str, last: str) -> pa.Table:
    """The rows of the first month; records of these units that are no longer in the future are marked as exact.

    They were in the future when they were read, and their units cannot say how exact their times are.
    """
    begun = pc.and_(_month_has_begun(rows, first, last), pc.is_in(rows["unit"], units))
    column = rows.schema.get_field_index("date_quality")
    return rows.set_column(column, rows.schema.field(column), pc.if_else(begun, "exact", rows["date_quality"]))


def _month_has_begun(rows: pa.Table, first: str, last: str) -> pa.ChunkedArray:
    months = pc.fill_null(pc.utf8_slice_codeunits(rows["timestamp"], 0, 7), "")
    within = pc.and_(pc.greater_equal(months, first), pc.less_equal(months, last))
    return pc.and_(within, pc.equal(rows["date_quality"], "outside"))


def units_dated_by_mtime(home: Path, source: str, states: Collection[UnitState]) -> set[str]:
    """Those of the units with a record dated by its file, perhaps outside all months."""
    paths_by_mtime: set[str] = set()
    paths = pa.array([state.path for state in states], pa.string())
    by_file = [("date_quality", "in", ["modified", "outside"])]
    for month in sorted({month.month for state in states for month in state.months}):
        units = _columns(home, source, month, ["unit"], by_file)["unit"]
        paths_by_mtime.update(units.filter(pc.is_in(units, paths)).unique().to_pylist())
    return paths_by_mtime


def superseded_records(
    home: Path,
    source: Source,
    states: Mapping[str, UnitState],
    missing: set[str],
    new: pa.ChunkedArray,
    *,
    all_months: bool,
) -> dict[str, pa.Array]:
    """Month -> asset_ids of its records that both a missing file and an existing one contain.

    Existing ones are searched in `new`, the ids that are read now, and with `all_months` in all stored records.
    """
    units = pa.array(sorted(missing), pa.string())
    ids_by_month = {month: _ids(home, source, month, units) for month in _months(states, missing)}
    missing_ids = pa.array(
        sorted({record_id for ids in ids_by_month.values() for record_id in ids["as_read"].to_pylist()}), pa.string()
    )
    existing = [*new.filter(pc.is_in(new, missing_ids)).chunks]
    for month in lake.manifest(home, "private_records", source.name) if all_months and len(missing_ids) else ():
        ids = _ids(home, source, month, units, invert=True)["as_read"]
        existing += ids.filter(pc.is_in(ids, missing_ids)).chunks
    existing_ids = pa.chunked_array([[], *existing], pa.string()).combine_chunks()
    superseded = {month: ids.filter(pc.is_in(ids["as_read"], existing_ids)) for month, ids in ids_by_month.items()}
    return {month: ids["asset_id"].combine_chunks() for month, ids in superseded.items() if ids.num_rows}


def under_ids_as_read(source: Source, records: pa.Table) -> pa.Table:
    """A source's private records under the ids that they were read under: those of mails may have changed since."""
    if not KINDS[source.kind].threads:
        return records
    ids = pa.array(mail_ids.ids_as_read(records), pa.string())
    return records.set_column(records.schema.get_field_index("asset_id"), "asset_id", ids)


def _months(states: Mapping[str, UnitState], paths: Collection[str]) -> list[str]:
    return sorted({month.month for path in paths for month in states[path].months})


def _ids(home: Path, source: Source, month: str, units: pa.Array, *, invert: bool = False) -> pa.Table:
    """The ids of the records of these units, or of all others: `asset_id`, and `as_read`, the id without suffixes."""
    rows = _columns(home, source.name, month, ["asset_id", "unit", "extra"])
    is_of_units = pc.is_in(rows["unit"], units)
    as_read = under_ids_as_read(source, rows)["asset_id"]
    return rows.append_column("as_read", as_read).filter(pc.invert(is_of_units) if invert else is_of_units)


def _columns(home: Path, source: str, month: str, names: list[str], filters: Any = None) -> pa.Table:
    """Columns of a private month; empty if it is missing, damaged, or lacks them."""
    path = lake.month_path(home, "private_records", source, month)
    try:
        return pq.read_table(path, columns=names, filters=filters, partitioning=None)
    except (pa.ArrowException, OSError):  # what is wrong with it is said where it is needed
        return pa.table({name: pa.array([], pa.string()) for name in names})
