"""Commits of real repositories."""

import shutil
import stat
from pathlib import Path

import pytest

from relrag_pipelines.sources.formats import git_command, git_repository
from relrag_pipelines.sources.git.log import COMMAND
from tests import ROOT, repositories
from tests.repositories import commit, git, make, read, units_of

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make(tmp_path / "project")


@pytest.mark.requirement("S3-16")
def test_a_commit_with_all_its_fields(project: Path) -> None:
    first = commit(project, "First", {"a.txt": "one\ntwo\nthree\nfour\n"}, when="1736000000 +0000")
    message = "Fix #12 of ABC-7\n\nSee GH-3.\r\n\nCo-authored-by: Petr Svoboda <petr@firma.cz>\n"
    git(project, "mv", "a.txt", "b c.txt")
    second = commit(project, message, {"new/č.txt": "x"}, when="1736520480 -0330")
    git(project, "tag", "-a", "v1", "-m", "One")
    ((newest, oldest), failures) = read("git", *units_of("git", project))
    assert failures == []
    assert (newest.asset_id, newest.source_id, newest.parent_ref) == (f"git:{second}", second, second)
    assert (newest.subject, newest.text) == (
        "Fix #12 of ABC-7",
        "See GH-3.\n\nCo-authored-by: Petr Svoboda <petr@firma.cz>",
    )
    assert newest.from_ == "Jan Novák <jan.novak@firma.cz>"
    assert newest.participants == ["Jan Novák <jan.novak@firma.cz>", "Petr Svoboda <petr@firma.cz>"]
    assert (newest.ts, newest.date_quality, newest.content_type) == (1736520480, "exact", "git-commit")
    assert newest.numbers == ["project#12", "project#3", "ABC-7"]
    assert newest.locations == [f"project#{second}"]
    assert newest.extra == {
        "git_commit_hash": second,
        "repository": "project",
        "zone": "-0330",
        "parents": [first],
        "files": [
            {"from": "a.txt", "path": "b c.txt", "status": "renamed"},
            {"path": "new/č.txt", "status": "added"},
        ],
        "file_count": 2,
        "branch": "main",
        "tags": ["v1"],
        "co_authors": ["Petr Svoboda <petr@firma.cz>"],
    }
    assert (oldest.subject, oldest.text, oldest.extra["parents"]) == ("First", "", [])


def test_committer_and_author_are_told_apart(project: Path) -> None:
    commit(project, "One")
    git(
        project,
        "commit",
        "--quiet",
        "--amend",
        "--no-edit",
        "--allow-empty",
        when="1736600000 +0200",
        who=("Marie", "m@firma.cz"),
    )
    (records, _) = read("git", *units_of("git", project))
    assert records[0].from_ == "Jan Novák <jan.novak@firma.cz>"
    assert records[0].ts == 1736520480
    assert (records[0].extra["committer"], records[0].extra["committed"]) == ("Marie <m@firma.cz>", 1736600000)


def branches(project: Path) -> dict[str | None, str | None]:
    return {one.subject: one.extra.get("branch") for one in read("git", *units_of("git", project))[0]}


def test_a_commit_is_on_the_main_branch_whatever_else_begins_at_it(project: Path) -> None:
    commit(project, "base", {"a": "1"})
    git(project, "checkout", "--quiet", "-b", "aaa")
    commit(project, "feature", {"b": "1"}, when="1736530000 +0100")
    assert branches(project) == {"base": "main", "feature": "aaa"}
    git(project, "branch", "zzz")
    git(project, "checkout", "--quiet", "main")
    assert branches(project) == {"base": "main", "feature": "aaa"}
    git(project, "merge", "--quiet", "--no-ff", "-m", "merge", "aaa")
    assert branches(project) == {"base": "main", "feature": "main", "merge": "main"}
    git(project, "branch", "-D", "aaa", "zzz")
    assert branches(project) == {"base": "main", "feature": "main", "merge": "main"}


def test_branches_of_remotes_and_a_detached_head_are_read_and_the_stash_is_not(project: Path, tmp_path: Path) -> None:
    commit(project, "base", {"a": "1"})
    git(tmp_path, "clone", "--quiet", str(project), "clone")
    clone = tmp_path / "clone"
    git(project, "checkout", "--quiet", "-b", "remote-only")
    commit(project, "far", {"b": "1"})
    git(clone, "fetch", "--quiet")
    git(clone, "checkout", "--quiet", "--detach")
    commit(clone, "detached", {"c": "1"})
    (clone / "c").write_text("2")
    git(clone, "stash")
    assert branches(clone) == {"base": "main", "far": "remote-only", "detached": None}


def test_what_changes_the_fingerprint(project: Path) -> None:
    commit(project, "base", {"a": "1"})
    git(project, "branch", "other")
    before = units_of("git", project)
    git(project, "checkout", "--quiet", "other")
    (project / "a").write_text("changed, not committed")
    assert units_of("git", project) == before
    git(project, "tag", "v1")
    assert units_of("git", project)[0].version != before[0].version
    git(project, "pack-refs", "--all")
    git(project, "tag", "-d", "v1")
    assert units_of("git", project) == before


def test_repositories_in_a_folder_bare_and_nested_but_no_submodule(tmp_path: Path) -> None:
    one = make(tmp_path / "one")
    commit(one, "in one", {"a": "1"})
    commit(make(one / "nested"), "in nested", {"a": "1"})
    commit(make(one / "node_modules" / "theirs"), "theirs", {"a": "1"})
    (one / "sub").mkdir()
    (one / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")
    git(tmp_path, "clone", "--quiet", "--bare", str(one), "bare.git")
    (tmp_path / "plain").mkdir()
    units = units_of("git", tmp_path)
    assert [unit.path for unit in units] == ["bare.git", "one", "one/nested"]
    (records, failures) = read("git", units[0])
    assert ([one.extra["repository"] for one in records], failures) == (["bare"], [])


def test_an_empty_repository_has_no_commits_and_no_fault(project: Path) -> None:
    assert read("git", *units_of("git", project)) == ([], [])


def faults(root: Path) -> list[tuple[str, bool]]:
    return [(one.fault, one.whole_unit) for one in read("git", *units_of("git", root))[1]]


def test_a_shallow_clone_is_read_and_said(project: Path, tmp_path: Path) -> None:
    for number in range(3):
        commit(project, f"number {number}", {f"{number}.txt": "x"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{project}", "shallow")
    (records, failures) = read("git", *units_of("git", tmp_path / "shallow"))
    assert [(one.subject, one.extra["files"]) for one in records] == [("number 2", [])]
    assert [(one.fault, one.whole_unit) for one in failures] == [("shallow", False)]


def test_a_corrupt_repository_deletes_nothing(project: Path) -> None:
    commit(project, "one", {"a": "1"})
    commit(project, "two", {"a": "2"})
    lost = git(project, "rev-parse", "HEAD~1")
    (project / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    assert faults(project) == [("corrupt", True)]
    (project / ".git" / "HEAD").write_text("nonsense")
    assert faults(project) == [("corrupt", True)]


def test_a_damaged_repository_is_not_taken_for_the_one_around_it(project: Path) -> None:
    commit(project, "outer", {"a": "1"})
    (project / "inner" / ".git").mkdir(parents=True)
    outer, inner = units_of("git", project)
    assert (outer.path, inner.path) == ("project", "inner")
    (records, failures) = read("git", inner)
    assert (records, [one.fault for one in failures]) == ([], ["corrupt"])


def test_without_git_the_fault_says_so_and_the_repository_is_read_once_it_is_there(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(project, "one")
    with monkeypatch.context() as without:
        without.setenv("PATH", str(project))
        (before,) = units_of("git", project)
        (_, failures) = read("git", before)
    assert [(one.fault, one.whole_unit) for one in failures] == [("git_missing", True)]
    assert "not installed" in failures[0].message
    assert units_of("git", project)[0].version != before.version


def test_a_repository_of_another_user_is_refused_with_what_to_do(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(project, "one")
    plain = git_command._environment
    assumed = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1", "HOME": str(project)}
    monkeypatch.setattr(git_command, "_environment", lambda *given: plain(*given) | assumed)
    (_, failures) = read("git", *units_of("git", project))
    assert [(one.fault, one.whole_unit) for one in failures] == [("ownership", True)]
    assert "safe.directory" in failures[0].message
    assert str(project) not in failures[0].message
    (project / ".gitconfig").write_text(f"[safe]\n directory = {project}\n")
    assert faults(project) == []


def test_a_format_of_the_future_is_no_corruption(project: Path) -> None:
    commit(project, "one")
    git(project, "config", "core.repositoryformatversion", "1")
    git(project, "config", "extensions.unheardof", "true")
    assert faults(project) == [("too_new", True)]


def test_a_repository_can_start_nothing(project: Path, tmp_path: Path) -> None:
    """Every way known in which config, attributes and hooks of a repository name a program."""
    trap, ran = tmp_path / "trap", tmp_path / "ran"
    trap.write_text(f"#!/bin/sh\necho $0 >> {ran}\n")
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    commit(project, "one", {"a.x": "1", ".gitattributes": "*.x diff=trap filter=trap\n"})
    tree = git(project, "rev-parse", "HEAD^{tree}")
    signed = (
        f"tree {tree}\nauthor A <a@b> 1736520480 +0000\ncommitter A <a@b> 1736520480 +0000\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\nsigned\n"
    )
    (tmp_path / "signed").write_text(signed)
    object_ = git(project, "hash-object", "-t", "commit", "-w", str(tmp_path / "signed"))
    git(project, "branch", "signed", object_)
    for key in (
        *("core.fsmonitor", "core.pager", "pager.log", "core.sshCommand", "core.alternateRefsCommand", "core.editor"),
        *("diff.external", "diff.trap.command", "diff.trap.textconv", "gpg.program", "gpg.openpgp.program"),
        *("filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "credential.helper", "alias.log"),
        *("core.askPass", "uploadpack.packObjectsHook", "interactive.diffFilter"),
    ):
        git(project, "config", key, str(trap))
    git(project, "config", "log.showSignature", "true")
    git(project, "config", "core.hooksPath", str(tmp_path / "hooks"))
    (tmp_path / "hooks").mkdir()
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc"):
        shutil.copy(trap, tmp_path / "hooks" / hook)
    ran.unlink(missing_ok=True)
    (records, failures) = read("git", *units_of("git", project))
    assert ({one.subject for one in records}, failures) == ({"one", "signed"}, [])
    (units, _) = [units_of("code", project), list(git_repository.tracked_files(project))]
    assert units == []
    assert not ran.exists(), ran.read_text()


def test_a_partial_clone_is_read_without_fetching(project: Path, tmp_path: Path) -> None:
    git(project, "config", "uploadpack.allowFilter", "true")
    commit(project, "one", {"a": "a\nb\nc\nd\n"})
    git(project, "mv", "a", "b")
    commit(project, "two", {"b": "a\nb\nc\nd\ne\n"})
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{project}", "partial.git")
    (records, failures) = read("git", *units_of("git", tmp_path / "partial.git"))
    assert failures == []
    assert [one.extra["files"] for one in records] == [
        [{"path": "a", "status": "deleted"}, {"path": "b", "status": "added"}],
        [{"path": "a", "status": "added"}],
    ]


def test_messages_with_control_characters_and_other_charsets(project: Path) -> None:
    tree = git(project, "write-tree")
    by = "Jan <j@x.cz> 1736520480 +0000"
    header = f"tree {tree}\nauthor {by}\ncommitter {by}\n\n".encode()
    (project / "m").write_bytes(header + b"Pr\xedklad \x1b[31m\x01 a\r\n\r\nT\xe9lo\n")
    raw = git(project, "hash-object", "-t", "commit", "-w", "m")
    git(project, "reset", "--quiet", "--soft", raw)
    git(project, "config", "i18n.commitEncoding", "ISO-8859-2")
    (project / "m").write_bytes("Řekni\n".encode("iso-8859-2"))
    git(project, "commit", "--quiet", "--allow-empty", "-F", "m")
    (records, failures) = read("git", *units_of("git", project))
    assert [(one.subject, one.text) for one in records] == [("Řekni", ""), ("Príklad [31m a", "Télo")]
    assert [(one.fault, one.whole_unit) for one in failures] == [("charset", False)]
    assert failures[0].message.startswith("1 fields are not UTF-8")


def test_names_git_would_quote_and_a_commit_without_a_message(project: Path) -> None:
    names = ['tab\t"quote"', "new\nline", "commit 0123456789012345678901234567890123456789", "M", "R100"]
    git(project, "commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", "")
    commit(project, "names", dict.fromkeys(names, "x"))
    (records, failures) = read("git", *units_of("git", project))
    assert failures == []
    assert sorted(one["path"] for one in records[0].extra["files"]) == sorted(names)
    assert (records[1].subject, records[1].text) == (None, "")


def test_of_a_huge_commit_the_first_files_are_kept_and_all_counted(project: Path) -> None:
    commit(project, "huge", {f"{number}.txt": "x" for number in range(250)})
    ((record,), _) = read("git", *units_of("git", project))
    assert (len(record.extra["files"]), record.extra["file_count"]) == (200, 250)


def test_a_saved_log_reads_as_the_repository_does(project: Path, tmp_path: Path) -> None:
    first = commit(project, "one\n\nbody", {"a": "1"})
    git(project, "mv", "a", "b")
    commit(project, f"two\n\nThis reverts commit {first}.", {"c": "č"}, when="1736620480 +0100")
    git(project, "tag", "v1")
    saved = tmp_path / "saved" / "project.gitlog"
    saved.parent.mkdir()
    saved.write_bytes(git_command.git(project, *COMMAND))
    (of_repository, _) = read("git", *units_of("git", project))
    (of_log, failures) = read("git", *units_of("git", saved.parent))
    assert failures == []
    for one in (*of_repository, *of_log):
        one.locations = []
    assert of_log == of_repository
    assert of_log[0].extra["references"] == [
        {"ref": f"git:{first}", "why": f"reverts commit {first[:12]}", "confidence": 1.0}
    ]
    assert repositories.KINDS["git"].recognise(saved)


def test_the_documented_command_is_the_one_that_is_run() -> None:
    page = ROOT / "docs" / "git.md"
    shown = next(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("git log"))
    *options, last = COMMAND
    name, _, value = last.partition("=")
    assert shown == f"git {' '.join(options)} {name}='{value}' > project.gitlog"
