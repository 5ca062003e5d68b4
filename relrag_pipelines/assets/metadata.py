"""Metadata of assets: counts, bytes, seconds and hashes. Never text: Dagster's event log is plain SQLite."""

import dagster as dg

from relrag_pipelines.records import TABLES
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.stores.lake import Manifest, ManifestEntry
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


def output_metadata(entries: Manifest, seconds: float) -> dict[str, dg.MetadataValue]:
    """Metadata of written months: rows, bytes, months, seconds, and a hash of the content."""
    return {
        "dagster/row_count": dg.MetadataValue.int(sum(entry.rows for entry in entries.values())),
        "bytes": dg.MetadataValue.int(sum(entry.bytes for entry in entries.values())),
        "months": dg.MetadataValue.int(len(entries)),
        "seconds": dg.MetadataValue.float(round(seconds, 3)),
        "hash": dg.MetadataValue.text(fingerprint([[month, entry.output] for month, entry in sorted(entries.items())])),
    }


def table_metadata(entry: ManifestEntry, seconds: float) -> dict[str, dg.MetadataValue]:
    """Metadata of a written table of the whole archive: rows, bytes, seconds, and the hash of its file."""
    return {
        "dagster/row_count": dg.MetadataValue.int(entry.rows),
        "bytes": dg.MetadataValue.int(entry.bytes),
        "seconds": dg.MetadataValue.float(round(seconds, 3)),
        "hash": dg.MetadataValue.text(entry.output),
    }
