"""What lies in a home is for its owner only, whatever umask a process has."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines import links
from relrag_pipelines.files import access
from relrag_pipelines.maintenance import backup
from relrag_pipelines.workers import pool as workers
from relrag_query.archive import Archive
from relrag_query.cli.commands import sync as commands
from tests import ROOT, archive


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """That of most machines: others may read."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def open_to_others(home: Path) -> list[str]:
    return sorted(path.relative_to(home).as_posix() for path in (home, *home.rglob("*")) if mode(path) & 0o077)


def test_a_sync_closes_what_an_earlier_version_left_open(tmp_path: Path) -> None:
    """Also one that has nothing else to do."""
    config = archive.make(tmp_path)
    home = archive.sync(config).home
    for path in (home, *home.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    assert commands.sync(config) == 0
    assert open_to_others(home) == []
    assert {mode(path) for path in home.rglob("*")} == {0o600, 0o700}


def test_only_what_is_ours_is_closed(tmp_path: Path) -> None:
    """A home may be set by mistake to a folder of other things, and a link may lead anywhere."""
    home, other = tmp_path / "home", tmp_path / "other"
    (home / "lake" / "records").mkdir(parents=True)
    (home / "bin").mkdir()
    for path in (home / "bin" / "tool", other, home / "lake" / "month", home / "lock"):
        path.touch()
        path.chmod(0o755)
    (home / "lake" / "link").symlink_to(other)
    access.restrict_folder(home)
    assert {path.relative_to(tmp_path).as_posix(): mode(path) for path in tmp_path.rglob("*")} == {
        "home": 0o700,
        "home/bin": 0o755,
        "home/bin/tool": 0o755,
        "home/lake": 0o700,
        "home/lake/link": 0o777,
        "home/lake/month": 0o600,
        "home/lake/records": 0o700,
        "home/lock": 0o600,
        "other": 0o755,
    }


def test_a_home_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    access.restrict_folder(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_reading_as_a_library_leaves_the_umask_and_opens_nothing(tmp_path: Path) -> None:
    """Qdrant writes its configuration anew whenever it opens a store; the program around us keeps its umask."""
    config = archive.make(tmp_path)
    home = archive.sync(config).home
    access.restrict_folder(home)
    (written,) = home.rglob("edge_config.json")
    before = written.stat().st_ino
    with Archive.open(config) as opened:
        assert opened.search("key of the cabin").hits
    assert written.stat().st_ino != before, "it was not written anew, so this shows nothing"
    assert open_to_others(home) == []
    assert os.umask(0o022) == 0o022


def test_what_a_library_writes_is_closed_file_by_file(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    home = archive.sync(config).home
    access.restrict_folder(home)
    links.link_assets("jsonl:notes:n1", "jsonl:notes:n2", "references", 0.9, "the same boiler", config=config)
    assert (home / "private" / "journal.jsonl").exists()
    assert open_to_others(home) == []


def test_a_worker_writes_for_the_owner_only(tmp_path: Path) -> None:
    """Whoever started it may be a library's user, with any umask."""
    pool = workers.start_pool(1)
    assert pool
    try:
        pool.executors[0].submit(Path.touch, tmp_path / "made").result()
    finally:
        workers.stop_pool(pool)
    assert mode(tmp_path / "made") == 0o600


def test_what_dagster_loads_writes_for_the_owner_only(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    load = f"from relrag_pipelines import definitions; definitions.defs(); open({str(tmp_path / 'made')!r}, 'w')"
    subprocess.run([sys.executable, "-c", load], env={**os.environ, "RELRAG_CONFIG": str(config)}, cwd=ROOT, check=True)
    assert mode(tmp_path / "made") == 0o600


def test_relrag_toml_is_as_the_user_makes_files(tmp_path: Path) -> None:
    """It lies among their own, and a container may have to read it as somebody else."""
    (tmp_path / "WhatsApp Chat with Dana.txt").write_text("24/12/2023, 18:00 - Dana: Hello\n")
    relrag = str(Path(sys.executable).with_name("relrag"))
    subprocess.run([relrag, "init", str(tmp_path), "--yes"], check=True, capture_output=True, cwd=tmp_path)
    assert mode(tmp_path / "relrag.toml") == 0o644


def test_what_is_restored_is_private_but_for_relrag_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_given", None)
    config = archive.make(tmp_path)
    made = archive.sync(config)
    access.owner_only()
    backup.backup(made.settings, tmp_path / "kept", everything=True)
    backup.restore(tmp_path / "kept", tmp_path / "back")
    assert open_to_others(tmp_path / "kept") == []
    assert open_to_others(tmp_path / "back" / ".relrag") == []
    assert mode(tmp_path / "back" / "relrag.toml") == 0o644
