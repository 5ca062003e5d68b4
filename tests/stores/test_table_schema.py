"""Declared rows, their Arrow schema and the tables of DuckDB say the same."""

import dataclasses
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from relrag_pipelines.records import (
    TABLES,
    Chunk,
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
)
from relrag_pipelines.stores.catalog import EXTRA_COLUMNS
from relrag_pipelines.stores.table_schema import arrow_schema, ddl, to_table

every_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)

SQL_TO_ARROW = {"VARCHAR": pa.string(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BOOLEAN": pa.bool_()}


@pytest.fixture
def database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


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
def test_a_row_of_defaults_fits_its_schema(table: Table) -> None:
    filler = {"str": "x", "int": 1, "float": 0.5, "bool": True}
    needed = {
        declared.name: filler.get(str(declared.type).split("[")[1].split(",")[0], [])
        for declared in dataclasses.fields(table.row)
        if declared.default is dataclasses.MISSING and declared.default_factory is dataclasses.MISSING
    }
    made = to_table([table.row(**needed)], table.row)
    assert made.cast(arrow_schema(table.row)).num_rows == 1


def test_the_catalog_stores_as_they_are_what_a_query_reads_by_row(tmp_path: Path) -> None:
    """Ids and titles differ from row to row: found in a compressed column, one of many costs reading what is beside it.

    Texts are compressed, and what says the same of many rows.
    """
    ids = [f"{number:05}-{'abc' * 9}" for number in range(3_000)]
    chunk = Chunk("c", "a", "a", 0, 1, "the boiler hums", "h", "s", "document", "documentation")
    rows = [replace(chunk, chunk_id=one, asset_id=one, text=f"{chunk.text} {one}") for one in ids]
    with duckdb.connect(str(tmp_path / "catalog.duckdb")) as database:
        database.execute(ddl(TABLES["chunks"])[0])
        database.register("rows", to_table(rows, Chunk))
        database.execute("INSERT INTO chunks BY NAME FROM rows")
        database.execute("CHECKPOINT")
        stored = "SELECT column_name, compression FROM pragma_storage_info('chunks') WHERE segment_type = 'VARCHAR'"
        compression = dict(database.execute(stored).fetchall())
    assert compression["chunk_id"] == compression["asset_id"] == "Uncompressed"
    assert "Uncompressed" not in (compression["text"], compression["kind"])


@pytest.mark.requirement("S0-10", "S0-11")
def test_the_edge_table_is_unique_on_source_destination_and_type(database: duckdb.DuckDBPyConnection) -> None:
    assert ddl(TABLES["asset_asset_edges"]) == [
        'CREATE TABLE IF NOT EXISTS asset_asset_edges ("src_asset_ref" VARCHAR NOT NULL, '
        '"dst_asset_ref" VARCHAR NOT NULL, "relation_type" VARCHAR NOT NULL, '
        '"confidence" DOUBLE NOT NULL DEFAULT 1.0, "provenance" VARCHAR NOT NULL DEFAULT \'\')',
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


@pytest.mark.requirement("S0-10")
def test_an_edge_without_further_fields_has_their_defaults(database: duckdb.DuckDBPyConnection) -> None:
    database.execute(ddl(TABLES["asset_asset_edges"], EXTRA_COLUMNS["asset_asset_edges"])[0])
    database.execute(
        "INSERT INTO asset_asset_edges (id, src_asset_ref, dst_asset_ref, relation_type, lake_month) "
        "VALUES (1, 'a', 'b', 'reply_to', 'mail/2024-01')"
    )
    query = "SELECT confidence, provenance, created_at > now()::TIMESTAMP - INTERVAL 1 DAY FROM asset_asset_edges"
    assert database.execute(query).fetchall() == [(1.0, "", True)]
    assert Edge("a", "b", "reply_to").confidence == 1.0


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
