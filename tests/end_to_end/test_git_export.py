"""Repositories through export, stages and plan: what a change of history does to the archive."""

import shutil
from pathlib import Path

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.ingest import ingest
from relrag_pipelines.ingest.merge import TooManyDeletions
from relrag_pipelines.sources import git as connector
from relrag_pipelines.stages import month_stages, plan_model, redaction_check
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.failure_report import report_failures
from tests import archive
from tests.repositories import commit, git, make

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"
pii_redaction_enabled = true
[[sources]]
name = "projects"
kind = "git"
path = "projects"

[[sources]]
name = "code"
kind = "code"
path = "projects"
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "relrag.toml").write_text(CONFIG)
    return Workspace(settings_module.load(tmp_path / "relrag.toml", {}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "projects" / "web")


def exported(workspace: Workspace, source: str = "projects", **how: bool) -> ingest.IngestReport:
    return ingest.ingest(workspace, workspace.settings.source(source), **how)


def subjects(workspace: Workspace, source: str = "projects") -> list[str]:
    home = workspace.home
    months = sorted(lake.manifest(home, "private_records", source))
    return [row for month in months for row in lake.read(home, "private_records", source, month)["subject"].to_pylist()]


def test_rewritten_history_becomes_deletions(workspace: Workspace, project: Path) -> None:
    commit(project, "one", {"a": "1"}, when="1733000000 +0000")
    commit(project, "two", {"a": "2"}, when="1736000000 +0000")
    assert exported(workspace).months == {"2024-11": 1, "2025-01": 1}
    git(project, "reset", "--quiet", "--hard", "HEAD~1")
    commit(project, "two, again", {"a": "3"}, when="1736000000 +0000")
    assert exported(workspace).months == {"2025-01": 1}
    assert subjects(workspace) == ["one", "two, again"]


def test_many_rewritten_commits_are_refused_until_accepted(workspace: Workspace, project: Path) -> None:
    first = commit(project, "first")
    for number in range(25):
        commit(project, f"number {number}")
    exported(workspace)
    git(project, "reset", "--quiet", "--hard", first)
    with pytest.raises(TooManyDeletions, match="25 of 26 records"):
        exported(workspace)
    exported(workspace, accept_deletions=True)
    assert subjects(workspace) == ["first"]


def test_an_unchanged_repository_is_recognised_without_its_log(
    workspace: Workspace, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(project, "one", {"a.py": "x = 1\n"})
    git(project, "branch", "elsewhere")
    exported(workspace)
    exported(workspace, "code")
    monkeypatch.setattr(connector, "read", None)
    git(project, "checkout", "--quiet", "elsewhere")
    assert exported(workspace) == ingest.IngestReport()
    todo = plans.build_plan(workspace)
    assert (todo.exports, todo.problems) == ([], [])


def test_a_corrupt_repository_keeps_what_was_read_before(workspace: Workspace, project: Path) -> None:
    commit(project, "one", {"a": "1"})
    commit(project, "two", {"a": "2"})
    exported(workspace)
    shutil.rmtree(project / ".git" / "objects")
    report = exported(workspace)
    assert [(one.fault, one.unit) for one in report.failures] == [("corrupt", "web")]
    assert sorted(subjects(workspace)) == ["one", "two"]


def test_twice_gives_the_same_bytes_and_so_do_two_clones_in_either_order(workspace: Workspace, project: Path) -> None:
    commit(project, "one", {"a": "1"})
    commit(project, "two\n\nCall 052-123-4567", {"a": "2"}, when="1736000000 +0000")
    exported(workspace)
    private = workspace.home / "private" / "records"
    before = archive.contents(private)
    exported(workspace, full=True)
    after = archive.contents(private)
    assert {name: data for name, (_, data) in before.items()} == {name: data for name, (_, data) in after.items()}
    git(project.parent, "clone", "--quiet", str(project), "zzz")
    exported(workspace)
    merged = month_stages.merge_duplicates(lake.read(workspace.home, "private_records", "projects", "2025-01"))
    assert merged["asset_id"].to_pylist() == sorted(merged["asset_id"].to_pylist())
    assert [len(places) for places in merged["locations"].to_pylist()] == [2, 2]


def test_a_hash_that_holds_an_id_number_survives_redaction(workspace: Workspace, tmp_path: Path) -> None:
    """Nine digits that pass as an Israeli ID, between letters, in the hash itself and in what names it."""
    telling, other = "abcde123456782fabcdefabcdefabcdefabcdefa", "b" * 40
    by = ["Jan", "jan@firma.cz", "1736520480 +0000"] * 2
    fields = [["", f"commit {other}", telling, "refs/heads/main", *by, f"This reverts commit {telling}."]]
    fields += [["", f"commit {telling}", "", "", *by, "ID number 123456782"]]
    (tmp_path / "projects").mkdir()
    log = "".join("\0".join(one) + "\0" for one in fields)
    (tmp_path / "projects" / "x.gitlog").write_text(log)
    source = workspace.settings.source("projects")
    exported(workspace)
    for stage in month_stages.STAGES:
        month_stages.run(workspace, source, stage, ["2025-01"])
    records = {row["asset_id"]: row for row in lake.read(workspace.home, "records", "projects", "2025-01").to_pylist()}
    assert f'"git_commit_hash":"{telling}"' in records[f"git:{telling}"]["extra"]
    assert records[f"git:{telling}"]["locations"] == [f"x.gitlog#{telling}"]
    assert "123456782" not in records[f"git:{telling}"]["subject"]
    assert redaction_check.find_unredacted(workspace, source) == {}
    assert records[f"git:{other}"]["from"].startswith("Jan <<EMAIL_ADDRESS:k1:")
    edges = lake.read(workspace.home, "asset_asset_edges", "projects", "2025-01").to_pylist()
    assert [(one["src_asset_ref"], one["dst_asset_ref"]) for one in edges if one["relation_type"] == "references"] == [
        (f"git:{other}", f"git:{telling}")
    ]


def test_without_git_the_code_of_a_repository_is_left_alone_and_said(
    workspace: Workspace, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(project, "one", {"a.py": "def f(): pass\n"})
    exported(workspace, "code")
    monkeypatch.setenv("PATH", str(project))
    (problem,) = plans.build_plan(workspace).problems
    assert problem.startswith(
        "code: the files of the repository web cannot be listed: the program git is not installed"
    )
    assert subjects(workspace, "code") == ["f"]


def test_one_changed_file_is_read_again_and_what_is_left_out_is_counted(
    workspace: Workspace, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(project, "one", {"a.py": "def f(): pass\n", "b.py": "def g(): pass\n", "vendor/c.py": "x = 1\n"})
    report = exported(workspace, "code")
    assert (report.units_read, [one.fault for one in report.failures]) == (3, ["vendored"])
    assert report_failures(workspace, plan_model.Plan()) == 0
    assert "code: some files are left out (vendored)" in capsys.readouterr().out
    (project / "b.py").write_text("def h(): pass\n")
    assert exported(workspace, "code").units_read == 1
    assert sorted(subjects(workspace, "code")) == ["f", "h"]
