"""Git repositories below a source's path: their location, refs and files, and whether they are complete."""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from relrag_pipelines.files import regular_files
from relrag_pipelines.sources.formats.git_command import RepositoryError, git, git_error

VENDORED = frozenset(
    {
        *("node_modules", "bower_components", "jspm_packages", "vendor", "vendored", "_vendor", "third_party"),
        *("third-party", "thirdparty", "site-packages", "godeps", "carthage", "pods"),
    }
)
"""lower-case names of folders with third-party code"""


@dataclass(frozen=True)
class RepositoryState:
    """The refs of a repository; they change whenever its history does."""

    refs: tuple[str, ...]
    """`<hash> <name>` of every branch and tag, remote ones included, and of a HEAD at a commit without either"""
    shallow: frozenset[str]
    """commits whose parents were not cloned"""

    @property
    def fingerprint(self) -> str:
        """32 hex digits."""
        return digest(*self.refs, "", *sorted(self.shallow))

    @property
    def detached_head(self) -> list[str]:
        """The hash of a detached HEAD in a list, or an empty list."""
        return [ref.removesuffix(" HEAD") for ref in self.refs if ref.endswith(" HEAD")]


def digest(*parts: str) -> str:
    """Hash of these lines: 32 hex digits."""
    return blake2b("\n".join(parts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def linked_from_outside(folder: Path, root: Path) -> bool:
    """Whether the `.git` of a repository below `root` is a link that leads out of it."""
    git_dir = folder / ".git"
    return git_dir.is_symlink() and regular_files.leads_out(git_dir, root)


def is_repository(folder: Path) -> bool:
    """Whether a folder is a repository, bare or with a work tree (`.git` in it)."""
    return (folder / ".git").exists() or is_bare(folder)


def is_bare(folder: Path) -> bool:
    """Whether a folder is a bare repository."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def walk(root: Path, excluded: Callable[[str], bool], follow_links: bool = False) -> Iterator[tuple[Path, list[str]]]:
    """Yields repositories, with no names, and folders outside repositories with the names of their files, in order.

    Inside a repository only separate repositories are searched for: no submodules, no vendored folders. Raises OSError
    if a folder cannot be listed.
    """

    def refuse(error: OSError) -> None:
        raise error

    in_repository: set[Path] = set()
    for folder, folders, names in regular_files.walk(root, refuse, follow_links=follow_links):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if folder != root and excluded(f"{folder.relative_to(root).as_posix()}/"):
            folders.clear()
        elif is_bare(folder):
            folders.clear()
            yield folder, []
        elif (folder / ".git").is_dir() or (folder.parent not in in_repository and (folder / ".git").exists()):
            in_repository.add(folder)
            yield folder, []
        elif folder.parent in in_repository:
            in_repository.add(folder)
        else:
            yield folder, sorted(names)
        if folder in in_repository:
            folders[:] = [name for name in folders if name.lower() not in VENDORED]


def state(folder: Path) -> RepositoryState:
    """The refs of a repository as they are now. Raises RepositoryError."""
    _refuse_irregular(folder)
    common, way_up = _git_directories(folder)
    if way_up:
        raise git_error(b"not a git repository", 128)
    listed = git(folder, "show-ref", "--head", allowed=(0, 1)).decode("utf-8", "surrogateescape").splitlines()
    refs = [
        line for line in listed if line.partition(" ")[2].startswith(("refs/heads/", "refs/tags/", "refs/remotes/"))
    ]
    hashes = {line.partition(" ")[0] for line in refs}
    # a HEAD on a branch adds nothing: checking out another branch changes no commit
    refs += [line for line in listed if line.endswith(" HEAD") and line.partition(" ")[0] not in hashes]
    try:
        shallow = frozenset(regular_files.read_plain(common / "shallow").decode("ascii", "replace").split())
    except OSError:
        shallow = frozenset()
    return RepositoryState(tuple(sorted(refs)), shallow)


def is_partial(folder: Path) -> bool:
    """Whether the clone lacks file contents (a partial clone)."""
    return any((_git_directories(folder)[0] / "objects" / "pack").glob("*.promisor"))


def tracked_files(folder: Path) -> Iterator[Path]:
    """The tracked files that exist in the work tree of a repository. Raises RepositoryError.

    Links are left out, and so is anything below a linked folder: they can point anywhere.
    """
    _refuse_irregular(folder)
    root = folder.resolve()

    @functools.cache
    def lies_inside(parent: Path) -> bool:
        return parent.resolve() == root / parent.relative_to(folder)

    for name in git(folder, "ls-files", "-z", "--cached", work_tree=folder).split(b"\0"):
        file = folder / os.fsdecode(name)
        if name and _stays(file) and lies_inside(file.parent):
            yield file


def count_ignored(folder: Path) -> int:
    """How many files and folders git's ignore rules leave out. Raises RepositoryError."""
    _refuse_irregular(folder)
    options = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    return git(folder, "ls-files", *options, work_tree=folder).count(b"\0")


def _git_directories(folder: Path) -> tuple[Path, str]:
    """The folder with refs and objects, and the relative path up to the repository's root; empty at the root."""
    lines = git(folder, "rev-parse", "--git-common-dir", "--show-cdup").split(b"\n")
    return folder / os.fsdecode(lines[0]), os.fsdecode(lines[1])


def _stays(file: Path) -> bool:
    try:
        sort = file.lstat().st_mode
    except OSError:  # removed and not yet committed
        return False
    return not (stat.S_ISLNK(sort) or stat.S_ISDIR(sort))


def _refuse_irregular(folder: Path) -> None:
    """Raises RepositoryError if a repository's .git contains a FIFO or device, which git would open and wait for."""
    git_dir = folder / ".git" if (folder / ".git").exists() else folder
    if _is_irregular(git_dir):
        raise RepositoryError("not_a_file", "its .git is a FIFO or device; remove it")
    if git_dir.is_file():  # a worktree or submodule: the file names the folder
        line = os.fsdecode(regular_files.read_plain(git_dir, 4096)).strip()
        git_dir = folder / line.removeprefix("gitdir:").strip()
    for path in _irregular_files(git_dir):
        name = Path(git_dir.name, path.relative_to(git_dir))
        raise RepositoryError("not_a_file", f"its {name} is a FIFO or device; remove it")


def _irregular_files(root: Path) -> Iterator[Path]:
    """FIFOs and devices below a folder, links included."""
    pending = [str(root)]
    while pending:
        with suppress(FileNotFoundError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif not entry.is_file(follow_symlinks=False) and _is_irregular(Path(entry.path)):
                    yield Path(entry.path)


def irregular_rules(folder: Path) -> bool:
    """Whether a `.gitignore` in a repository is a FIFO or the like, which git would open and wait for."""
    return any(
        ".gitignore" in names and _is_irregular(path / ".gitignore") for path, _, names in regular_files.walk(folder)
    )


def _is_irregular(file: Path) -> bool:
    try:
        sort = file.stat().st_mode
    except OSError:  # a link to nowhere
        return False
    # a socket cannot be opened, so nobody waits for it; git's own file monitor keeps one in .git
    return not (stat.S_ISREG(sort) or stat.S_ISDIR(sort) or stat.S_ISSOCK(sort))
