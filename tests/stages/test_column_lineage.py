"""What is declared of columns is what happens: a changed input column changes no column that does not name it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from relrag_pipelines.records import TABLES
from relrag_pipelines.settings import Source
from relrag_pipelines.stages import column_lineage
from relrag_pipelines.stages.month_stages import STAGES, Stage
from relrag_pipelines.stores import lake
from relrag_pipelines.stores.table_schema import columns
from relrag_pipelines.workspace import Workspace
from tests import archive

MONTHS = {"chat": "2024-01", "papers": "2024-01", "notes": "2024-02"}
_OF_ROWS = {"asset_id", "chunk_id", "rag_source_type"}
"""choose and order the rows, so that every column changes with them"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return archive.first_sync(archive.make(tmp_path_factory.mktemp("lineage")))


def stage(name: str) -> Stage:
    return next(one for one in STAGES if one.name == name)


def changed(column: pa.ChunkedArray, row_type: pa.DataType) -> pa.Array:
    """The column with other values."""
    return pa.array([_other(value, row_type) for value in column.to_pylist()], row_type)


def _other(value: Any, kind: pa.DataType) -> Any:
    if isinstance(value, list):
        return [_other(one, kind.value_type) for one in value]
    if isinstance(value, str):
        return value if value.startswith("{") else f"{value} changed"
    return value + 1 if type(value) in (int, float) else value


def outputs(workspace: Workspace, source: Source, made: Stage, tables: list[pa.Table]) -> dict[str, list[Any]]:
    table = made.make(workspace, source, tables).table
    return {name: table[name].to_pylist() for name in table.column_names}


@pytest.mark.parametrize("source", MONTHS)
@pytest.mark.parametrize("name", ["redacted", "identifiers", "chunks", "edges"])
def test_a_column_changes_only_with_those_that_it_names(workspace: Workspace, name: str, source: str) -> None:
    made, settings = stage(name), workspace.settings.source(source)
    tables = [lake.read(workspace.home, table, source, MONTHS[source]) for table in made.inputs]
    declared, former = column_lineage.sources_of(made), outputs(workspace, settings, made, tables)
    for position, (table_name, table) in enumerate(zip(made.inputs, tables, strict=True)):
        for index, column in enumerate(table.column_names):
            if column in _OF_ROWS:
                continue
            other = table.set_column(index, column, changed(table[column], table.schema.field(column).type))
            later = outputs(workspace, settings, made, [*tables[:position], other, *tables[position + 1 :]])
            differing = {output for output in former if former[output] != later[output]}
            undeclared = {output for output in differing if (table_name, column) not in declared[output]}
            assert not undeclared, f"{table_name}.{column}"


@pytest.mark.parametrize("made", STAGES, ids=lambda made: made.name)
def test_every_column_that_is_named_exists(made: Stage) -> None:
    own = {column.name for column in columns(TABLES[made.table].row)}
    declared = column_lineage.sources_of(made)
    assert declared.keys() == own
    for inputs in declared.values():
        for table, column in inputs:
            assert table in made.inputs
            assert column in {one.name for one in columns(TABLES[table].row)}, f"{table}.{column}"
    assert column_lineage.COMPUTED.get(made.table, {}).keys() <= own
