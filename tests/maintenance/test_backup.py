"""What cannot be made again is kept, checked and put back; nothing is replaced unasked."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.files import atomic
from relrag_pipelines.files.sparse_files import copy_with_holes
from relrag_pipelines.maintenance import backup as backups
from relrag_pipelines.maintenance.backup import BackupError
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.stores import audit_mark, lock
from relrag_query.archive import Archive
from relrag_query.cli.commands.backup import backup, restore
from tests import archive
from tests.make_home import rows


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    """A folder on a disk: files in memory take up what was only reserved for them."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="relrag-test-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def synced(disk: Path) -> Path:
    """An archive whose papers are retained, and one of which is gone."""
    folder = disk / "synced"
    folder.mkdir()
    config = archive.make(folder)
    config.write_text(config.read_text().replace('path = "papers"', 'path = "papers"\nretain = true'))
    gone = folder / "papers" / "inventory 2024-03-01.md"
    gone.write_text("# Inventory\n\nTwo red sleds and one boiler.\n")
    home = archive.first_sync(config).home
    gone.unlink()
    (home / "dagster" / "history").mkdir(parents=True)
    with sqlite3.connect(home / "dagster" / "history" / "runs.db") as database:
        database.execute("CREATE TABLE runs (id TEXT)")
    database.close()
    return folder


@pytest.fixture
def config(synced: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "archive"
    copy_with_holes(synced, folder)
    (folder / "test.keys").chmod(0o600)
    return folder / "relrag.toml"


def test_what_cannot_be_made_again_goes_round(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, place = config.parent, tmp_path / "backup"
    before = rows(folder / ".relrag")
    assert backup(place, config) == 0
    said = capsys.readouterr().out
    assert "What cannot be rebuilt of test is in" in said
    assert "With the private records of papers: their files may be gone" in said
    assert f"warning: {place / 'test.keys'} holds the keys" in said
    assert sorted(atomic.files(place)) == [
        "MANIFEST.json",
        "home/private/failures/papers.parquet",
        "home/private/journal.jsonl",
        "home/private/records/papers/2024-01.parquet",
        "home/private/records/papers/2024-03.parquet",
        "home/private/records/papers/MANIFEST.json",
        "home/private/units/papers.parquet",
        "relrag.toml",
        "test.keys",
    ]
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE((place / "test.keys").stat().st_mode) == 0o600
    shutil.rmtree(folder / ".relrag")
    (folder / "test.keys").unlink()
    config.unlink()
    assert restore(place, to=folder) == 0
    assert "Everything else is rebuilt from the exports: run `relrag sync`" in capsys.readouterr().out
    assert stat.S_IMODE((folder / "test.keys").stat().st_mode) == 0o600
    archive.sync(config)
    # the retained document is there, and every id and pseudonym is as it was
    assert rows(folder / ".relrag") == before
    assert verify_home(folder / ".relrag") == []


def test_months_that_were_redacted_and_not_checked_are_so_in_a_restored_home(config: Path, tmp_path: Path) -> None:
    home, place = config.parent / ".relrag", tmp_path / "backup"
    audit_mark.mark_unaudited(home, "chat", [])
    assert verify_home(home) == [], "the next sync checks it: nothing is wrong with the home"
    assert backup(place, config, everything=True) == 0
    shutil.rmtree(home)
    assert restore(place, to=config.parent, force=True) == 0
    assert (audit_mark.is_unaudited(home, "chat"), audit_mark.is_unaudited(home, "notes")) == (True, False)


def test_everything_goes_round_with_its_holes(synced: Path, disk: Path) -> None:
    home, place, other = synced / ".relrag", disk / "backup", disk / "other"
    (synced / "test.keys").chmod(0o600)
    assert backup(place, synced / "relrag.toml", everything=True) == 0
    assert restore(place, to=other) == 0
    contents = archive.contents(home)
    assert {name: data for name, (_, data) in archive.contents(other / ".relrag").items() if ".db" not in name} == {
        name: data for name, (_, data) in contents.items() if ".db" not in name
    }
    assert verify_home(other / ".relrag") == []
    with Archive.open(other / "relrag.toml") as opened:
        assert opened.search("orangery").hits[0].chunk.source == "papers"
    apparent = sum(len(data) for _, data in contents.values())
    for copy in (place, other):
        assert sum((copy / name).stat().st_blocks * 512 for name in atomic.files(copy)) < apparent / 5


def test_keys_that_are_kept_apart(config: Path, tmp_path: Path) -> None:
    place, other, safe = tmp_path / "backup", tmp_path / "other", tmp_path / "safe.keys"
    backup(place, config)
    keys = (place / "test.keys").read_bytes()
    (place / "test.keys").rename(safe)
    with pytest.raises(BackupError, match=r"the keys are not in .*: name the file that they were moved to with --keys"):
        restore(place, to=other)
    assert not other.exists()
    assert restore(place, to=other, keys=safe) == 0
    assert (other / "test.keys").read_bytes() == keys
    safe.write_text("{}")
    with pytest.raises(BackupError, match=r"not as it was backed up: .*safe.keys"):
        restore(place, to=tmp_path / "third", keys=safe)


def test_nothing_is_replaced_unasked(config: Path, tmp_path: Path) -> None:
    place, folder = tmp_path / "backup", config.parent
    backup(place, config, everything=True)
    (folder / "notes.jsonl").write_text('{"id": "n1", "text": "Something else."}\n')
    config.write_text(config.read_text() + "\n# mine\n")
    before = archive.contents(folder)
    with pytest.raises(BackupError, match=r"relrag.toml is already there; --force replaces it .nothing was changed"):
        restore(place, to=folder)
    assert archive.changed(before, archive.contents(folder)) == []
    (folder / ".relrag" / "private" / "stray").write_text("mine")
    assert restore(place, to=folder, force=True) == 0
    assert "# mine" not in config.read_text()
    assert verify_home(folder / ".relrag") == []
    assert sorted(path.name for path in folder.iterdir()) == [
        ".relrag", "chats", "notes.jsonl", "papers", "relrag.toml", "test.keys",
    ]  # fmt: skip


def test_a_backup_is_checked_before_anything_is_written(config: Path, tmp_path: Path) -> None:
    place, other = tmp_path / "backup", tmp_path / "other"
    backup(place, config)
    month = place / "home" / "private" / "records" / "papers" / "2024-03.parquet"
    content = month.read_bytes()
    month.write_bytes(content[:-1] + b"2")
    with pytest.raises(BackupError, match=r"not as it was backed up: .*2024-03.parquet .nothing was changed"):
        restore(place, to=other)
    month.write_bytes(content)
    manifest = place / "MANIFEST.json"
    manifest.write_text(manifest.read_text().replace('"everything": false', '"everything": true'))
    with pytest.raises(BackupError, match=r"MANIFEST.json is not as it was written; use another backup"):
        restore(place, to=other)
    manifest.unlink()
    with pytest.raises(BackupError, match="is not a backup, or not a finished one"):
        restore(place, to=other)
    assert not other.exists()


def test_a_backup_goes_into_a_folder_of_its_own(config: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="is not empty; name a new folder"):
        backup(config.parent, config)
    with pytest.raises(BackupError, match="lies within"):
        backup(config.parent / ".relrag" / "backup", config)
    assert not (config.parent / ".relrag" / "backup").exists()


def test_a_backup_waits_for_nobody_halfway(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = config.parent / ".relrag"
    monkeypatch.setattr(lock, "_held", {})
    with lock.writing(home, "relrag sync"):
        monkeypatch.setattr(lock, "_held", {})  # as another process sees it
        with pytest.raises(lock.LockedByOther, match=r"relrag sync .* is writing"):
            backup(tmp_path / "backup", config)
    assert not (tmp_path / "backup").exists()


def test_an_archive_that_was_never_synced_has_its_settings_to_keep(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    config = archive.make(folder)
    manifest = backups.backup(archive.workspace(config).settings, tmp_path / "backup")
    assert list(manifest["files"]) == ["relrag.toml"]
    assert not (folder / ".relrag").exists()
    assert restore(tmp_path / "backup", to=tmp_path / "other") == 0
    assert (tmp_path / "other" / "relrag.toml").read_text() == config.read_text()
