"""The months of the lake as stages over the whole archive see them: their files and the hashes of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from relrag_pipelines.records import TABLES
from relrag_pipelines.stores import archive_tables, catalog, lake
from relrag_pipelines.stores.lake import LakeError
from relrag_pipelines.stores.table_schema import arrow_schema

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset


def month_files(inputs: Dataset) -> dict[str, Path]:
    """<source>/<YYYY-MM> -> the file of a monthly table that a stage was given."""
    paths = (Path(file) for file in getattr(inputs, "files", ()))
    return {f"{path.parent.name}/{path.stem}": path for path in paths}


def outputs(home: Path, table: str, months: Sequence[str]) -> dict[str, str]:
    """The hash of a table's rows in each month."""
    pairs = [(path, *path.split("/")) for path in months]
    manifests = {source: lake.manifest(home, table, source) for source in {source for _, source, _ in pairs}}
    entries = {path: manifests[source].get(month) for path, source, month in pairs}
    return {path: entry.output if entry else "" for path, entry in entries.items()}


def connect(table: str, files: dict[str, Path]) -> duckdb.DuckDBPyConnection:
    """A connection with a view of the table's rows in these months, each with its `lake_month`."""
    connection = catalog.scratch()
    if not files:
        empty = pa.schema([*arrow_schema(TABLES[table].row), pa.field("lake_month", pa.string())]).empty_table()
        connection.register(table, empty)
        return connection
    months = pa.table({"filename": list(map(str, files.values())), "lake_month": list(files)})
    connection.register("months", months)
    read = f"read_parquet([{', '.join(map(catalog.quote, files.values()))}], filename = true)"
    # one statement: DuckDB plans a chain of relations anew at each step
    connection.execute(
        f"CREATE TEMP VIEW {table} AS SELECT * EXCLUDE (filename) FROM {read} JOIN months USING (filename)"  # noqa: S608
    )
    return connection


def previous(home: Path, tables: Iterable[str]) -> dict[str, pa.Table]:
    """The tables of a stage as it last made them; all of them empty if one is missing or unreadable.

    A killed run may leave only some of them, and a month that is not read again needs its rows in all of them.
    """
    tables = [*tables]
    try:
        if all(archive_tables.entry(home, table) for table in tables):
            return {table: archive_tables.read(home, table) for table in tables}
    except LakeError:  # the tables are made again from all months
        pass
    return {table: arrow_schema(TABLES[table].row).empty_table() for table in tables}
