"""The lake: files and manifests."""

import dataclasses
from pathlib import Path

import pyarrow as pa
import pytest

from relrag_pipelines.files import failpoints, sealed_json
from relrag_pipelines.records import SCHEMA_VERSION, TABLES, Edge, PrivateRecord
from relrag_pipelines.stores import lake, lake_damage, private_manifest
from relrag_pipelines.stores.lake import InputFingerprint, LakeError
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from tests import archive

STAMP = InputFingerprint("in", 1, "set")


def edges(*names: str) -> pa.Table:
    return to_table([Edge(name, "thread:t", "thread_member") for name in names], Edge)


def put(home: Path, *months: tuple[str, pa.Table, InputFingerprint | None]) -> None:
    made = {month: (rows, stamp) for month, rows, stamp in months}
    lake.write(home, "asset_asset_edges", "chat", list(made), made.values())


def test_equal_rows_in_any_order_give_equal_files(tmp_path: Path) -> None:
    for home, rows in ((tmp_path / "a", edges("x", "y", "z")), (tmp_path / "b", edges("z", "x", "y"))):
        put(home, ("2024-05", rows, STAMP))
    one, two = (lake.manifest(tmp_path / name, "asset_asset_edges", "chat") for name in "ab")
    assert one == two
    assert one["2024-05"].rows == 3
    assert lake.read(tmp_path / "a", "asset_asset_edges", "chat", "2024-05")["src_asset_ref"].to_pylist() == [
        "x",
        "y",
        "z",
    ]


def test_a_month_without_rows_has_an_entry_and_no_file(tmp_path: Path) -> None:
    put(tmp_path, ("2024-05", edges("x"), STAMP))
    put(tmp_path, ("2024-05", edges(), STAMP))
    assert not lake.month_path(tmp_path, "asset_asset_edges", "chat", "2024-05").exists()
    assert lake.manifest(tmp_path, "asset_asset_edges", "chat")["2024-05"].rows == 0
    assert lake_damage.verify(tmp_path, "chat") == []


def test_a_month_without_a_stamp_is_removed(tmp_path: Path) -> None:
    put(tmp_path, ("2024-05", edges("x"), STAMP), ("2024-06", edges("y"), STAMP))
    put(tmp_path, ("2024-05", edges(), None))
    assert list(lake.manifest(tmp_path, "asset_asset_edges", "chat")) == ["2024-06"]


def test_a_missing_value_in_a_column_that_must_have_one_is_refused(tmp_path: Path) -> None:
    schema = pa.schema([pa.field(field.name, field.type) for field in arrow_schema(Edge)])
    rows = pa.Table.from_pylist([{"src_asset_ref": None, "dst_asset_ref": "b", "relation_type": "r"}], schema)
    with pytest.raises((ValueError, pa.ArrowInvalid)):
        put(tmp_path, ("2024-05", rows, STAMP))
    assert lake.manifest(tmp_path, "asset_asset_edges", "chat") == {}


def test_verify_names_the_file_with_one_flipped_byte(tmp_path: Path) -> None:
    put(tmp_path, ("2024-05", edges("x"), STAMP))
    path = lake.month_path(tmp_path, "asset_asset_edges", "chat", "2024-05")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert lake_damage.verify(tmp_path, "chat") == [
        "lake/asset_asset_edges/chat/2024-05.parquet differs from its manifest"
    ]
    path.unlink()
    assert lake_damage.verify(tmp_path, "chat") == ["lake/asset_asset_edges/chat/2024-05.parquet is missing"]


def test_a_newer_lake_is_refused_and_one_of_an_older_shape_counts_as_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, ("2024-05", edges("x"), STAMP))
    path = lake.folder(tmp_path, "asset_asset_edges", "chat") / "MANIFEST.json"
    archive.as_schema(path, SCHEMA_VERSION + 1)
    with pytest.raises(LakeError, match=f"schema {SCHEMA_VERSION + 1}"):
        lake.manifest(tmp_path, "asset_asset_edges", "chat")
    monkeypatch.setattr(sealed_json, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    archive.as_schema(path, SCHEMA_VERSION)
    assert list(lake.manifest(tmp_path, "asset_asset_edges", "chat")) == ["2024-05"]
    changed = dataclasses.replace(TABLES["asset_asset_edges"], since=SCHEMA_VERSION + 1)
    monkeypatch.setitem(TABLES, "asset_asset_edges", changed)
    assert lake.manifest(tmp_path, "asset_asset_edges", "chat") == {}


def test_a_kill_between_two_months_leaves_no_entry_for_a_file_that_it_was_not_made_for(tmp_path: Path) -> None:
    put(tmp_path, ("2024-05", edges("x"), STAMP), ("2024-06", edges("y"), STAMP))

    def make(month: str) -> tuple[pa.Table, InputFingerprint | None]:
        if month == "2024-06":
            raise KeyboardInterrupt
        return edges("other"), STAMP

    with pytest.raises(KeyboardInterrupt):
        lake.write(tmp_path, "asset_asset_edges", "chat", ["2024-05", "2024-06"], map(make, ["2024-05", "2024-06"]))
    assert lake.manifest(tmp_path, "asset_asset_edges", "chat") == {}


def test_a_missing_month_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    put(tmp_path, ("2024-05", edges("x"), STAMP))
    lake.month_path(tmp_path, "asset_asset_edges", "chat", "2024-05").unlink()
    with pytest.raises(LakeError, match="2024-05, is missing"):
        lake.read(tmp_path, "asset_asset_edges", "chat", "2024-05")
    lake_damage.drop_damaged(tmp_path, "chat")
    assert lake.manifest(tmp_path, "asset_asset_edges", "chat") == {}


def test_what_a_killed_writer_left_is_swept_but_for_private_months(tmp_path: Path) -> None:
    kept, stray = [lake.month_path(tmp_path, "chunks", "chat", month) for month in ("2024-01", "2024-02")]
    private = lake.month_path(tmp_path, "private_records", "chat", "2024-02")
    beside = [path.with_name(f".{path.name}.77.tmp") for path in (kept, private)]
    for path in (kept, stray, private, *beside):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    entry = {"input": "", "version": 1, "settings": "", "output": "", "rows": 1, "bytes": 0}
    manifest = {"schema_version": SCHEMA_VERSION, "months": {"2024-01": entry}}
    (kept.parent / "MANIFEST.json").write_text(sealed_json.seal(manifest))
    lake.sweep(tmp_path)
    assert sorted(path for path in tmp_path.rglob("*.parquet*") if path.is_file()) == sorted([kept, private])


@pytest.mark.parametrize("nth", range(1, 4))
def test_a_source_whose_removal_was_cut_short_is_known_until_its_last_file_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    """Cut short before the nth of its three files; the hash of none is expected any more, and the next time all go."""
    names = [f"private/{sort}/chat.parquet" for sort in ("failures", "threads", "units")]
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(name)
        private_manifest.expect(tmp_path, name, sealed_json.file_hash(path))
    visits = 0

    def cut_short(name: str, path: Path) -> None:
        nonlocal visits
        visits += path.suffix == ".parquet"
        if visits == nth:
            raise KeyboardInterrupt

    monkeypatch.setattr(failpoints, "watch", cut_short)
    with pytest.raises(KeyboardInterrupt):
        lake.remove(tmp_path, "chat")
    assert private_manifest.damage(tmp_path) == []
    assert lake.sources(tmp_path) == {"chat"}
    monkeypatch.undo()
    lake.remove(tmp_path, "chat")
    assert [name for name in names if (tmp_path / name).exists()] == []


def test_what_a_killed_writer_left_beside_a_file_is_swept(tmp_path: Path) -> None:
    left = [tmp_path / name for name in ("private/units/.x.7.tmp", "lake/.m.7.tmp", "dagster/.dagster.yaml.7.tmp")]
    for path in left:
        path.parent.mkdir(parents=True)
        path.touch()
    lake.sweep(tmp_path)
    assert not any(path.exists() for path in left)


def test_private_months_whose_manifest_was_lost_are_listed_again(tmp_path: Path) -> None:
    rows = to_table([PrivateRecord("1", asset_id="whatsapp:1", unit="chat.txt")], PrivateRecord)
    lake.write(tmp_path, "private_records", "chat", ["2024-01"], [(rows, lake.InputFingerprint("", 0, ""))])
    before = lake.manifest(tmp_path, "private_records", "chat")
    (lake.folder(tmp_path, "private_records", "chat") / "MANIFEST.json").unlink()
    lake.sweep(tmp_path)
    assert lake.manifest(tmp_path, "private_records", "chat") == before
