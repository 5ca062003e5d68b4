"""Tables of the whole archive: what is written, what a kill leaves, what is damaged."""

from pathlib import Path

import pyarrow as pa
import pytest

from relrag_pipelines.files import failpoints
from relrag_pipelines.records import SCHEMA_VERSION, TABLES, Table, TermFrequency
from relrag_pipelines.stores import archive_tables, lake
from relrag_pipelines.stores.lake import InputFingerprint, LakeError
from tests.archive import as_schema

STAMP = InputFingerprint("in", 1, "limit:1")


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables of the whole archive, `words` and `names`."""
    for name in ("words", "names"):
        monkeypatch.setitem(TABLES, name, Table(name, TermFrequency, ("term",), f"lake/{name}/archive.parquet"))
    monkeypatch.setattr(archive_tables, "NAMES", ("names", "words"))


def rows(**counts: int) -> pa.Table:
    return pa.table({"term": pa.array(counts, pa.string()), "documents": pa.array(counts.values(), pa.int64())})


def test_a_table_is_sorted_by_its_key_so_that_equal_rows_give_the_same_hash(tmp_path: Path) -> None:
    first = archive_tables.write(tmp_path, {"words": rows(b=2, a=1)}, STAMP)
    again = archive_tables.write(tmp_path, {"words": rows(a=1, b=2)}, STAMP)
    assert first == again
    assert archive_tables.entry(tmp_path, "words") == first["words"]
    assert (first["words"].stamp, first["words"].rows) == (STAMP, 2)
    assert archive_tables.read(tmp_path, "words").to_pylist() == [
        {"term": "a", "documents": 1},
        {"term": "b", "documents": 2},
    ]
    assert archive_tables.path(tmp_path, "words").stat().st_mode & 0o777 == 0o600
    assert lake.sources(tmp_path) == set()


def test_one_without_rows_has_a_file_too_and_a_null_where_none_may_be_is_refused(tmp_path: Path) -> None:
    archive_tables.write(tmp_path, {"words": rows()}, STAMP)
    assert archive_tables.read(tmp_path, "words").num_rows == 0
    broken = pa.table({"term": pa.array([None], pa.string()), "documents": [1]})
    with pytest.raises(ValueError, match="null values to non-nullable"):
        archive_tables.write(tmp_path, {"words": broken}, STAMP)
    assert archive_tables.entry(tmp_path, "words") is None


def test_after_a_kill_no_entry_describes_a_file_that_is_not_its_own_and_a_sweep_removes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive_tables.write(tmp_path, {"words": rows(a=1), "names": rows(x=1)}, STAMP)

    def kill(name: str, path: Path) -> None:
        if (name, path.parent.name, path.name) == ("file.write", "names", "archive.parquet"):
            raise KeyboardInterrupt

    monkeypatch.setattr(failpoints, "watch", kill)
    with pytest.raises(KeyboardInterrupt):
        archive_tables.write(tmp_path, {"words": rows(a=2), "names": rows(x=2)}, STAMP)
    monkeypatch.setattr(failpoints, "watch", None)
    assert [archive_tables.entry(tmp_path, name) for name in archive_tables.NAMES] == [None, None]
    assert len(list(tmp_path.glob("lake/*/archive.parquet"))) == 2
    archive_tables.sweep(tmp_path)
    assert not list(tmp_path.glob("lake/*/*"))


def test_what_is_damaged_is_named_and_dropped(tmp_path: Path) -> None:
    archive_tables.write(tmp_path, {"words": rows(a=1), "names": rows(x=1)}, STAMP)
    assert list(archive_tables.damage(tmp_path)) == []
    words, names = (archive_tables.path(tmp_path, name) for name in ("words", "names"))
    words.write_bytes(b"torn")
    assert list(archive_tables.damage(tmp_path)) == [("lake/words/archive.parquet", "differs from its manifest")]
    with pytest.raises(LakeError, match="words cannot be read; `relrag verify --repair`"):
        archive_tables.read(tmp_path, "words")
    words.unlink()
    names.with_name("MANIFEST.json").write_text("{}")
    assert list(archive_tables.damage(tmp_path)) == [
        ("lake/names/MANIFEST.json", "cannot be read"),
        ("lake/names/archive.parquet", "cannot be checked without its manifest"),
        ("lake/words/archive.parquet", "is missing"),
    ]
    with pytest.raises(LakeError, match=r"names/MANIFEST.json cannot be read"):
        archive_tables.entry(tmp_path, "names")
    archive_tables.drop_damaged(tmp_path)
    assert not list(tmp_path.glob("lake/*/*"))


def test_one_of_an_older_shape_is_made_again_and_a_newer_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive_tables.write(tmp_path, {"words": rows(a=1)}, STAMP)
    manifest = archive_tables.path(tmp_path, "words").with_name("MANIFEST.json")
    as_schema(manifest, SCHEMA_VERSION - 1)
    assert archive_tables.entry(tmp_path, "words")
    newer = Table("words", TermFrequency, ("term",), "lake/words/archive.parquet", since=SCHEMA_VERSION)
    monkeypatch.setitem(TABLES, "words", newer)
    assert archive_tables.entry(tmp_path, "words") is None
    as_schema(manifest, SCHEMA_VERSION + 1)
    with pytest.raises(LakeError, match="written by a newer relrag"):
        archive_tables.entry(tmp_path, "words")
