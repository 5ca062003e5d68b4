"""Runs git on a repository so that the repository's own configuration has no effect.

A repository is untrusted input: its config can name programs that git would start. `git()` therefore runs with hooks,
file monitors, pagers, external diffs, signature checks, replaced objects and every transport switched off, and with no
GIT_* variable of this process. The user's own config is read, because it says which repositories of others are trusted
(safe.directory).
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_OVER_CONFIG = (
    *(
        "core.fsmonitor=false",
        "core.untrackedCache=false",
        f"core.hooksPath={os.devnull}",
        "core.alternateRefsCommand=",
    ),
    *(f"core.attributesFile={os.devnull}", "log.showSignature=false", "log.showRoot=true", "log.mailmap=false"),
    *("diff.external=", f"diff.orderFile={os.devnull}", "diff.relative=false", "submodule.recurse=false"),
    *("gpg.program=false", "gpg.ssh.program=false", "gpg.x509.program=false", "protocol.allow=never"),
)
_OPTIONS = [
    *("--no-pager", "--no-optional-locks", "--literal-pathspecs"),
    *(part for setting in _OVER_CONFIG for part in ("-c", setting)),
]
_FAULTS = (
    (
        b"dubious ownership",
        "ownership",
        "it belongs to another user, so git refuses it; if you trust it: "
        "`git config --global --add safe.directory FOLDER` with its absolute path",
    ),
    (
        b"not a git repository",
        "corrupt",
        "git finds no valid repository there; repair it, clone it again or exclude it",
    ),
    (b"repository format", "too_new", "its format is newer than this git; update git"),
    (b"repository extension", "too_new", "its format is newer than this git; update git"),
    (b"promisor", "partial", "it is a partial clone, and part of what its log needs is not there; clone it whole"),
)


class RepositoryError(Exception):
    """Git cannot read a repository. `fault` is the fault word; the message never quotes git's output."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault


def git(folder: Path, *arguments: str, allowed: Sequence[int] = (0,), work_tree: Path | None = None) -> bytes:
    """The output of git with these arguments in a repository. Raises RepositoryError."""
    with git_output(folder, *arguments, allowed=allowed, work_tree=work_tree) as output:
        return output.read()


@contextmanager
def history(folder: Path, *arguments: str) -> Iterator[IO[bytes]]:
    """Like `git_output`, but reads commits only: git would open any .gitattributes among the files, even a FIFO."""
    git_dir = folder.resolve() / ".git"
    option = f"--git-dir={git_dir if git_dir.exists() else git_dir.parent}"
    with tempfile.TemporaryDirectory() as empty, git_output(Path(empty), option, *arguments) as output:
        yield output


@contextmanager
def git_output(
    folder: Path, *arguments: str, allowed: Sequence[int] = (0,), work_tree: Path | None = None
) -> Iterator[IO[bytes]]:
    """The output of git as a stream. Raises RepositoryError at the end of the block if git fails."""
    command = ["git", "-C", str(folder), *_OPTIONS, *arguments]
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=_environment(folder, work_tree),
            )
        except FileNotFoundError:
            why = "the program git is not installed; install it, or save its log elsewhere (docs/git.md)"
            raise RepositoryError("git_missing", why) from None
        assert process.stdout is not None
        finished = False
        try:
            yield process.stdout
            finished = True
        finally:
            process.stdout.close()
            if not finished:
                process.kill()
            code = process.wait()
        if code not in allowed:
            complaints.seek(0)
            raise git_error(complaints.read(65_536), code)


def _environment(folder: Path, work_tree: Path | None) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    overrides = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_GRAFT_FILE": os.devnull,
        # no transport has this name, so that nothing is fetched, whatever the config of the repository allows
        "GIT_ALLOW_PROTOCOL": "none",
        # a damaged repository must not be taken for the one around it
        "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent),
        "LC_ALL": "C",
    }
    return inherited | overrides | ({"GIT_WORK_TREE": str(work_tree.resolve())} if work_tree else {})


def git_error(output: bytes, code: int) -> RepositoryError:
    for words, fault, message in _FAULTS:
        if words in output:
            return RepositoryError(fault, message)
    why = f"git ended with {code}; run `git fsck` in it, then repair it or clone it again"
    return RepositoryError("corrupt", why)
