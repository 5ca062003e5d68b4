"""What is known of this machine: zones, synced folders, git trees, network file systems."""

import subprocess
from pathlib import Path

import pytest

from relrag_pipelines.onboarding import environment
from tests.cases import cases

NOWHERE = Path("/nonexistent/file")


def link(folder: Path, target: str) -> Path:
    path = folder / "localtime"
    path.symlink_to(target)
    return path


@pytest.mark.parametrize(*cases(__file__, "the_zone_comes_from_tz"))
def test_the_zone_comes_from_tz(said: str, expected: str | None) -> None:
    assert environment.time_zone({"TZ": said}, NOWHERE, NOWHERE) == expected


@pytest.mark.parametrize(*cases(__file__, "the_zone_comes_from_the_link"))
def test_the_zone_comes_from_the_link(tmp_path: Path, target: str, expected: str | None) -> None:
    assert environment.time_zone({}, link(tmp_path, target), NOWHERE) == expected


def test_where_localtime_is_a_copy_the_zone_comes_from_its_name(tmp_path: Path) -> None:
    (tmp_path / "localtime").write_bytes(b"TZif2")
    (tmp_path / "timezone").write_text("Asia/Jerusalem\n")
    assert environment.time_zone({}, tmp_path / "localtime", tmp_path / "timezone") == "Asia/Jerusalem"
    assert environment.time_zone({}, tmp_path / "localtime", NOWHERE) is None


def test_a_useless_tz_does_not_hide_the_link(tmp_path: Path) -> None:
    zone = environment.time_zone({"TZ": "EST5EDT4"}, link(tmp_path, "/usr/share/zoneinfo/Europe/Prague"), NOWHERE)
    assert zone == "Europe/Prague"


@pytest.mark.parametrize(*cases(__file__, "a_synced_folder_is_told_by_its_name"))
def test_a_synced_folder_is_told_by_its_name(tmp_path: Path, path: str, program: str | None) -> None:
    assert environment.sync_provider(tmp_path / path) == program


@pytest.mark.parametrize(
    ("mark", "program"),
    [(".stfolder", "Syncthing"), (".dropbox.cache", "Dropbox"), (".sync_0a1b2c.db", "Nextcloud")],
)
def test_a_synced_folder_is_told_by_what_programs_leave_in_it(tmp_path: Path, mark: str, program: str) -> None:
    (tmp_path / mark).touch()
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert environment.sync_provider(tmp_path / "a" / "b" / ".relrag") == program


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def test_a_git_tree_would_take_up_a_home_until_it_ignores_it(tmp_path: Path) -> None:
    home = tmp_path / "archive" / ".relrag"
    assert environment.enclosing_git_tree(home) is None
    assert environment.tracking_git_tree(home) is None
    git(tmp_path, "init")
    assert environment.enclosing_git_tree(home) == tmp_path.resolve()
    assert environment.tracking_git_tree(home) == tmp_path.resolve()
    (tmp_path / ".gitignore").write_text(".relrag/\n")
    assert environment.tracking_git_tree(home) is None
    assert list(environment.location_warnings(home)) == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("nfs4", "nfs4"), ("cifs", "cifs"), ("fuse.sshfs", "fuse.sshfs"), ("9p", "9p"), ("ext4", None), ("fuseblk", None)],
)
def test_a_network_file_system_is_told_by_the_mount_that_holds_the_folder(kind: str, expected: str | None) -> None:
    mounts = {"/": "ext4", "/srv/share": kind, "/srv/share/fast": "xfs"}
    assert environment.network_file_system(Path("/srv/share/archive/.relrag"), mounts) == expected
    assert environment.network_file_system(Path("/srv/share/fast/archive"), mounts) is None
    assert environment.network_file_system(Path("/srv/shared/archive"), mounts) is None


def test_free_space_is_known_for_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    assert environment.free_bytes(tmp_path / "a" / "b") == pytest.approx(environment.free_bytes(tmp_path), rel=0.1)
