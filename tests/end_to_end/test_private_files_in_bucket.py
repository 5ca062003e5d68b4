"""An archive whose private files are in its bucket too, encrypted: a second machine starts from settings and keys."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("moto", reason="moto is not installed: make setup")

from relrag_pipelines import settings
from relrag_pipelines.erasure import byte_search
from relrag_pipelines.files import atomic, failpoints
from relrag_pipelines.ingest import ingest
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import CallDecision
from relrag_pipelines.privacy import keys
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.stages import month_stages, whole_archive
from relrag_pipelines.stores.lake import LakeError
from relrag_query.archive import Archive
from relrag_query.cli.commands import forget as forgetting
from relrag_query.cli.commands import sync as commands
from relrag_query.cli.commands import verify as verifying
from relrag_query.forgetting import ForgetRequest
from tests import archive, s3_server
from tests.s3_server import Bucket, S3Server

QUOTED = "The plumber quoted 7,980 for the boiler."
KEPT = "Remember to thank the plumber."
STATED = CallDecision("call_recording:1", "approve")


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server.serving() as running:
        yield running


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    archive.do_without_dagster(monkeypatch)
    archive.do_without_indexes(monkeypatch)


def make(folder: Path, bucket: Bucket, extra: str = "home_lake_private = true\n") -> Path:
    folder.mkdir()
    return archive.make(folder, f'home_lake = "{bucket.url}"\n{extra}')


def second_machine(config: Path, folder: Path) -> Path:
    """The same exports, settings and keys without a home; its relrag.toml."""
    copy = archive.clone(config.parent, folder) / "relrag.toml"
    shutil.rmtree(archive.home(folder))
    return copy


def private_files(config: Path) -> dict[str, bytes]:
    """The files of private/ by their paths within it."""
    private = archive.home(config.parent) / "private"
    return {name: (private / name).read_bytes() for name in atomic.files(private)}


def decrypted(config: Path, bucket: Bucket, folder: Path) -> Path:
    """Every version of every private object of the bucket, decrypted into a folder."""
    workspace_keys = archive.workspace(config).keys
    for number, path in enumerate(sorted(bucket.download(folder / "sealed").rglob("private/*.sealed"))):
        plain = workspace_keys.unseal_bytes(path.read_bytes(), "private file")
        assert plain is not None
        (folder / f"{number}").write_bytes(plain.partition(b"\0")[2])
        (folder / f"{number}.parquet").write_bytes(plain.partition(b"\0")[2])
    return folder


def test_a_machine_without_private_files_starts_from_the_bucket_and_makes_nothing_again(
    tmp_path: Path, server: S3Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket = server.bucket()
    config = make(tmp_path / "first", bucket)
    assert commands.sync(config) == 0
    second = second_machine(config, tmp_path / "second")

    def refuse(*_: object) -> None:
        raise AssertionError("nothing of the lake is made again")

    monkeypatch.setattr(month_stages, "run", refuse)
    monkeypatch.setattr(whole_archive, "run", refuse)
    monkeypatch.setattr(ingest, "ingest", refuse)
    capsys.readouterr()
    assert commands.sync(second) == 0
    assert f"private files were fetched from {bucket.url}." in capsys.readouterr().out
    assert private_files(second) == private_files(config)
    assert verifying.verify(second) == 0
    with Archive.open(second) as opened:
        assert QUOTED in {hit.text for hit in opened.search("what did the plumber quote").hits}


def test_no_private_file_is_in_the_bucket_unless_the_setting_says_so(tmp_path: Path, server: S3Server) -> None:
    bucket = server.bucket()
    config = make(tmp_path / "archive", bucket, "")
    assert commands.sync(config) == 0
    assert not [key for key in bucket.object_keys() if "/private/" in key]
    archive.configure(config.parent, f'home_lake = "{bucket.url}"\nhome_lake_private = true\n')
    assert commands.sync(config) == 0
    assert len([key for key in bucket.object_keys() if "/private/" in key]) > 5
    archive.configure(config.parent, f'home_lake = "{bucket.url}"\n')
    assert commands.sync(config) == 0
    assert not [key for key in bucket.object_keys() if "/private/" in key]


def test_what_is_forgotten_leaves_the_encrypted_files_too(tmp_path: Path, server: S3Server) -> None:
    versioned = server.bucket(versioned=True)
    config = make(tmp_path / "archive", versioned)
    assert commands.sync(config) == 0
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    before = byte_search.search(decrypted(config, versioned, tmp_path / "before"), [QUOTED, KEPT])
    assert before.hits == {QUOTED, KEPT}
    assert forgetting.forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True) == 0
    after = byte_search.search(decrypted(config, versioned, tmp_path / "after"), [QUOTED, KEPT])
    assert after.hits == {KEPT}
    assert len(versioned.versions()) == len(versioned.object_keys())


def test_a_restoration_that_was_killed_is_done_again(
    tmp_path: Path, server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = server.bucket()
    config = make(tmp_path / "first", bucket)
    assert commands.sync(config) == 0
    second = second_machine(config, tmp_path / "second")
    private = archive.home(second.parent) / "private"
    written: list[Path] = []

    def kill(name: str, path: Path) -> None:
        if name == "file.rename" and path.suffix == ".parquet" and path.is_relative_to(private):
            written.append(path)
        if len(written) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as killing, pytest.raises(KeyboardInterrupt):
        killing.setattr(failpoints, "watch", kill)
        commands.sync(second)
    assert 0 < len(private_files(second)) < len(private_files(config))
    assert commands.sync(second) == 0
    assert private_files(second) == private_files(config)


def test_a_machine_that_has_exported_keeps_its_own_and_leaves_those_of_another(
    tmp_path: Path, server: S3Server
) -> None:
    bucket = server.bucket()
    config = make(tmp_path / "first", bucket)
    assert commands.sync(config) == 0
    second = archive.clone(config.parent, tmp_path / "second") / "relrag.toml"
    journal.append(archive.home(second.parent), [STATED])
    (archive.home(second.parent) / "private" / "MANIFEST.json").unlink()
    shutil.rmtree(archive.home(second.parent) / "lake")
    before = bucket.versions()
    assert commands.sync(second) == 0
    assert STATED in [entry.statement for entry in journal.entries(archive.home(second.parent))]
    assert bucket.versions() == before, "the lake is as it was"
    assert commands.sync(config) == 0
    assert bucket.versions() == before


def test_what_the_pages_stated_before_the_first_sync_stays(tmp_path: Path, server: S3Server) -> None:
    bucket = server.bucket()
    config = make(tmp_path / "first", bucket)
    assert commands.sync(config) == 0
    second = second_machine(config, tmp_path / "second")
    journal.append(archive.home(second.parent), [STATED])
    assert commands.sync(second) == 0
    assert STATED in [entry.statement for entry in journal.entries(archive.home(second.parent))]
    assert private_files(second).keys() >= private_files(config).keys()


def test_the_setting_needs_a_bucket(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="needs home_lake"):
        settings.load(archive.make(tmp_path, "home_lake_private = true\n"))


def test_other_keys_are_named(tmp_path: Path, server: S3Server) -> None:
    bucket = server.bucket()
    config = make(tmp_path / "first", bucket)
    assert commands.sync(config) == 0
    second = second_machine(config, tmp_path / "second")
    own = archive.workspace(config).keys
    (second.parent / "test.keys").write_text(keys.to_text(dataclasses.replace(own, pseudonyms=b"\1" * 32)))
    with pytest.raises(LakeError, match="the private files in the bucket were encrypted with other keys"):
        commands.sync(second)
