"""The months of the lake as stages over the whole archive see them: their files, and what tells one has changed."""

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
    places = (Path(file) for file in getattr(inputs, "files", ()))
    return {f"{place.parent.name}/{place.stem}": place for place in places}


def outputs(home: Path, table: str, months: Sequence[str]) -> dict[str, str]:
    """The hash of a table's rows in each month."""
    manifests = {source: lake.manifest(home, table, source) for source in {one.split("/")[0] for one in months}}
    entries = {one: manifests[one.split("/")[0]].get(one.split("/")[1]) for one in months}
    return {month: entry.output if entry else "" for month, entry in entries.items()}


def connect(table: str, files: dict[str, Path]) -> duckdb.DuckDBPyConnection:
    """A connection with a view of that table in these months, each row with its `lake_month`."""
    connection = catalog.scratch()
    if not files:
        empty = pa.schema([*arrow_schema(TABLES[table].row), pa.field("lake_month", pa.string())]).empty_table()
        connection.register(table, empty)
        return connection
    months = pa.table({"filename": list(map(str, files.values())), "lake_month": list(files)})
    connection.register("months", months)
    read = f"read_parquet([{', '.join(map(catalog.quote, files.values()))}], filename = true)"
    # as one statement: what is put together of relations is planned at each step
    connection.execute(
        f"CREATE TEMP VIEW {table} AS SELECT * EXCLUDE (filename) FROM {read} JOIN months USING (filename)"  # noqa: S608
    )
    return connection


def previous(home: Path, tables: Iterable[str]) -> dict[str, pa.Table]:
    """What tables that one stage makes held when it last made them; nothing in any where one of them cannot be used.

    A kill may leave some of them, and of a month that is kept the rows of all have to be there.
    """
    tables = [*tables]
    try:
        if all(archive_tables.entry(home, table) for table in tables):
            return {table: archive_tables.read(home, table) for table in tables}
    except LakeError:  # they are made again, from all that there is
        pass
    return {table: arrow_schema(TABLES[table].row).empty_table() for table in tables}
