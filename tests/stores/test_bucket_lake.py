"""The lake of one or two machines in a bucket of a real server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("moto", reason="moto is not installed: make setup")

from relrag_pipelines.files import failpoints, sealed_json
from relrag_pipelines.records import SCHEMA_VERSION, Edge
from relrag_pipelines.stores import archive_tables, lake
from relrag_pipelines.stores.bucket_commit import BASE
from relrag_pipelines.stores.bucket_lake import BucketLake
from relrag_pipelines.stores.lake import InputFingerprint, LakeError
from relrag_pipelines.stores.object_store import ObjectStore, ObjectStoreError, SwapRefused
from relrag_pipelines.stores.table_schema import to_table
from tests import s3_server
from tests.s3_server import Bucket, S3Server

ARCHIVE = "0123456789abcdef"
MANIFEST = "archive/lake/MANIFEST.json"


class Killed(BaseException):
    """As a signal ends a process: nothing catches it."""


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server.serving() as running:
        yield running


@pytest.fixture
def bucket(server: S3Server) -> Bucket:
    return server.bucket()


@pytest.fixture
def homes(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "first", tmp_path / "second"


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], object]], None]:
    """Lets something happen once when a failpoint of that name is reached."""

    def set_up(name: str, happen: Callable[[], object]) -> None:
        def watch(reached: str, _: Path) -> None:
            if reached == name:
                monkeypatch.setattr(failpoints, "watch", None)
                happen()

        monkeypatch.setattr(failpoints, "watch", watch)

    return set_up


def kill() -> None:
    raise Killed


def write(home: Path, month: str, *names: str) -> None:
    rows = to_table([Edge(name, "thread:t", "thread_member") for name in names], Edge)
    stamp = InputFingerprint("in", 1, "set") if names else None
    lake.write(home, "asset_asset_edges", "chat", [month], [(rows, stamp)])


def names(home: Path) -> dict[str, list[str]]:
    """What the lake of a home says, by month."""
    months = lake.manifest(home, "asset_asset_edges", "chat")
    return {month: lake.read(home, "asset_asset_edges", "chat", month)["src_asset_ref"].to_pylist() for month in months}


def open_lake(home: Path, bucket: Bucket) -> BucketLake:
    return BucketLake(home, bucket.url, ARCHIVE)


def files(home: Path) -> dict[str, bytes]:
    """The lake of a home, but for which commit it was made from, and by whom."""
    paths = [path for path in (home / "lake").rglob("*") if path.is_file() and path != home / BASE]
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in paths}


def test_an_empty_folder_becomes_what_another_machine_committed(homes: tuple[Path, Path], bucket: Bucket) -> None:
    first, second = homes
    write(first, "2024-05", "a", "b")
    write(first, "2024-06", "c")
    table = archive_tables.NAMES[0]
    archive_tables.write(
        first, {table: lake.arrow_schema(lake.TABLES[table].row).empty_table()}, InputFingerprint("i", 1, "")
    )
    assert open_lake(first, bucket).commit() == 5
    assert open_lake(second, bucket).pull() == 5
    assert files(second) == files(first)
    assert names(second) == {"2024-05": ["a", "b"], "2024-06": ["c"]}
    assert open_lake(second, bucket).pull() == 0
    assert open_lake(second, bucket).commit() == 0


def test_a_commit_uploads_what_changed_and_deletes_what_is_gone(homes: tuple[Path, Path], bucket: Bucket) -> None:
    first, second = homes
    write(first, "2024-05", "a")
    write(first, "2024-06", "forgotten")
    open_lake(first, bucket).commit()
    open_lake(second, bucket).pull()
    write(first, "2024-06")
    assert open_lake(first, bucket).commit() == 1, "the manifest of the folder alone"
    assert len(bucket.object_keys()) == 3
    assert open_lake(first, bucket).damage() == []
    open_lake(second, bucket).pull()
    assert names(second) == {"2024-05": ["a"]}
    assert files(second) == files(first)


def test_who_has_not_seen_the_last_commit_is_refused(homes: tuple[Path, Path], bucket: Bucket) -> None:
    first, second = homes
    write(first, "2024-05", "a")
    open_lake(first, bucket).commit()
    open_lake(second, bucket).pull()
    write(first, "2024-05", "a", "b")
    open_lake(first, bucket).commit()
    write(second, "2024-06", "c")
    before = bucket.versions()
    with pytest.raises(LakeError, match=r"another machine writes the lake in s3://.*nothing is lost: `relrag sync`"):
        open_lake(second, bucket).commit()
    assert bucket.versions() == before
    open_lake(second, bucket).pull()
    assert names(second) == {"2024-05": ["a", "b"]}
    write(second, "2024-06", "c")  # as the sync makes it again
    open_lake(second, bucket).commit()
    open_lake(first, bucket).pull()
    assert names(first) == {"2024-05": ["a", "b"], "2024-06": ["c"]}


def test_who_loses_the_race_at_the_manifest_is_refused(
    homes: tuple[Path, Path], bucket: Bucket, at: Callable[[str, Callable[[], object]], None]
) -> None:
    first, second = homes
    write(first, "2024-05", "a")
    open_lake(first, bucket).commit()
    open_lake(second, bucket).pull()
    write(first, "2024-05", "of the first")
    write(second, "2024-05", "of the second")
    at("bucket.swap", lambda: open_lake(second, bucket).commit())
    with pytest.raises(LakeError, match="another machine writes the lake"):
        open_lake(first, bucket).commit()
    assert open_lake(second, bucket).damage() == []
    open_lake(first, bucket).pull()
    assert names(first) == {"2024-05": ["of the second"]}


def test_two_first_commits_do_not_mix(
    homes: tuple[Path, Path], bucket: Bucket, at: Callable[[str, Callable[[], object]], None]
) -> None:
    first, second = homes
    write(first, "2024-05", "of the first")
    write(second, "2024-05", "of the second")
    at("bucket.swap", lambda: open_lake(second, bucket).commit())
    with pytest.raises(LakeError, match="another machine writes the lake"):
        open_lake(first, bucket).commit()
    assert open_lake(second, bucket).damage() == []
    assert len(bucket.object_keys()) == 3


def test_an_answer_that_was_lost_is_no_conflict(
    homes: tuple[Path, Path], bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap = ObjectStore.swap

    def twice(self: ObjectStore, key: str, data: bytes, tag: str | None) -> None:
        swap(self, key, data, tag)
        swap(self, key, data, tag)

    write(homes[0], "2024-05", "a")
    open_lake(homes[0], bucket).commit()
    write(homes[0], "2024-05", "b")
    monkeypatch.setattr(ObjectStore, "swap", twice)
    with pytest.raises(SwapRefused):
        ObjectStore(bucket.url).swap("other", b"", None)
    assert open_lake(homes[0], bucket).commit() == 2
    assert open_lake(homes[0], bucket).damage() == []


@pytest.mark.parametrize("condition", ["IfMatch", "IfNoneMatch"])
def test_a_server_that_ignores_conditions_is_refused_before_anything_is_uploaded(
    homes: tuple[Path, Path], bucket: Bucket, monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    write(homes[0], "2024-05", "a")
    opened = open_lake(homes[0], bucket)
    client = opened._store._client
    put = client.put_object
    monkeypatch.setattr(client, "put_object", lambda **how: put(**{k: v for k, v in how.items() if k != condition}))
    with pytest.raises(ObjectStoreError, match=r"the server ignores conditions of a put \(If-Match\); use another one"):
        opened.commit()
    assert bucket.versions() == []


def test_after_a_kill_before_the_swap_the_next_commit_goes_on(
    homes: tuple[Path, Path], bucket: Bucket, at: Callable[[str, Callable[[], object]], None]
) -> None:
    first, second = homes
    write(first, "2024-05", "a")
    open_lake(first, bucket).commit()
    manifest = bucket.get(MANIFEST)
    write(first, "2024-06", "b")
    at("bucket.swap", kill)
    with pytest.raises(Killed):
        open_lake(first, bucket).commit()
    assert bucket.get(MANIFEST) == manifest
    assert len(bucket.object_keys()) == 5, "the month and the folder's manifest are there, and nothing names them"
    open_lake(second, bucket).pull()
    assert names(second) == {"2024-05": ["a"]}
    assert open_lake(first, bucket).commit() == 0, "nothing is uploaded twice"
    assert len(bucket.object_keys()) == 4
    open_lake(second, bucket).pull()
    assert names(second) == {"2024-05": ["a"], "2024-06": ["b"]}


def _unnamed(bucket: Bucket) -> list[str]:
    """Keys within the prefix of objects that the manifest does not name."""
    keys = [key.removeprefix("archive/") for key in bucket.object_keys()]
    hashes = [entry["hash"] for entry in json.loads(bucket.get(MANIFEST))["objects"].values()]
    return [key for key in keys if key.count("-") > 1 and not any(hash_ in key for hash_ in hashes)]


def test_an_upload_of_another_machine_outlasts_a_commit_that_does_not_see_it(
    homes: tuple[Path, Path], bucket: Bucket, at: Callable[[str, Callable[[], object]], None]
) -> None:
    first, second = homes
    write(first, "2024-05", "a")

    def upload() -> None:
        open_lake(second, bucket).pull()
        write(second, "2024-06", "b")
        at("bucket.swap", kill)
        with pytest.raises(Killed):
            open_lake(second, bucket).commit()

    at("bucket.sweep", upload)
    open_lake(first, bucket).commit()
    assert len(bucket.object_keys()) == 5, "the second has uploaded on top of the commit, and may swap now"
    assert open_lake(second, bucket).commit() == 0
    assert open_lake(first, bucket).damage() == []


def test_what_a_killed_upload_left_is_deleted_once_it_is_futile(
    homes: tuple[Path, Path], bucket: Bucket, at: Callable[[str, Callable[[], object]], None]
) -> None:
    first, _ = homes
    write(first, "2024-05", "a")
    open_lake(first, bucket).commit()
    write(first, "2024-06", "forgotten")
    at("bucket.swap", kill)
    with pytest.raises(Killed):
        open_lake(first, bucket).commit()
    write(first, "2024-06")
    open_lake(first, bucket).commit()
    assert len(bucket.object_keys()) == 3
    write(first, "2024-07", "forgotten too")
    at("bucket.swap", kill)
    with pytest.raises(Killed):
        open_lake(first, bucket).commit()
    write(first, "2024-07")
    assert open_lake(first, bucket).damage() == [(key, "is named by no manifest") for key in _unnamed(bucket)]
    assert open_lake(first, bucket).commit() == 0, "the folder is as before the upload"
    assert len(bucket.object_keys()) == 3
    assert open_lake(first, bucket).damage() == []


def test_after_a_kill_behind_the_swap_the_commit_is_known_again(
    homes: tuple[Path, Path], bucket: Bucket, at: Callable[[str, Callable[[], object]], None]
) -> None:
    first, _ = homes
    write(first, "2024-05", "a")
    open_lake(first, bucket).commit()
    write(first, "2024-05", "b")
    at("bucket.sweep", kill)
    with pytest.raises(Killed):
        open_lake(first, bucket).commit()
    (first / BASE).unlink()  # the kill may come before it is noted, too
    assert len(bucket.object_keys()) == 5
    assert open_lake(first, bucket).commit() == 0
    assert len(bucket.object_keys()) == 3


def test_after_a_kill_while_it_fetches_a_pull_begins_anew(
    homes: tuple[Path, Path], bucket: Bucket, at: Callable[[str, Callable[[], object]], None]
) -> None:
    first, second = homes
    write(first, "2024-05", "a")
    open_lake(first, bucket).commit()
    open_lake(second, bucket).pull()
    write(first, "2024-05", "b")
    write(first, "2024-06", "c")
    open_lake(first, bucket).commit()
    at("file.rename", kill)
    with pytest.raises(Killed):
        open_lake(second, bucket).pull()
    assert names(second) == {}, "no manifest describes files of two commits"
    open_lake(second, bucket).pull()
    assert files(second) == files(first)


def test_older_versions_are_deleted(homes: tuple[Path, Path], server: S3Server) -> None:
    versioned = server.bucket(versioned=True)
    write(homes[0], "2024-05", "forgotten")
    open_lake(homes[0], versioned).commit()
    write(homes[0], "2024-05", "a")
    open_lake(homes[0], versioned).commit()
    assert len(versioned.versions()) == 3
    manifest, month, _ = versioned.object_keys()
    versioned.client.delete_object(Bucket=versioned.name, Key=month)
    key = month.removeprefix("archive/")
    assert open_lake(homes[0], versioned).damage() == [
        (key, "is missing"),
        *[(key, "is an older version")] * 2,  # of which the newest is a mark
    ]
    assert open_lake(homes[0], versioned).commit() == 1, "what was deleted by hand is uploaded again"
    assert open_lake(homes[0], versioned).damage() == []
    versioned.client.delete_object(Bucket=versioned.name, Key=manifest)
    assert open_lake(homes[0], versioned).commit() == 2, "a first commit is made again"
    assert open_lake(homes[0], versioned).damage() == []
    assert len(versioned.versions()) == 3


def test_nothing_else_in_the_bucket_is_deleted(homes: tuple[Path, Path], bucket: Bucket) -> None:
    others = ["archive/lake/notes.txt", "archive/lake/records/chat/2024-05.parquet", "archive/MANIFEST.json", "lake/x"]
    for key in others:
        bucket.put(key, b"of another program")
    write(homes[0], "2024-05", "a")
    open_lake(homes[0], bucket).commit()
    assert set(bucket.object_keys()) > set(others)
    assert len(bucket.object_keys()) == len(others) + 3


def test_the_lake_of_another_archive_is_refused(homes: tuple[Path, Path], bucket: Bucket) -> None:
    write(homes[0], "2024-05", "a")
    open_lake(homes[0], bucket).commit()
    other = BucketLake(homes[1], bucket.url, "f" * 16)
    for call in (other.pull, other.commit, other.damage):
        with pytest.raises(LakeError, match="holds the lake of another archive; name another prefix"):
            call()


def test_a_damaged_file_is_not_uploaded_and_a_damaged_object_not_taken(
    homes: tuple[Path, Path], bucket: Bucket
) -> None:
    first, second = homes
    write(first, "2024-05", "a")
    path = lake.month_path(first, "asset_asset_edges", "chat", "2024-05")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(LakeError, match=r"lake/asset_asset_edges/chat/2024-05.parquet differs from its manifest"):
        open_lake(first, bucket).commit()
    path.write_bytes(whole)
    open_lake(first, bucket).commit()
    (key,) = [key for key in bucket.object_keys() if key.endswith(".parquet")]
    bucket.put(key, whole[::-1])
    with pytest.raises(LakeError, match="is not as it was written"):
        open_lake(second, bucket).pull()
    assert names(second) == {}
    bucket.put(key, whole[:-1])
    assert [problem for _, problem in open_lake(first, bucket).damage()] == ["is not as it was written"]


def test_a_file_that_is_missing_is_fetched(homes: tuple[Path, Path], bucket: Bucket) -> None:
    home = homes[0]
    write(home, "2024-05", "a")
    write(home, "2024-06", "b")
    open_lake(home, bucket).commit()
    write(home, "2024-06", "newer")
    lake.month_path(home, "asset_asset_edges", "chat", "2024-05").unlink()
    assert open_lake(home, bucket).pull() == 1
    assert names(home) == {"2024-05": ["a"], "2024-06": ["newer"]}


def test_a_manifest_that_cannot_be_used_is_named(homes: tuple[Path, Path], bucket: Bucket) -> None:
    write(homes[0], "2024-05", "a")
    open_lake(homes[0], bucket).commit()
    written = bucket.get(MANIFEST)
    bucket.put(MANIFEST, written.replace(b"2024-05", b"2024-06"))
    with pytest.raises(LakeError, match=r"^s3://\S+: the manifest of the lake is not as it was written$"):
        open_lake(homes[0], bucket).commit()
    body = json.loads(written) | {"schema_version": SCHEMA_VERSION + 1}
    body.pop("seal")
    bucket.put(MANIFEST, sealed_json.seal(body).encode())
    with pytest.raises(LakeError, match="was written by a newer relrag"):
        open_lake(homes[1], bucket).pull()
