from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("moto", reason="moto is not installed: make setup")

from relrag_pipelines.stores.object_store import ObjectStore, ObjectStoreError, SwapRefused
from tests import s3_server
from tests.s3_server import SECRET, S3Server


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server.serving() as running:
        yield running


def test_an_object_is_swapped_by_who_has_read_it_last(server: S3Server) -> None:
    store = ObjectStore(server.bucket().url)
    assert store.read("name") is None
    store.swap("name", b"first", None)
    assert store.read("name") is not None
    _, tag = store.read("name") or (b"", "")
    store.swap("name", b"second", tag)
    with pytest.raises(SwapRefused, match="changed by another writer"):
        store.swap("name", b"third", tag)
    with pytest.raises(SwapRefused):
        store.swap("name", b"third", None)
    with pytest.raises(SwapRefused):
        store.swap("gone", b"third", tag)
    assert (store.read("name") or (b"", ""))[0] == b"second"


def test_files_are_put_fetched_and_deleted_below_the_prefix(server: S3Server, tmp_path: Path) -> None:
    bucket = server.bucket()
    bucket.put("other/lake/name", b"of another program")
    store = ObjectStore(bucket.url)
    (tmp_path / "file").write_bytes(b"x" * 3_000_000)
    store.put("lake/name", tmp_path / "file")
    store.fetch("lake/name", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"x" * 3_000_000
    (version,) = store.versions("lake")
    assert (version.key, version.bytes, version.is_latest) == ("lake/name", 3_000_000, True)
    store.delete([version])
    assert bucket.object_keys() == ["other/lake/name"]


def test_older_versions_and_marks_are_listed_and_deleted(server: S3Server, tmp_path: Path) -> None:
    bucket = server.bucket(versioned=True)
    store = ObjectStore(bucket.url)
    (tmp_path / "file").write_bytes(b"a")
    store.put("lake/name", tmp_path / "file")
    (tmp_path / "file").write_bytes(b"bb")
    store.put("lake/name", tmp_path / "file")
    assert sorted((version.bytes, version.is_latest) for version in store.versions("lake")) == [(1, False), (2, True)]
    bucket.client.delete_object(Bucket=bucket.name, Key="archive/lake/name")
    assert [version.is_latest for version in store.versions("lake")] == [False, False, False]
    store.delete(store.versions("lake"))
    assert bucket.versions() == []


def test_a_server_without_versions_lists_objects(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from botocore.exceptions import ClientError

    bucket = server.bucket()
    bucket.put("archive/lake/name", b"abc")
    store = ObjectStore(bucket.url)
    paginator = store._client.get_paginator

    def without_versions(operation: str) -> object:
        if operation == "list_object_versions":
            raise ClientError({"Error": {"Code": "NotImplemented"}}, operation)
        return paginator(operation)

    monkeypatch.setattr(store._client, "get_paginator", without_versions)
    (version,) = store.versions("lake")
    assert (version.key, version.id, version.bytes, version.is_latest) == ("lake/name", None, 3, True)
    store.delete([version])
    assert bucket.object_keys() == []


@pytest.mark.parametrize("url", ["http://192.0.2.1:9000", "http://s3.example.org"])
def test_plain_http_is_for_this_machine_alone(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    with pytest.raises(ObjectStoreError, match="is not https; only on this machine plain http will do"):
        ObjectStore("s3://bucket/folder")
    monkeypatch.setenv("AWS_ENDPOINT_URL", url.replace("http:", "https:"))
    ObjectStore("s3://bucket/folder")


def test_errors_name_the_bucket_and_no_secret(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ObjectStoreError) as missing:
        ObjectStore("s3://no-such-bucket/folder").versions("lake")
    assert str(missing.value) == (
        "s3://no-such-bucket/folder: there is no such bucket; create it, or correct `home_lake` (NoSuchBucket)"
    )
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    with pytest.raises(ObjectStoreError, match="there are no credentials"):
        ObjectStore("s3://lake/folder").read("name")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(ObjectStoreError, match="cannot be reached") as down:
        ObjectStore("s3://lake/folder").read("name")
    assert SECRET not in str(down.value)
    assert down.value.__cause__ is None


def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "botocore.session", None)
    with pytest.raises(ObjectStoreError, match=r"pip install 'relrag\[s3\]'"):
        ObjectStore("s3://lake/folder")
