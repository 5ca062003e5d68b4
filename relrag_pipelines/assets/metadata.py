"""Metadata of assets: counts, bytes, seconds and hashes. Never text: Dagster's event log is plain SQLite."""

from collections.abc import Iterable, Mapping
from typing import Any

import dagster as dg

from relrag_pipelines.records import TABLES
from relrag_pipelines.stages import column_lineage
from relrag_pipelines.stages.empty_months import is_empty
from relrag_pipelines.stages.month_stages import ASSET_OF_TABLE, Stage
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


def stage_lineage(source: str, stage: Stage) -> dict[str, dg.TableColumnLineage]:
    """The columns that each column of a source's stage is computed from, for an asset's definition."""
    return _lineage(
        (column, dg.AssetKey([source, ASSET_OF_TABLE[table]]), name)
        for column, inputs in column_lineage.sources_of(stage).items()
        for table, name in inputs
    )


def catalog_lineage(sources: Iterable[str]) -> dict[str, dg.TableColumnLineage]:
    """The columns of all sources that those of the catalog's records are copied from."""
    names = [column.name for column in columns(TABLES["records"].row)]
    return _lineage((name, dg.AssetKey([source, "redacted"]), name) for name in names for source in sources)


def _lineage(dependencies: Iterable[tuple[str, dg.AssetKey, str]]) -> dict[str, dg.TableColumnLineage]:
    by_column: dict[str, list[dg.TableColumnDep]] = {}
    for column, asset, name in dependencies:
        by_column.setdefault(column, []).append(dg.TableColumnDep(asset, name))
    return {"dagster/column_lineage": dg.TableColumnLineage(by_column)}


EMPTY = "empty"
"""metadata of a month without rows"""


def month_metadata(entry: ManifestEntry | None, counts: Mapping[str, float]) -> dict[str, Any]:
    """Metadata of one month: rows, bytes, the hash of its file and what making it took; of an empty one that it is."""
    figures = {"dagster/row_count": entry.rows if entry else 0, **counts}
    if entry is None or is_empty(entry):
        return {**figures, EMPTY: True}
    return {**figures, "bytes": entry.bytes, "hash": entry.output}


def table_metadata(entry: ManifestEntry) -> dict[str, dg.MetadataValue]:
    """Metadata of a written table of the whole archive: rows, bytes, and the hash of its file."""
    return {
        "dagster/row_count": dg.MetadataValue.int(entry.rows),
        "bytes": dg.MetadataValue.int(entry.bytes),
        "hash": dg.MetadataValue.text(entry.output),
    }
