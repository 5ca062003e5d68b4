"""Backups that the owner makes on the pages, and the schedule, on the page of the archive."""

import re
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.maintenance import backup as backup_files
from relrag_query.jobs import Job
from relrag_query.owner import backups
from relrag_query.owner.switch import OnlyReads
from relrag_query.service import Service
from tests import archive
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


def test_the_schedule_is_shown_and_switched(config: Path) -> None:
    with client(config) as browser:
        assert "read each night at 03:30" in browser.get("/archive", headers=COOKIE).text
        off = {"values": {"nightly": "off"}}
        assert browser.post("/owner/change_settings", json=off, headers=COOKIE).json() == {"changed": ["nightly"]}
        page = browser.get("/archive", headers=COOKIE).text
        assert "Nothing is read on a schedule." in page
        assert "&#34;03:30&#34;" in page or '"03:30"' in page
    assert settings_module.load(config).nightly == "off"


def test_pages_that_only_read_make_no_backup(tmp_path: Path) -> None:
    config: Any = archive.make(tmp_path, "web_writes_enabled = false")
    with Service.open(config) as service, pytest.raises(OnlyReads):
        backups.start(service)
