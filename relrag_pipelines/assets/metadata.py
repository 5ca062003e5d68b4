"""Metadata of assets: counts, bytes, seconds and hashes. Never text: Dagster's event log is plain SQLite."""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from relrag_pipelines.records import TABLES
from relrag_pipelines.stages.empty_months import is_empty
from relrag_pipelines.stores.lake import ManifestEntry
from relrag_pipelines.stores.table_schema import columns


def column_schema(table: str) -> dict[str, dg.TableSchema]:
    """A table's columns, for an asset's definition (as event metadata they would cost 22 KB an event)."""
    described = [
        dg.TableColumn(
            column.name,
            str(column.type),
            description=column.meaning,
            constraints=dg.TableColumnConstraints(nullable=column.nullable),
        )
        for column in columns(TABLES[table].row)
    ]
    return {"dagster/column_schema": dg.TableSchema(columns=described)}


EMPTY = "empty"
"""metadata of a month without rows"""


def month_metadata(entry: ManifestEntry | None, counts: Mapping[str, float]) -> dict[str, Any]:
    """Metadata of one month: rows, bytes, the hash of its file and what making it took; of an empty one that it is."""
    figures = {"dagster/row_count": entry.rows if entry else 0, **counts}
    if entry is None or is_empty(entry):
        return {**figures, EMPTY: True}
    return {**figures, "bytes": entry.bytes, "hash": entry.output}


def table_metadata(entry: ManifestEntry, seconds: float) -> dict[str, dg.MetadataValue]:
    """Metadata of a written table of the whole archive: rows, bytes, seconds, and the hash of its file."""
    return {
        "dagster/row_count": dg.MetadataValue.int(entry.rows),
        "bytes": dg.MetadataValue.int(entry.bytes),
        "seconds": dg.MetadataValue.float(round(seconds, 3)),
        "hash": dg.MetadataValue.text(entry.output),
    }
