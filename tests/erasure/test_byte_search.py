"""The search finds a value however it is stored, and nothing that is not there."""

import base64
import gzip
import json
import re
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relrag_pipelines.erasure import byte_search
from relrag_pipelines.records import Chunk
from relrag_pipelines.stores import vector_store
from relrag_pipelines.stores.table_schema import to_table

VALUE = 'žluťoučký "kůň" שלום 🐎'
FILLER = "the same words again and again, " * 200


def parquet(path: Path) -> None:
    nested = pa.array([{"in": [FILLER + VALUE]}] * 500)
    pq.write_table(pa.table({"n": range(500), "deep": nested}), path, compression="zstd")


def catalog(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (n INTEGER, texts VARCHAR[])")
        connection.execute("INSERT INTO t SELECT n, [$1 || n, $2] FROM range(5000) r(n)", [FILLER, VALUE])


def sqlite_blob(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (body BLOB)")
        connection.execute("INSERT INTO t VALUES (?)", [zlib.compress((FILLER + VALUE).encode())])
        connection.commit()


def sqlite_deleted(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE t (body TEXT)")
        connection.execute("INSERT INTO t VALUES (?)", [FILLER[:40] + VALUE])
        connection.commit()
        connection.execute("DELETE FROM t")
        connection.commit()


def across_pieces(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"\1" * (2**22 - 10) + VALUE.encode() + b"\1" * 2**22)


def behind_a_hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**26)
        file.seek(2**26)
        file.write(VALUE.encode())


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_bytes(b"\0" + VALUE.encode() + b"\0"),
        lambda path: path.write_bytes(b"\0" + VALUE.encode("utf-16-le")),
        lambda path: path.write_bytes(VALUE.encode("utf-16-be")),
        lambda path: path.write_text(json.dumps({"a": VALUE})),
        lambda path: path.write_text(json.dumps({"a": VALUE}, ensure_ascii=False)),
        lambda path: path.write_text(json.dumps({"a": json.dumps({"b": VALUE})})),
        lambda path: path.write_text(re.sub(r"(?<=u)[0-9a-f]{4}", lambda found: found[0].upper(), json.dumps(VALUE))),
        lambda path: path.with_name(".x.7.tmp").write_text(VALUE),
        parquet,
        catalog,
        sqlite_blob,
        sqlite_deleted,
        across_pieces,
        behind_a_hole,
    ],
    ids=[
        "utf-8", "utf-16-le", "utf-16-be", "json", "json-unescaped", "json-in-json", "json-upper", "temporary",
        "parquet", "duckdb", "sqlite-packed", "sqlite-deleted", "across-pieces", "behind-a-hole",
    ],
)  # fmt: skip
def test_it_is_found_however_it_is_stored(tmp_path: Path, write: Callable[[Path], object]) -> None:
    write(tmp_path / "file")
    (tmp_path / "other").write_text(FILLER)
    found = byte_search.search(tmp_path, ["never written", VALUE])
    assert list(found.holding.values()) == [1]
    assert (found.files, found.unreadable) == (2, [])
    assert "other" not in found.holding


def test_the_payload_of_a_point_is_read_through_the_engine(tmp_path: Path) -> None:
    value = "a thread named " * 40 + "zq"
    chunk = Chunk("00000000-0000-0000-0000-000000000001", "a:1", "a:1", 0, 1, "text", "h", "s", "k", "t")
    chunk.thread_id = value
    rows = to_table([chunk], Chunk)
    for name in ("person_ids", "mentioned_person_ids"):
        rows = rows.append_column(name, pa.array([[]], pa.list_(pa.int64())))
    vector_store.build(tmp_path / "vectors", rows.to_batches())
    assert next(iter(vector_store.payloads(tmp_path / "vectors")))["thread_id"] == value
    assert "vectors/edge_config.json" in byte_search.search(tmp_path, [value]).holding


def test_a_word_counts_only_as_a_word_of_its_own(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["Otakar came", "with Mila"]}), tmp_path / "a")
    pq.write_table(pa.table({"a": ["Ota, Mil"]}), tmp_path / "b")
    assert byte_search.search(tmp_path, [], ["Ota"]).holding == {"b": 1}


def test_what_cannot_be_read_is_named_and_its_bytes_are_searched(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" + VALUE.encode() + b"PAR1")
    found = byte_search.search(tmp_path, [VALUE])
    assert found.holding == {"bad.parquet": 1}
    assert found.unreadable == ["bad.parquet (ArrowInvalid)"]


def test_bytes_of_a_mail_are_searched_with_its_encodings_undone_and_what_is_packed_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "private" / "raw" / "mail" / "unit"
    folder.mkdir(parents=True)
    (folder / "a.1").write_bytes(b"Subject: x\n\n" + base64.encodebytes((FILLER + VALUE).encode()))
    (folder / "b.2").write_bytes(b"Subject: y\n\n" + base64.encodebytes(gzip.compress(VALUE.encode(), mtime=0) * 3))
    found = byte_search.search(tmp_path, [VALUE])
    assert found.holding == {"private/raw/mail/unit/a.1": 1}
    assert found.opaque_files == 1


def test_words_are_looked_for_in_journals_and_transcripts_too(tmp_path: Path) -> None:
    for name in ("links.jsonl", "call.vtt"):
        (tmp_path / name).write_text("Ota came")
    assert set(byte_search.search(tmp_path, [], ["Ota"]).holding) == {"links.jsonl", "call.vtt"}


def test_strings_of_a_dictionary_are_read(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([VALUE, VALUE]).dictionary_encode()}), tmp_path / "a", compression="zstd")
    assert VALUE.encode() in b"".join(byte_search.unpacked_text(tmp_path / "a"))
