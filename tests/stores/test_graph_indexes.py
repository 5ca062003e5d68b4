"""An index is whole or absent."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relrag_pipelines.stores import graph_indexes
from relrag_pipelines.stores.lake import InputFingerprint, LakeError

STAMP = InputFingerprint("from", 1, "method:fast")


def write(home: Path, collection: str, word: str) -> Path:
    place = graph_indexes.begin(home, collection)
    pq.write_table(pa.table({"text": [word]}), place / "documents.parquet")
    graph_indexes.finish(place, STAMP, {"documents": 1}, {"pending": 3})
    return place


def test_the_next_index_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    first = write(tmp_path, "archive", "one")
    second = write(tmp_path, "archive", "two")
    assert (first.name, second.name, first.exists()) == ("1", "2", False)
    assert graph_indexes.current_folder(tmp_path, "archive") == second
    made = graph_indexes.current_info(tmp_path, "archive")
    assert made
    assert (made.number, made.stamp, made.counts, made.pending) == (2, STAMP, {"documents": 1}, 3)
    assert list(graph_indexes.damage(tmp_path)) == []


def test_an_index_that_was_not_finished_is_not_read_and_swept(tmp_path: Path) -> None:
    whole = write(tmp_path, "archive", "one")
    (graph_indexes.begin(tmp_path, "archive") / "documents.parquet").write_bytes(b"half")
    (graph_indexes.begin(tmp_path, "letters") / "documents.parquet").write_bytes(b"half")
    assert graph_indexes.current_folder(tmp_path, "archive") == whole
    assert graph_indexes.current_info(tmp_path, "letters") is None
    graph_indexes.sweep(tmp_path, ["archive", "letters"])
    assert sorted(path.name for path in (tmp_path / "graphrag").rglob("*") if path.is_dir()) == [
        "1",
        "archive",
        "letters",
    ]


def test_what_is_damaged_is_named_and_dropped_alone(tmp_path: Path) -> None:
    sound, broken = write(tmp_path, "letters", "one"), write(tmp_path, "archive", "two")
    (broken / "documents.parquet").write_bytes(b"x")
    assert list(graph_indexes.damage(tmp_path)) == [
        ("graphrag/archive/1/documents.parquet", "differs from its manifest")
    ]
    (broken / "MANIFEST.json").write_text("{}")
    with pytest.raises(LakeError, match=r"MANIFEST\.json"):
        graph_indexes.current_info(tmp_path, "archive")
    graph_indexes.drop_damaged(tmp_path)
    assert graph_indexes.collections(tmp_path) == ["letters"]
    assert graph_indexes.current_folder(tmp_path, "letters") == sound
