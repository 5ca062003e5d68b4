"""The catalog: what several sources hold, which claims become edges, who is joined to which passage."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relrag_pipelines.pii import nested_text
from relrag_pipelines.records import (
    TABLES,
    Chunk,
    Edge,
    Embedding,
    Failure,
    Identifier,
    PersonEntry,
    PersonMention,
    Record,
)
from relrag_pipelines.stores import catalog, catalog_build
from relrag_pipelines.stores.table_schema import to_table

AT = datetime(2025, 1, 20, 12, tzinfo=UTC)
LATER = datetime(2025, 2, 1, tzinfo=UTC)
Rows = dict[tuple[str, str, str], list[Any]]
"""(table, source, month) -> rows"""


def lake(folder: Path, rows: Rows) -> catalog_build.MonthFiles:
    """Writes the rows as lake files; sources in order of their first mention."""
    sources = list(dict.fromkeys(source for _, source, _ in rows))
    parts: dict[str, list[tuple[str, list[Path]]]] = {}
    for (table, source, month), given in rows.items():
        path = folder / table / source / f"{month}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(to_table(given, TABLES[table].row), path)
        found = parts.setdefault(table, [(name, []) for name in sources])
        found[sources.index(source)][1].append(path)
    return parts


def record(asset_id: str, text: str = "text", **fields: Any) -> Record:
    kind, _, native = asset_id.partition(":")
    return Record(native, text, asset_id, kind=kind, source=fields.pop("source", kind), **fields)


def chunk(chunk_id: str, asset_id: str, **fields: Any) -> Chunk:
    kind = asset_id.partition(":")[0]
    return Chunk(
        chunk_id, asset_id, asset_id, 0, 1, fields.pop("text", "text"), "0", fields.pop("source", kind), kind, kind,
        **fields,
    )  # fmt: skip


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(query).fetchall()


def counts(path: Path) -> dict[str, int]:
    """Rows by table, of a catalog and its base as one."""
    with catalog.open(path) as connection:
        return {name: catalog.count(connection, f"SELECT count(*) FROM {name}") for name in catalog.HELD}


def people(folder: Path, entries: list[PersonEntry], mentions: list[PersonMention]) -> dict[str, Path]:
    """Files of the tables that say who has to do with what."""
    files = {"person_entries": (entries, PersonEntry), "person_mentions": (mentions, PersonMention)}
    for name, (given, row) in files.items():
        pq.write_table(to_table(given, row), folder / f"{name}.parquet")
    return {name: folder / f"{name}.parquet" for name in files}


def build(folder: Path, given: Rows, **options: Any) -> tuple[Path, dict[str, int]]:
    path = folder / "catalog.duckdb"
    return path, catalog_build.build(path, lake(folder / "lake", given), at=options.pop("at", AT), **options)


def test_a_mail_with_its_attachment_becomes_rows_and_facts(tmp_path: Path) -> None:
    mail, pdf = record("gmail:m1", thread_id="t"), record("gmail:m1/a0", parent_asset_id="gmail:m1", index_in_parent=0)
    path, counts = build(
        tmp_path,
        {
            ("records", "mail", "2025-01"): [mail, pdf],
            ("chunks", "mail", "2025-01"): [chunk("c1", "gmail:m1"), chunk("c2", "gmail:m1/a0")],
            ("asset_asset_edges", "mail", "2025-01"): [
                Edge("gmail:m1", "thread:t", "thread_member"),
                Edge("gmail:m1/a0", "gmail:m1", "attachment_of", 0.9, "parent_asset_id"),
                Edge("chunk:c1", "gmail:m1", "chunk_of"),
            ],
            ("failures", "mail", "mail"): [Failure("line 3", "encrypted", "message", "mail", "in.zip")],
        },
    )
    assert {name: count for name, count in counts.items() if count} == {
        "records": 2, "chunks": 2, "asset_asset_edges": 3, "failures": 1, "terms": 4,
    }  # fmt: skip
    assert set(counts) >= {"identifiers", "pending_edges", "persons", "person_assets", "person_relationships"}
    assert rows(path, "SELECT id, src_asset_ref, dst_asset_ref, relation_type FROM asset_asset_edges ORDER BY id") == [
        (1, "chunk:c1", "gmail:m1", "chunk_of"),
        (2, "gmail:m1", "thread:t", "thread_member"),
        (3, "gmail:m1/a0", "gmail:m1", "attachment_of"),
    ]
    assert rows(path, "SELECT confidence, provenance FROM asset_asset_edges WHERE id = 3") == [(0.9, "parent_asset_id")]
    assert catalog.count_dangling(path) == {"edges_without_end": 0, "chunks_without_record": 0}
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["catalog.duckdb"]
    assert rows(path, "SELECT view_name FROM duckdb_views() WHERE NOT internal") == []


@pytest.mark.requirement("S0-10")
@pytest.mark.requirement("S0-11")
def test_the_edge_table_has_the_declared_columns_and_indexes(tmp_path: Path) -> None:
    path, _ = build(tmp_path, {})
    columns = rows(path, "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'asset_asset_edges'")
    assert dict(columns) == {
        "src_asset_ref": "VARCHAR",
        "dst_asset_ref": "VARCHAR",
        "relation_type": "VARCHAR",
        "confidence": "DOUBLE",
        "provenance": "VARCHAR",
        "id": "BIGINT",
        "created_at": "TIMESTAMP",
        "lake_month": "VARCHAR",
    }
    indexes = rows(path, "SELECT index_name FROM duckdb_indexes() WHERE table_name = 'asset_asset_edges' ORDER BY 1")
    assert [name for (name,) in indexes] == [
        "idx_aae_dst",
        "idx_aae_src",
        "idx_aae_type",
        "key_asset_asset_edges",
    ]
    unique = rows(
        path,
        "SELECT is_unique, expressions FROM duckdb_indexes() WHERE index_name = 'key_asset_asset_edges'",
    )
    assert unique == [(True, "[src_asset_ref, dst_asset_ref, relation_type]")]


def test_the_first_source_wins_and_the_losers_rows_go_with_its_record(tmp_path: Path) -> None:
    both, only = "gmail:both", "gmail:only"
    path, counts = build(
        tmp_path,
        {
            ("records", "takeout", "2025-01"): [record(both, "first", locations=["takeout#1", "shared#1"])],
            ("records", "api", "2024-12"): [record(both, "second", locations=["shared#1", "api#7"]), record(only)],
            ("chunks", "takeout", "2025-01"): [chunk("c1", both, text="first")],
            ("chunks", "api", "2024-12"): [chunk("c1", both, text="second"), chunk("c9", both), chunk("c2", only)],
            ("identifiers", "takeout", "2025-01"): [Identifier(both, "sender", "name", "Alex", "k", entry="a")],
            ("identifiers", "api", "2024-12"): [Identifier(both, "sender", "name", "Lex", "k2", entry="l")],
            ("asset_asset_edges", "takeout", "2025-01"): [Edge("chunk:c1", both, "chunk_of")],
            ("asset_asset_edges", "api", "2024-12"): [
                Edge("chunk:c1", both, "chunk_of"),
                Edge("chunk:c9", both, "chunk_of"),
                Edge("chunk:c2", only, "chunk_of"),
                Edge(only, both, "reply_to"),
            ],
        },
        whole=people(
            tmp_path,
            [PersonEntry("takeout", "a", -1, 1), PersonEntry("api", "l", -1, 2)],
            [PersonMention("takeout/2025-01", both, 3), PersonMention("api/2024-12", both, 4)],
        ),
    )
    assert rows(path, "SELECT * EXCLUDE (created_at) FROM person_assets") == [
        (1, "", both, "sender", 1.0, "takeout/2025-01"),
        (3, "", both, "mentioned", 0.9, "takeout/2025-01"),
    ]
    assert rows(path, "SELECT asset_id, text, locations FROM records ORDER BY asset_id") == [
        (both, "first", ["takeout#1", "shared#1", "api#7"]),
        (only, "text", []),
    ]
    assert rows(path, "SELECT chunk_id, text, person_ids FROM chunks ORDER BY chunk_id") == [
        ("c1", "first", [1]),
        ("c2", "text", []),
    ]
    assert rows(path, "SELECT src_asset_ref, dst_asset_ref FROM asset_asset_edges ORDER BY id") == [
        ("chunk:c1", both),
        ("chunk:c2", only),
        (only, both),
    ]
    assert counts["pending_edges"] == 0


def test_one_source_that_dates_a_record_twice_keeps_the_earlier_month(tmp_path: Path) -> None:
    path, _ = build(
        tmp_path,
        {
            ("records", "notes", "2025-02"): [record("jsonl:1", "later", locations=["b.jsonl#1"])],
            ("records", "notes", "2025-01"): [record("jsonl:1", "earlier", locations=["a.jsonl#1"])],
        },
    )
    assert rows(path, "SELECT text, locations FROM records") == [("earlier", ["a.jsonl#1", "b.jsonl#1"])]


def test_a_chat_window_goes_with_the_last_of_its_messages(tmp_path: Path) -> None:
    messages = [f"whatsapp:chat:{number}" for number in range(4)]
    shared, mixed, first = "whatsapp:chunk:chat:0:1", "whatsapp:chunk:chat:1:3", "whatsapp:chunk:chat:0:1b"
    path, counts = build(
        tmp_path,
        {
            ("records", "phone", "2025-01"): [record(ref) for ref in messages[:2]],
            ("records", "tablet", "2025-01"): [record(ref) for ref in messages],
            ("chunks", "phone", "2025-01"): [chunk("w0", first, members=messages[:2])],
            ("chunks", "tablet", "2025-01"): [
                chunk("w1", shared, members=messages[:2]),
                chunk("w2", mixed, members=messages[1:]),
            ],
            ("asset_asset_edges", "tablet", "2025-01"): [
                *(Edge(shared, ref, "chunk_of") for ref in messages[:2]),
                *(Edge(mixed, ref, "chunk_of") for ref in messages[1:]),
            ],
        },
    )
    assert rows(path, "SELECT chunk_id FROM chunks ORDER BY chunk_id") == [("w0",), ("w2",)]
    assert counts["asset_asset_edges"] == 3
    assert counts["pending_edges"] == 0
    assert catalog.count_dangling(path) == {"edges_without_end": 0, "chunks_without_record": 0}


def test_windows_that_begin_and_end_alike_are_one(tmp_path: Path) -> None:
    first, between, last = (f"whatsapp:chat:{number}" for number in range(3))
    name = "whatsapp:chunk:chat:0:2"
    path, _ = build(
        tmp_path,
        {
            ("records", "phone", "2025-01"): [record(first), record(last)],
            ("records", "tablet", "2025-01"): [record(first), record(between), record(last)],
            ("chunks", "phone", "2025-01"): [chunk("w", name, members=[first, last])],
            ("chunks", "tablet", "2025-01"): [chunk("w", name, members=[first, between, last])],
        },
    )
    assert rows(path, "SELECT chunk_id, members FROM chunks") == [("w", [first, last])]
    assert rows(path, "SELECT count(*) FROM records") == [(3,)]


def test_claims_without_both_ends_wait(tmp_path: Path) -> None:
    path, counts = build(
        tmp_path,
        {
            ("records", "mail", "2025-01"): [record("gmail:m1", thread_id="t")],
            ("asset_asset_edges", "mail", "2025-01"): [
                Edge("gmail:m1", "thread:t", "thread_member"),
                Edge("gmail:m1", "gmail:not-synced", "reply_to"),
                Edge("gmail:gone", "thread:gone", "thread_member"),
                Edge("gmail:m1", "thread:gone", "references"),
                Edge("gmail:m1", "thread:t", "references"),
            ],
        },
    )
    assert rows(path, "SELECT src_asset_ref, dst_asset_ref, relation_type FROM asset_asset_edges ORDER BY id") == [
        ("gmail:m1", "thread:t", "references"),
        ("gmail:m1", "thread:t", "thread_member"),
    ]
    assert rows(path, "SELECT dst_asset_ref, relation_type FROM pending_edges ORDER BY relation_type") == [
        ("thread:gone", "references"),
        ("gmail:not-synced", "reply_to"),
        ("thread:gone", "thread_member"),
    ]
    assert counts["pending_edges"] == 3


@pytest.mark.requirement("S0-10")
def test_an_edge_keeps_the_time_of_its_first_publication(tmp_path: Path) -> None:
    old = Edge("gmail:a", "thread:t", "thread_member")
    given: Rows = {
        ("records", "mail", "2025-01"): [record("gmail:a"), record("gmail:b")],
        ("asset_asset_edges", "mail", "2025-01"): [old],
    }
    (tmp_path / "it's 1").mkdir()
    (tmp_path / "2").mkdir()
    first, _ = build(tmp_path / "it's 1", given)
    given["asset_asset_edges", "mail", "2025-01"] = [old, Edge("gmail:b", "thread:t", "thread_member")]
    second, _ = build(tmp_path / "2", given, previous=first, at=LATER)
    assert rows(second, "SELECT src_asset_ref, created_at FROM asset_asset_edges ORDER BY id") == [
        ("gmail:a", datetime(2025, 1, 20, 12)),  # noqa: DTZ001 - the column is UTC without a zone
        ("gmail:b", datetime(2025, 2, 1)),  # noqa: DTZ001
    ]


TIMES = {
    "person_assets": "SELECT asset_ref, role, created_at FROM person_assets ORDER BY ALL",
    "chunks": "SELECT chunk_id, text, created_at FROM chunks ORDER BY ALL",
}


@pytest.mark.requirement("S0-2")
@pytest.mark.requirement("S3-1")
@pytest.mark.parametrize("on_top", [False, True])
def test_a_passage_and_a_part_in_a_record_keep_the_time_of_their_first_publication(
    tmp_path: Path, on_top: bool
) -> None:
    """Whether the catalog is built whole or on top: also where the text changes, and the month of the record."""
    first, second, third = (tmp_path / name for name in ("1", "2", "3"))
    for folder in (first, second, third):
        folder.mkdir()

    def month(folder: Path, number: str, texts: dict[str, str]) -> dict[str, Any]:
        refs = [f"mail:{name}" for name in texts]
        given: Rows = {
            ("records", "mail", number): [record(ref) for ref in refs],
            ("chunks", "mail", number): [chunk(name, f"mail:{name}", text=text) for name, text in texts.items()],
            ("identifiers", "mail", number): [
                Identifier(ref, "sender", "name", "Alex", "k", entry="a") for ref in refs
            ],
        }
        whole = people(
            folder, [PersonEntry("mail", "a", -1, 1)], [PersonMention(f"mail/{number}", ref, 2) for ref in refs]
        )
        return {"given": given, "whole": whole}

    def on(path: Path) -> dict[str, Any]:
        return {"replaced": ["mail/2025-01", "mail/2025-02"], "previous": path} if on_top else {"previous": path}

    base, _ = build(first, **month(first, "2025-01", {"old": "text"}))
    if on_top:
        (second / catalog.BASE).hardlink_to(base)
        (third / catalog.BASE).hardlink_to(base)
    later, _ = build(second, **month(second, "2025-01", {"old": "another", "new": "text"}), at=LATER, **on(base))
    moved, _ = build(
        third,
        **month(third, "2025-02", {"old": "another", "new": "text"}),
        at=datetime(2025, 3, 1, tzinfo=UTC),
        **on(later),
    )
    then, now = (time.replace(tzinfo=None) for time in (AT, LATER))
    if on_top:  # 2025-01 is again what the base has of it
        fourth = tmp_path / "4"
        fourth.mkdir()
        (fourth / catalog.BASE).hardlink_to(base)
        options = {"replaced": ["mail/2025-02"], "previous": later}
        left, _ = build(
            fourth, **month(fourth, "2025-02", {"new": "text"}), at=datetime(2025, 3, 1, tzinfo=UTC), **options
        )
        assert rows(left, TIMES["chunks"]) == [("new", "text", now)]
    for path in (later, moved):
        assert rows(path, TIMES["chunks"]) == [("new", "text", now), ("old", "another", then)]
        assert rows(path, TIMES["person_assets"]) == [
            ("mail:new", "mentioned", now),
            ("mail:new", "sender", now),
            ("mail:old", "mentioned", then),
            ("mail:old", "sender", then),
        ]


@pytest.mark.requirement("S0-1")
def test_people_are_joined_by_role_and_a_window_has_those_of_its_messages(tmp_path: Path) -> None:
    path, _ = build(
        tmp_path,
        {
            ("records", "chat", "2025-01"): [record("whatsapp:1"), record("whatsapp:2"), record("jsonl:x")],
            ("chunks", "chat", "2025-01"): [
                chunk("w", "whatsapp:chunk:1:2", members=["whatsapp:1", "whatsapp:2"]),
                chunk("x", "jsonl:x"),
            ],
            ("identifiers", "chat", "2025-01"): [
                Identifier("whatsapp:1", "sender", "name", "Shiran", "s", 42, "Shiran"),
                Identifier("whatsapp:1", "mentioned", "name", "Mia", "m", None, "Mia"),
                Identifier("whatsapp:2", "sender", "name", "David", "d", None, "David"),
                Identifier("whatsapp:2", "participant", "name", "Shiran", "s", 42, "Shiran"),
                Identifier("whatsapp:2", "participant", "name", "Nobody", "n", None, "Nobody"),
            ],
        },
        whole=people(
            tmp_path,
            [
                PersonEntry("chat", "Shiran", 42, 42),
                PersonEntry("chat", "Mia", -1, 23),
                PersonEntry("chat", "David", -1, 17),
                PersonEntry("mail", "Nobody", -1, 99),
            ],
            [PersonMention("chat/2025-01", "whatsapp:2", 5), PersonMention("chat/2025-01", "jsonl:gone", 6)],
        ),
    )
    assert rows(path, "SELECT chunk_id, person_ids, mentioned_person_ids FROM chunks ORDER BY chunk_id") == [
        ("w", [17, 42], [5, 23]),
        ("x", [], []),
    ]


def test_dangling_rows_are_counted(tmp_path: Path) -> None:
    path, _ = build(tmp_path, {("chunks", "notes", "2025-01"): [chunk("c1", "jsonl:gone")]})
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "INSERT INTO asset_asset_edges (id, src_asset_ref, dst_asset_ref, relation_type, confidence, provenance,"
            " lake_month) VALUES (1, 'jsonl:a', 'jsonl:b', 'reply_to', 1.0, '', '')"
        )
    assert catalog.count_dangling(path) == {"edges_without_end": 1, "chunks_without_record": 1}


def test_an_unreadable_file_leaves_nothing_behind(tmp_path: Path) -> None:
    broken = tmp_path / "2025-01.parquet"
    broken.write_bytes(b"PAR1 not really")
    path = tmp_path / "catalog.duckdb"
    with pytest.raises(duckdb.Error):
        catalog_build.build(path, {"records": [("notes", [broken])]}, at=AT)
    assert [file.name for file in tmp_path.iterdir()] == ["2025-01.parquet"]


def test_equal_parts_give_equal_rows(tmp_path: Path) -> None:
    given: Rows = {
        ("records", "a", "2025-01"): [record(f"jsonl:{n}", locations=["x", "y"]) for n in range(50)],
        ("records", "b", "2025-01"): [record(f"jsonl:{n}", locations=["y", "z"]) for n in range(25, 75)],
    }
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    first, _ = build(tmp_path / "1", given)
    second, _ = build(tmp_path / "2", given)
    assert rows(first, "FROM records") == rows(second, "FROM records")
    assert rows(first, "SELECT asset_id FROM records") == sorted(rows(first, "SELECT asset_id FROM records"))


def test_removed_counts_records_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    first, _ = build(tmp_path / "1", {("records", "notes", "2025-01"): [record(f"jsonl:{n}") for n in range(5)]})
    second, built = build(tmp_path / "2", {("records", "notes", "2025-01"): [record(f"jsonl:{n}") for n in (0, 4, 9)]})
    assert catalog.count_removed(second, first) == 3
    assert catalog.count_removed(first, None) == 0
    assert counts(second) == built


def test_terms_count_the_passages_that_hold_a_word(tmp_path: Path) -> None:
    texts = ["the pump, the pump", "a pump and a contract", "contracts"]
    given = [chunk(f"c{number}", "jsonl:x", text=text) for number, text in enumerate(texts)]
    path, _ = build(
        tmp_path, {("records", "notes", "2025-01"): [record("jsonl:x")], ("chunks", "notes", "2025-01"): given}
    )
    assert rows(path, "FROM terms WHERE term IN ('', 'pump', 'contract', 'and')") == [
        ("", 3),
        ("contract", 2),
        ("pump", 2),
    ]


def test_what_stands_beside_a_mails_text_is_a_passage_once(tmp_path: Path) -> None:
    """A signature counts in the first mail, history where the mail that is answered is not in the archive itself."""
    beside = {"section": "signature", "text": "Dana, Acme"}
    history = {"section": "quoted", "parent_asset_id": "gmail:m1"}
    lost = {"section": "quoted", "parent_asset_id": "gmail:absent"}
    path, _ = build(
        tmp_path,
        {
            ("records", "mail", "2025-01"): [record("gmail:m1"), record("gmail:m2"), record("gmail:m3")],
            ("chunks", "mail", "2025-01"): [
                replace(chunk("c1", "gmail:m2", ts=2, **beside), text_hash="s"),
                replace(chunk("c2", "gmail:m1", ts=1, **beside), text_hash="s"),
                replace(chunk("c3", "gmail:m2", **history), text_hash="q"),
                replace(chunk("c4", "gmail:m3", **lost), text_hash="r"),
                chunk("c5", "gmail:m2"),
            ],
            ("asset_asset_edges", "mail", "2025-01"): [
                Edge("chunk:c1", "gmail:m2", "chunk_of"),
                Edge("chunk:c2", "gmail:m1", "chunk_of"),
            ],
        },
    )
    assert rows(path, "SELECT chunk_id FROM chunks ORDER BY chunk_id") == [("c2",), ("c4",), ("c5",)]
    assert rows(path, "SELECT src_asset_ref FROM asset_asset_edges") == [("chunk:c2",)]
    assert counts(path)["pending_edges"] == 0


def test_each_chunk_comes_with_the_vector_that_it_has_in_its_own_source(tmp_path: Path) -> None:
    twin = "document:1"
    given: Rows = {
        ("records", "first", "2025-01"): [record(twin, source="first")],
        ("records", "second", "2025-01"): [record(twin, source="second"), record("document:2", source="second")],
        ("chunks", "first", "2025-01"): [chunk("c1", twin, source="first")],
        ("chunks", "second", "2025-01"): [
            chunk("c1", twin, source="second"), chunk("c2", "document:2", source="second")
        ],
        ("embeddings", "first", "2025-01"): [Embedding("c1", "h", "m", [1.0, 0.5])],
        ("embeddings", "second", "2025-01"): [Embedding("c1", "h", "m", [9.0, 9.0])],
    }  # fmt: skip
    found: list[dict[str, Any]] = []

    def index(batches: Iterator[pa.RecordBatch], gone: Sequence[str]) -> None:
        found.extend(row for batch in batches for row in batch.to_pylist())

    path, _ = build(tmp_path, given, index=index)
    assert [(row["chunk_id"], row["vector"]) for row in found] == [("c1", [1.0, 0.5]), ("c2", None)]
    assert rows(path, "SELECT count(*) FROM duckdb_views() WHERE NOT internal AND database_name = 'catalog'") == [(0,)]
    found.clear()
    build(tmp_path, {key: value for key, value in given.items() if key[0] != "embeddings"}, index=index)
    assert [row.get("vector", "absent") for row in found] == ["absent", "absent"]


def test_connections_without_a_file_see_nothing_of_each_other() -> None:
    with catalog.scratch() as one, catalog.scratch() as other:
        one.register("numbers", pa.table({"number": [1]}))
        other.register("numbers", pa.table({"number": [2]}))
        one.execute("CREATE TEMP TABLE made AS SELECT 1")
        assert [each.execute("FROM numbers").fetchall() for each in (one, other)] == [[(1,)], [(2,)]]
        with pytest.raises(duckdb.CatalogException):
            other.execute("FROM made")
    with catalog.scratch() as later, pytest.raises(duckdb.CatalogException):
        later.execute("FROM numbers")


def test_the_tables_of_a_file_are_let_go_of_wherever_their_reader_stops(tmp_path: Path) -> None:
    paths = [tmp_path / "one.duckdb", tmp_path / "two.duckdb"]
    for path in paths:
        with catalog.connect(str(path)) as connection:
            connection.execute("CREATE TABLE numbers AS FROM range(5) AS all_of_them(number)")
            connection.execute("""CREATE TABLE "odd ""name" AS SELECT 'x' AS text""")
    for path in paths:  # both stand under one name while they are read
        reading = catalog.tables(path, 2)
        _, batches = next(reading)
        next(iter(batches))
        reading.close()
    held = {name: [row for batch in batches for row in batch.to_pylist()] for name, batches in catalog.tables(path, 2)}
    assert held == {"numbers": [{"number": one} for one in range(5)], 'odd "name': [{"text": "x"}]}
    (tmp_path / "no.duckdb").write_bytes(b"none")
    with pytest.raises(duckdb.Error):
        next(catalog.tables(tmp_path / "no.duckdb", 2))
    first, second = (catalog.tables(path, 2) for path in paths)
    assert [next(first)[0], next(second)[0], next(first)[0]] == ["numbers", "numbers", 'odd "name']


def test_a_scratch_database_that_a_fault_closed_is_made_again() -> None:
    catalog.scratch().close()
    catalog._in_memory().close()
    with catalog.scratch() as connection:
        assert connection.execute("SELECT 42").fetchall() == [(42,)]


def texts(row: dict[str, Any]) -> set[str]:
    """The strings of a row, those in lists and structs as well."""
    return {text for column, value in row.items() if column != "lake_month" for text in nested_text.texts({"_": value})}


def test_without_the_months_of_the_lake_only_what_the_catalog_makes_is_left(tmp_path: Path) -> None:
    """What is left out was searched for replaced values in the lake, so it must hold no text that the lake lacks."""
    both, only, mail = "gmail:both", "gmail:only", "jsonl:mail"
    number = "2024-0815"
    given: Rows = {
        ("records", "takeout", "2025-01"): [record(both, f"first {number}", locations=["takeout#1"], numbers=[number])],
        ("records", "api", "2024-12"): [record(both, "second", locations=["api#7"]), record(only)],
        ("records", "notes", "2024-12"): [record(mail, "third", source="notes", numbers=[number])],
        ("chunks", "takeout", "2025-01"): [chunk("c1", both, text="first")],
        ("chunks", "api", "2024-12"): [chunk("c2", only, text="own")],
        ("identifiers", "takeout", "2025-01"): [Identifier(both, "sender", "name", "Alex", "k", entry="a")],
        ("asset_asset_edges", "api", "2024-12"): [
            Edge("chunk:c2", only, "chunk_of", provenance="by its id"),
            Edge(only, "gmail:absent", "reply_to"),
        ],
    }
    entries = people(tmp_path, [PersonEntry("takeout", "a", -1, 1)], [])
    path, _ = build(tmp_path, given, whole=entries)

    def stored(**options: Any) -> dict[str, list[dict[str, Any]]]:
        return {
            name: [row for batch in batches for row in batch.to_pylist()]
            for name, batches in catalog.tables(path, 100, **options)
        }

    months: dict[str, list[str]] = {}
    for table, source, month in given:
        months.setdefault(table, []).append(f"{source}/{month}")
    whole, left = stored(), stored(without=months)
    assert [row["locations"] for row in left["records"]] == [["takeout#1", "api#7"]]
    (edge,) = left["asset_asset_edges"]
    assert ({edge["src_asset_ref"], edge["dst_asset_ref"]}, edge["relation_type"]) == ({mail, both}, "references")
    assert [len(left[name]) for name in ("identifiers", "person_assets", "chunks", "pending_edges")] == [0, 0, 0, 0]
    in_lake = {
        text for rows in given.values() for row in rows for text in texts(to_table([row], type(row)).to_pylist()[0])
    }
    for table, every in whole.items():
        skipped = [row for row in every if row not in left[table]]
        assert {text for row in skipped for text in texts(row)} <= in_lake
    assert stored(without={"records": [], "persons": []}).keys() == whole.keys() - {"persons"}
