"""The declared tables: their columns, keys and indexes, and docs that name them."""

import re

import pytest

from docs import tables
from relrag_pipelines.records import TABLES, Table
from relrag_pipelines.stores.table_schema import arrow_schema, columns

every_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


@every_table
def test_every_field_has_a_type_and_a_meaning(table: Table) -> None:
    for column in columns(table.row):
        assert column.meaning and column.meaning == column.meaning.strip()
        assert "|" not in column.meaning
        assert re.fullmatch(r"[a-z][a-z_]*[a-z]", column.name)
    assert len({column.name for column in columns(table.row)}) == len(columns(table.row))


@every_table
def test_key_and_indexes_name_declared_columns(table: Table) -> None:
    declared = {column.name: column for column in columns(table.row)}
    assert table.key
    assert all(name in declared and not declared[name].nullable for name in table.key)
    assert set(table.indexes.values()) <= declared.keys()


@every_table
def test_docs_name_every_field_with_its_meaning(table: Table) -> None:
    section = tables.records().split(f"## {table.name}\n")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `([a-z_]+)` \| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE)
    assert [(name, meaning) for name, _, meaning in documented] == [
        (column.name, column.meaning) for column in columns(table.row)
    ]
    assert [kind.endswith(" or null") for _, kind, _ in documented] == [c.nullable for c in columns(table.row)]


def test_chunks_carry_the_four_linking_fields_and_an_id_of_their_own() -> None:
    names = arrow_schema(TABLES["chunks"].row).names
    assert {"asset_id", "parent_asset_id", "thread_id", "chunk_group_id", "chunk_id"} <= set(names)
    assert TABLES["chunks"].key == ("chunk_id",)


UNIVERSAL = (
    "from", "subject", "timestamp", "parent_ref", "index_in_parent", "total_siblings", "content_type", "file_name",
)  # fmt: skip


@pytest.mark.requirement("S3-5", "S3-6", "S3-7", "S3-8", "S3-9", "S3-10", "S3-11", "S3-12")
@pytest.mark.parametrize("table", ["records", "chunks"])
@pytest.mark.parametrize("name", UNIVERSAL)
def test_the_universal_fields_are_declared_and_may_be_empty(table: str, name: str) -> None:
    assert arrow_schema(TABLES[table].row).field(name).nullable
