"""Of a repository that has only grown the new commits are read; what is stored is as if all had been."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.sources import git as connector
from relrag_pipelines.stores import unit_state
from relrag_pipelines.workspace import Workspace
from tests import archive
from tests.repositories import commit, git, make

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"
[[sources]]
name = "projects"
kind = "git"
path = "projects"
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "relrag.toml").write_text(CONFIG)
    return Workspace(settings_module.load(tmp_path / "relrag.toml", {}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two commits on main, and one on a branch that began at the first."""
    folder = make(tmp_path / "projects" / "web")
    commit(folder, "one", {"a": "1"}, when="1733000000 +0000")
    git(folder, "branch", "zebra")
    commit(folder, "two", {"a": "2"}, when="1733100000 +0000")
    git(folder, "checkout", "--quiet", "zebra")
    commit(folder, "stripes", {"b": "1"}, when="1733200000 +0000")
    git(folder, "checkout", "--quiet", "main")
    return folder


def another(project: Path) -> None:
    commit(project, "three", {"a": "3"}, when="1736000000 +0000")


def on_the_branch(project: Path) -> None:
    git(project, "checkout", "--quiet", "zebra")
    another(project)


def released(project: Path) -> None:
    another(project)
    git(project, "tag", "-a", "v1", "-m", "One")


def merged(project: Path) -> None:
    git(project, "merge", "--quiet", "--no-ff", "-m", "merge", "zebra", when="1736000000 +0000")


def tagged(project: Path) -> None:
    another(project)
    git(project, "tag", "v0", "main~1")


def branched(project: Path) -> None:
    another(project)
    git(project, "branch", "aaa", "zebra")


def amended(project: Path) -> None:
    git(project, "commit", "--quiet", "--amend", "-m", "two, again", when="1733100000 +0000")


def untagged(project: Path) -> None:
    another(project)
    git(project, "branch", "-D", "zebra")


def with_a_tail(project: Path) -> None:
    git(project, "merge", "--quiet", "--no-ff", "-m", "merge", "zebra", when="1736000000 +0000")
    another(project)


def untouched(project: Path) -> None:
    git(project, "checkout", "--quiet", "zebra")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (another, ["three"]),
        (on_the_branch, ["three"]),
        (released, ["three"]),
        (merged, ["merge", "one", "stripes", "two"]),  # `stripes` is on the main branch now
        (with_a_tail, ["merge", "one", "stripes", "three", "two"]),
        (tagged, ["one", "stripes", "three", "two"]),  # `two` has a tag now
        (branched, ["one", "stripes", "three", "two"]),  # `stripes` is on `aaa` now, the first by name
        (amended, ["one", "stripes", "two, again"]),
        (untagged, ["one", "three", "two"]),
        (untouched, []),
    ],
)
def test_which_commits_are_read_again(
    workspace: Workspace,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    expected: list[str],
) -> None:
    source = workspace.settings.source("projects")
    ingest(workspace, source)
    change(project)
    assert read_again(workspace, monkeypatch) == expected
    private = workspace.home / "private" / "records"
    before = archive.contents(private)
    ingest(workspace, source, full=True)
    assert {name: data for name, (_, data) in before.items()} == {
        name: data for name, (_, data) in archive.contents(private).items()
    }


def test_a_message_that_named_a_commit_before_it_came_has_all_read(
    workspace: Workspace, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "clone", "--quiet", "--branch", "zebra", str(project), "clone")
    later = commit(tmp_path / "clone", "spots", {"b": "2"}, when="1736000000 +0000")
    commit(project, f"Take over {later[:9]}", {"b": "2"}, when="1736100000 +0000")
    ingest(workspace, workspace.settings.source("projects"))
    git(project, "fetch", "--quiet", str(tmp_path / "clone"), "zebra:zebra")
    assert len(read_again(workspace, monkeypatch)) == 5


def test_what_is_stored_of_a_history_names_no_branch(workspace: Workspace, project: Path) -> None:
    ingest(workspace, workspace.settings.source("projects"))
    cursor = unit_state.load_cursor(workspace.home, "projects")
    assert git(project, "rev-parse", "zebra") in cursor
    assert "zebra" not in cursor


def read_again(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Subjects of the commits that an ingest reads."""
    read: list[str] = []
    records = connector.records

    def noted(*args: object) -> object:
        for record in records(*args):  # type: ignore[arg-type]
            read.append(record.subject or "")
            yield record

    with monkeypatch.context() as patch:
        patch.setattr(connector, "records", noted)
        ingest(workspace, workspace.settings.source("projects"))
    return sorted("Take over" if one.startswith("Take over") else one for one in read)


def test_that_a_clone_is_shallow_is_told_once_however_it_grows(workspace: Workspace, project: Path) -> None:
    whole = project.parents[1] / "whole"
    project.rename(whole)
    git(whole, "clone", "--quiet", "--depth", "1", whole.as_uri(), str(project))
    for number in range(3):
        commit(project, f"more {number}", {"a": f"more {number}"}, when=f"173600000{number} +0000")
        ingest(replace(workspace, listings={}), workspace.settings.source("projects"))
    failures = unit_state.load_failures(workspace.home, "projects")
    assert [one.fault for one in failures] == ["shallow"]
