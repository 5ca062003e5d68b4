"""Git repositories below a source's path: where they are, what they contain, and what git would fetch."""

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
"""lower-case names of folders that hold code of others"""


@dataclass(frozen=True)
class RepositoryState:
    """The refs of a repository, which tell whether its history has changed."""

    refs: tuple[str, ...]
    """`<hash> <name>` of every branch and tag, also of remotes; and of a HEAD that stands on none of them"""
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
    kept = folder / ".git"
    return kept.is_symlink() and regular_files.leads_out(kept, root)


def is_repository(folder: Path) -> bool:
    """Whether a folder is a repository, bare or with a work tree (`.git` in it)."""
    return (folder / ".git").exists() or is_bare(folder)


def is_bare(folder: Path) -> bool:
    """Whether a folder is a bare repository."""
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


def state(folder: Path) -> RepositoryState:
    """The refs of a repository as they are now. Raises RepositoryError."""
    _refuse_irregular(folder)
    common, above = _places(folder)
    if above:
        raise git_error(b"not a git repository", 128)
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
    return RepositoryState(tuple(sorted(refs)), shallow)


def is_partial(folder: Path) -> bool:
    """Whether file contents were left out when it was cloned."""
    return any((_places(folder)[0] / "objects" / "pack").glob("*.promisor"))


def tracked_files(folder: Path) -> Iterator[Path]:
    """The tracked files that exist in the work tree of a repository. Raises RepositoryError.

    Links are left out, and what lies behind one: they can point anywhere.
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
        raise RepositoryError("not_a_file", "its .git is a FIFO or device; remove it")
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
                    raise RepositoryError("not_a_file", f"its {place} is a FIFO or device; remove it")


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
