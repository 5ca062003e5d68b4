"""Git repositories below a source's path: where they are, what they hold, and git run on them without their say.

A repository is untrusted input: its config can name programs that git would start. `git()` therefore runs with hooks,
file monitors, pagers, external diffs, signature checks, replaced objects and every transport switched off, and with no
GIT_* variable of this process. The user's own config is read, because it says which repositories of others are trusted
(safe.directory).
"""

from __future__ import annotations

import functools
import os
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO

from relrag_pipelines.files import regular_files

VENDORED = frozenset(
    {
        *("node_modules", "bower_components", "jspm_packages", "vendor", "vendored", "_vendor", "third_party"),
        *("third-party", "thirdparty", "site-packages", "godeps", "carthage", "pods"),
    }
)
"""lower-case names of folders that hold code of others"""

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
    """Git cannot read a repository: a fault word, and what was found and what to do, without any of git's words."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True)
class State:
    """What tells whether the history of a repository has changed."""

    refs: tuple[str, ...]
    """`<hash> <name>` of every branch and tag, also of remotes; and of a HEAD that stands on none of them"""
    shallow: frozenset[str]
    """commits whose parents were not cloned"""

    @property
    def fingerprint(self) -> str:
        """32 hex digits."""
        return digest(*self.refs, "", *sorted(self.shallow))

    @property
    def detached(self) -> list[str]:
        """The hash of such a HEAD, or nothing."""
        return [ref.removesuffix(" HEAD") for ref in self.refs if ref.endswith(" HEAD")]


def digest(*parts: str) -> str:
    """Hash of these lines: 32 hex digits."""
    return blake2b("\n".join(parts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def linked_from_outside(folder: Path, root: Path) -> bool:
    """Whether the `.git` of a repository below `root` is a link that leads out of it."""
    kept = folder / ".git"
    return kept.is_symlink() and regular_files.leads_out(kept, root)


def is_repository(folder: Path) -> bool:
    """Whether a folder is a repository, with files (`.git` in it) or bare."""
    return (folder / ".git").exists() or is_bare(folder)


def is_bare(folder: Path) -> bool:
    """Whether a folder is a repository without files."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def walk(root: Path, excluded: Callable[[str], bool], follow_links: bool = False) -> Iterator[tuple[Path, list[str]]]:
    """Repositories, with no names, and the folders that are in none with the names of their files, in order.

    Inside a repository only others of their own are looked for, not its submodules and not in folders of others' code.
    Raises OSError where a folder cannot be listed.
    """

    def refuse(error: OSError) -> None:
        raise error

    inside: set[Path] = set()
    for folder, folders, names in regular_files.walk(root, refuse, follow_links=follow_links):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if folder != root and excluded(f"{folder.relative_to(root).as_posix()}/"):
            folders.clear()
        elif is_bare(folder):
            folders.clear()
            yield folder, []
        elif (folder / ".git").is_dir() or (folder.parent not in inside and (folder / ".git").exists()):
            inside.add(folder)
            yield folder, []
        elif folder.parent in inside:
            inside.add(folder)
        else:
            yield folder, sorted(names)
        if folder in inside:
            folders[:] = [name for name in folders if name.lower() not in VENDORED]


def state(folder: Path) -> State:
    """The refs of a repository as they are now. Raises RepositoryError."""
    _refuse_irregular(folder)
    common, above = _places(folder)
    if above:
        raise _error(b"not a git repository", 128)
    listed = git(folder, "show-ref", "--head", allowed=(0, 1)).decode("utf-8", "surrogateescape").splitlines()
    refs = [
        line for line in listed if line.partition(" ")[2].startswith(("refs/heads/", "refs/tags/", "refs/remotes/"))
    ]
    known = {line.partition(" ")[0] for line in refs}
    # HEAD on a branch says nothing about the history: checking out another one changes no commit
    refs += [line for line in listed if line.endswith(" HEAD") and line.partition(" ")[0] not in known]
    try:
        shallow = frozenset(regular_files.read_plain(common / "shallow").decode("ascii", "replace").split())
    except OSError:
        shallow = frozenset()
    return State(tuple(sorted(refs)), shallow)


def is_partial(folder: Path) -> bool:
    """Whether file contents were left out when it was cloned."""
    return any((_places(folder)[0] / "objects" / "pack").glob("*.promisor"))


def tracked(folder: Path) -> Iterator[Path]:
    """The files of a repository that git knows and that lie there now. Raises RepositoryError.

    Links are left out, and what lies behind one: they can point anywhere.
    """
    _refuse_irregular(folder)
    root = folder.resolve()

    @functools.cache
    def inside(parent: Path) -> bool:
        return parent.resolve() == root / parent.relative_to(folder)

    for name in git(folder, "ls-files", "-z", "--cached", work_tree=folder).split(b"\0"):
        file = folder / os.fsdecode(name)
        if name and _stays(file) and inside(file.parent):
            yield file


def ignored(folder: Path) -> int:
    """How many files and folders git's ignore rules leave out. Raises RepositoryError."""
    _refuse_irregular(folder)
    options = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    return git(folder, "ls-files", *options, work_tree=folder).count(b"\0")


def git(folder: Path, *arguments: str, allowed: Sequence[int] = (0,), work_tree: Path | None = None) -> bytes:
    """What git prints for these arguments in a repository. Raises RepositoryError."""
    with opened(folder, *arguments, allowed=allowed, work_tree=work_tree) as output:
        return output.read()


@contextmanager
def history(folder: Path, *arguments: str) -> Iterator[IO[bytes]]:
    """As `opened`, of what is committed alone: git would open any .gitattributes among the files, also a FIFO."""
    kept = folder.resolve() / ".git"
    place = f"--git-dir={kept if kept.exists() else kept.parent}"
    with tempfile.TemporaryDirectory() as empty, opened(Path(empty), place, *arguments) as output:
        yield output


@contextmanager
def opened(
    folder: Path, *arguments: str, allowed: Sequence[int] = (0,), work_tree: Path | None = None
) -> Iterator[IO[bytes]]:
    """What git prints, as a stream. Raises RepositoryError, where git fails at the end of the block."""
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
            raise _error(complaints.read(65_536), code)


def _environment(folder: Path, work_tree: Path | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    ours = {
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
    return kept | ours | ({"GIT_WORK_TREE": str(work_tree.resolve())} if work_tree else {})


def _error(said: bytes, code: int) -> RepositoryError:
    for words, fault, message in _FAULTS:
        if words in said:
            return RepositoryError(fault, message)
    why = f"git ended with {code}; run `git fsck` in it, then repair it or clone it again"
    return RepositoryError("corrupt", why)


def _places(folder: Path) -> tuple[Path, str]:
    """The folder of refs and objects, and the way up to the repository's own folder: empty, it begins there."""
    said = git(folder, "rev-parse", "--git-common-dir", "--show-cdup").split(b"\n")
    return folder / os.fsdecode(said[0]), os.fsdecode(said[1])


def _stays(file: Path) -> bool:
    try:
        sort = file.lstat().st_mode
    except OSError:  # removed and not yet committed
        return False
    return not (stat.S_ISLNK(sort) or stat.S_ISDIR(sort))


def _refuse_irregular(folder: Path) -> None:
    """Raises RepositoryError for a FIFO or device in what git keeps of a repository: git would open it and wait."""
    kept = folder / ".git" if (folder / ".git").exists() else folder
    if _is_irregular(kept):
        raise RepositoryError("not_a_file", "its .git is a FIFO or device; remove that")
    if kept.is_file():  # a worktree or submodule: the place is named in it
        said = os.fsdecode(regular_files.read_plain(kept, 4096)).strip()
        kept = folder / said.removeprefix("gitdir:").strip()
    waiting = [str(kept)]
    while waiting:
        with suppress(FileNotFoundError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif not entry.is_file(follow_symlinks=False) and _is_irregular(Path(entry.path)):
                    place = Path(kept.name, Path(entry.path).relative_to(kept))
                    raise RepositoryError("not_a_file", f"its {place} is a FIFO or device; remove that")


def irregular_rules(folder: Path) -> bool:
    """Whether a `.gitignore` in a repository is a FIFO or the like, which git would open and wait."""
    return any(
        ".gitignore" in names and _is_irregular(place / ".gitignore") for place, _, names in regular_files.walk(folder)
    )


def _is_irregular(file: Path) -> bool:
    try:
        sort = file.stat().st_mode
    except OSError:  # a link to nowhere
        return False
    # a socket cannot be opened, so nobody waits for it; git's own file monitor keeps one in .git
    return not (stat.S_ISREG(sort) or stat.S_ISDIR(sort) or stat.S_ISSOCK(sort))
