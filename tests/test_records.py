"""The declared tables: Arrow schema, DuckDB DDL, docs and rows say the same."""

import dataclasses
import re

import duckdb
import pyarrow as pa
import pytest

from relrag_pipelines import records
from relrag_pipelines.records import (
    TABLES,
    Edge,
    Embedding,
    Failure,
    NamedPerson,
    Page,
    PrivateRecord,
    Record,
    Table,
    UnitMonth,
    UnitState,
    arrow_schema,
    columns,
    ddl,
    to_table,
)

every_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)

SQL_TO_ARROW = {"VARCHAR": pa.string(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_()}


@pytest.fixture
def database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


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
def test_duckdb_gets_the_columns_and_types_of_the_arrow_schema(
    table: Table, database: duckdb.DuckDBPyConnection
) -> None:
    for statement in ddl(table):
        database.execute(statement)
    described = database.execute(f"DESCRIBE {table.name}").fetchall()
    schema = arrow_schema(table.row)
    assert [name for name, *_ in described] == schema.names
    for (_, kind, null, *_), declared in zip(described, schema, strict=True):
        assert null == ("YES" if declared.nullable else "NO")
        if kind in SQL_TO_ARROW:
            assert SQL_TO_ARROW[kind] == declared.type
        else:
            assert kind.endswith("[]")
            assert pa.types.is_list(declared.type)
    database.register("empty", schema.empty_table())
    database.execute(f"INSERT INTO {table.name} BY NAME SELECT * FROM empty")


@every_table
@pytest.mark.requirement("S0-11")
def test_the_statements_can_be_run_again(table: Table, database: duckdb.DuckDBPyConnection) -> None:
    for statement in [*ddl(table), *ddl(table)]:
        database.execute(statement)
    made = database.execute("SELECT index_name FROM duckdb_indexes() ORDER BY 1").fetchall()
    assert [name for (name,) in made] == sorted([*table.indexes, f"key_{table.name}"])


@every_table
def test_docs_name_every_field_with_its_meaning(table: Table) -> None:
    section = records.markdown().split(f"## {table.name}\n")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `([a-z_]+)` \| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE)
    assert [(name, meaning) for name, _, meaning in documented] == [
        (column.name, column.meaning) for column in columns(table.row)
    ]
    assert [kind.endswith(" or null") for _, kind, _ in documented] == [c.nullable for c in columns(table.row)]


@every_table
def test_a_row_of_defaults_fits_its_schema(table: Table) -> None:
    filler = {"str": "x", "int": 1, "float": 0.5, "bool": True}
    needed = {
        declared.name: filler.get(str(declared.type).split("[")[1].split(",")[0], [])
        for declared in dataclasses.fields(table.row)
        if declared.default is dataclasses.MISSING and declared.default_factory is dataclasses.MISSING
    }
    made = to_table([table.row(**needed)], table.row)
    assert made.cast(arrow_schema(table.row)).num_rows == 1


@pytest.mark.requirement("S0-10", "S0-11")
def test_the_edge_table_is_unique_on_source_destination_and_type(database: duckdb.DuckDBPyConnection) -> None:
    assert ddl(TABLES["asset_asset_edges"]) == [
        'CREATE TABLE IF NOT EXISTS asset_asset_edges ("src_asset_ref" VARCHAR NOT NULL, '
        '"dst_asset_ref" VARCHAR NOT NULL, "relation_type" VARCHAR NOT NULL, "confidence" DOUBLE NOT NULL, '
        '"provenance" VARCHAR NOT NULL)',
        "CREATE UNIQUE INDEX IF NOT EXISTS key_asset_asset_edges ON asset_asset_edges "
        '("src_asset_ref", "dst_asset_ref", "relation_type")',
        'CREATE INDEX IF NOT EXISTS idx_aae_src ON asset_asset_edges ("src_asset_ref")',
        'CREATE INDEX IF NOT EXISTS idx_aae_dst ON asset_asset_edges ("dst_asset_ref")',
        'CREATE INDEX IF NOT EXISTS idx_aae_type ON asset_asset_edges ("relation_type")',
    ]
    for statement in ddl(TABLES["asset_asset_edges"], ("created_at TIMESTAMP",)):
        database.execute(statement)
    database.register("rows", to_table([Edge("a", "b", "reply_to"), Edge("a", "b", "thread_member")], Edge))
    database.execute("INSERT INTO asset_asset_edges BY NAME SELECT * FROM rows")
    with pytest.raises(duckdb.ConstraintException):
        database.execute("INSERT INTO asset_asset_edges BY NAME SELECT * FROM rows LIMIT 1")


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


def test_a_record_keeps_all_it_holds() -> None:
    record = PrivateRecord(
        "m1",
        "שלום\nworld",
        from_="Dana <dana@example.org>",
        to=["a", "b"],
        ts=-1,
        pages=[Page(1, 0, 4), Page(2, 5, 10)],
        people=[NamedPerson("sender", "Dana", 42), NamedPerson("mentioned", "Mia")],
        extra={"z": [1, None], "a": {"b": "ž"}},
        unit="chats/x.txt",
    )
    (row,) = to_table([record], PrivateRecord).to_pylist()
    assert row["from"] == "Dana <dana@example.org>"
    assert "from_" not in row
    assert row["text"] == "שלום\nworld"
    assert (row["to"], row["ts"], row["subject"]) == (["a", "b"], -1, None)
    assert row["pages"] == [{"number": 1, "start": 0, "end": 4}, {"number": 2, "start": 5, "end": 10}]
    assert row["people"] == [
        {"role": "sender", "name": "Dana", "person_id": 42},
        {"role": "mentioned", "name": "Mia", "person_id": None},
    ]
    assert row["extra"] == '{"a":{"b":"ž"},"z":[1,null]}'
    assert row["unit"] == "chats/x.txt"


def test_a_private_record_is_a_record_and_its_unit() -> None:
    assert arrow_schema(PrivateRecord).names == [*arrow_schema(Record).names, "unit"]


def test_other_rows_keep_what_they_hold() -> None:
    unit = UnitState("a.txt", 3, 4, "ff", "r", [UnitMonth("2024-01", 2, "h")])
    assert to_table([unit], UnitState).to_pylist() == [dataclasses.asdict(unit)]
    vector = Embedding("c", "h", "m", [0.5, -1.0])
    assert to_table([vector], Embedding).to_pylist() == [dataclasses.asdict(vector)]
    failure = Failure("line 2", "no_json", "why", "notes", "n.jsonl", True)
    assert to_table([failure], Failure).to_pylist() == [dataclasses.asdict(failure)]
    assert to_table([], Edge).schema == arrow_schema(Edge)


def test_a_missing_value_is_refused_where_one_is_needed() -> None:
    rows = pa.table({"term": pa.array([None], pa.string()), "documents": pa.array([1])})
    with pytest.raises(ValueError, match="non-nullable"):
        rows.cast(arrow_schema(TABLES["terms"].row))
