"""Backups that the owner makes on the pages, and the schedule, on the page of the archive."""

import re
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.files import sealed_json
from relrag_pipelines.ingest import unread_files
from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.maintenance import backup as backup_files
from relrag_pipelines.records import SCHEMA_VERSION
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS
from relrag_query.jobs import Job
from relrag_query.owner import backups
from relrag_query.owner.switch import OnlyReads
from relrag_query.service import Service
from tests import archive
from tests.folder_of_everything import zipped
from tests.ingest.test_ownership import put, readers
from tests.web_app import COOKIE, client


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backups")
    archive.first_sync(archive.make(folder, "web_writes_enabled = true"))
    return folder


@pytest.fixture
def config(synced: Path, tmp_path: Path) -> Path:
    return archive.clone(synced, tmp_path / "copy") / "relrag.toml"


def test_a_backup_goes_into_a_folder_of_its_own_and_the_page_tells_of_it(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def start(home: Path, config: Path, operation: str, arguments: list[str], about: str = "") -> Job:
        calls.append(arguments)
        return Job(operation, about, "", "2024-03-01T08:00:00+00:00", exit_code=0)

    monkeypatch.setattr("relrag_query.jobs.start", start)
    monkeypatch.setenv("RELRAG_NOW", "2024-06-01T12:00:00+00:00")
    with client(config) as browser:
        assert "No backup was made here yet." in browser.get("/archive", headers=COOKIE).text
        assert browser.post("/owner/backup", json={}, headers=COOKIE).status_code == 200
        ((command, folder),) = calls
        assert command == "backup"
        assert Path(folder).parent == config.parent / "backups"
        assert re.fullmatch(r".+ 2024-06-01 12\.00\.00", Path(folder).name)
        settings = settings_module.load(config)
        backup_files.backup(settings, Path(folder))
        (config.parent / "backups" / "unfinished").mkdir()
        assert backup_files.latest(settings.backup_path) == (Path(folder), "2024-06-01T12:00:00+00:00")
        page = browser.get("/archive", headers=COOKIE).text
    assert "Last backup: 1 June 2024, 14:00 (Europe/Prague)." in page
    assert f"<bdi>{config.parent}/backups</bdi>" in page


def test_what_is_no_backup_is_passed_over(config: Path) -> None:
    folder = config.parent / "backups"
    assert backup_files.latest(folder) is None, "there is no such folder"
    settings = settings_module.load(config)
    made_at = str(backup_files.backup(settings, folder / "good")["made_at"])
    for name, write in {
        "without a time": lambda file: file.write_text(sealed_json.seal({"schema_version": SCHEMA_VERSION})),
        "a folder": lambda file: file.mkdir(),
        "not to be read": lambda file: (file.write_text("{}"), file.chmod(0)),
        "no json": lambda file: file.write_text("?"),
    }.items():
        (folder / name).mkdir()
        write(folder / name / "MANIFEST.json")
    (folder / "a file").touch()
    assert backup_files.latest(folder) == (folder / "good", made_at)
    assert backup_files.latest(folder / "a file") is None


def test_no_source_reads_the_backups(tmp_path: Path) -> None:
    put(tmp_path, {"lease.md": "# Lease", "backups/old/home/lease.md": "# Lease", "backups/old/song.mp3": b"ID3"})
    put(tmp_path, {"index/private/lease.md": "# Lease", "index/song.mp3": b"ID3", "backups2/plan.md": "# Plan"})
    put(tmp_path, {"backups/old/mails.zip": zipped({"mails.mbox": b"From - Mon\n"})})
    found = Settings.model_validate(
        {
            "folder": tmp_path,
            "home": "index",
            "sources": [{"name": "papers", "kind": "document", "path": "."}],
        }
    )
    assert readers(found) == {"lease.md": ["papers"], "backups2/plan.md": ["papers"]}
    unread = unread_files.find_unread(found)
    assert (unread.of_no_kind, unread.of_no_source) == ([], [])
    assert unread_files.find_unread(found, tmp_path).of_no_kind == []


def test_a_source_among_the_backups_is_read(tmp_path: Path) -> None:
    put(tmp_path, {"disk/exports/lease.md": "# Lease"})
    sources = [{"name": "papers", "kind": "document", "path": "disk/exports"}]
    found = Settings.model_validate({"folder": tmp_path, "backup_folder": "disk", "sources": sources})
    assert readers(found) == {"disk/exports/lease.md": ["papers"]}
    assert found.own_folders == [found.home_path]


def test_a_backup_beside_a_chat_is_no_reason_to_read_it_again(tmp_path: Path) -> None:
    put(tmp_path, {"result.json": "{}"})
    sources = [{"name": "chat", "kind": "telegram", "path": "."}]
    found = Settings.model_validate({"folder": tmp_path, "sources": sources})

    def seen() -> list[str]:
        (source,) = found.sources
        scan = scan_units(found.source_path(source), KINDS[source.kind], source, {}, "")
        return [unit.siblings_fingerprint for unit in scan.units.values()]

    before = seen()
    put(tmp_path, {"backups/old/a.jpg": b"\xff\xd8"})
    assert seen() == before
    put(tmp_path, {"media/a.jpg": b"\xff\xd8"})
    assert seen() != before, "a folder of media that is not relrag's own"


def test_the_schedule_is_shown_and_switched(config: Path) -> None:
    with client(config) as browser:
        assert "read each night at 03:30" in browser.get("/archive", headers=COOKIE).text
        off = {"values": {"nightly": "off"}}
        assert browser.post("/owner/change_settings", json=off, headers=COOKIE).json() == {"changed": ["nightly"]}
        page = browser.get("/archive", headers=COOKIE).text
        assert "Nothing is read on a schedule." in page
        assert '<input type="time" name="nightly" value="03:30" aria-label="Time of the nightly sync" required>' in page
        assert settings_module.load(config).nightly == "off"
        at = {"values": {"nightly": "22:15"}}
        assert browser.post("/owner/change_settings", json=at, headers=COOKIE).json() == {"changed": ["nightly"]}
        page = browser.get("/archive", headers=COOKIE).text
        assert "read each night at 22:15" in page
        assert '<input type="hidden" name="nightly" value="off 22:15">' in page
        kept = {"values": {"nightly": "off 22:15"}}
        assert browser.post("/owner/change_settings", json=kept, headers=COOKIE).json() == {"changed": ["nightly"]}
        page = browser.get("/archive", headers=COOKIE).text
        assert '<input type="time" name="nightly" value="22:15"' in page
        assert "Nothing is read on a schedule" in page


def test_pages_that_only_read_make_no_backup(tmp_path: Path) -> None:
    config: Any = archive.make(tmp_path, "web_writes_enabled = false")
    with Service.open(config) as service, pytest.raises(OnlyReads):
        backups.start(service)
