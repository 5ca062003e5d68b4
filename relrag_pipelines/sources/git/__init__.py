"""Commits of local git repositories, and of saved logs (.gitlog).

A repository is one unit whose version is its branches and tags: an unchanged one is recognised without reading its log,
and of one that has only grown, the new commits are read. Rewritten history lacks some earlier commits, which are
deleted. log.py parses the format; docs/git.md explains how to save a log. A commit's id is `git:<hash>` whatever its
source.
"""

from __future__ import annotations

import functools
import io
import mmap
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import Listing, ListingScope, ReadContext, Unit, UnitRef
from relrag_pipelines.sources.formats import git_command, git_repository
from relrag_pipelines.sources.formats.git_command import RepositoryError
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.sources.git import growth, issue_references
from relrag_pipelines.sources.git.log import COMMAND, Commit, Log, LogError
from relrag_pipelines.sources.unit_files import path_of, unit_of

SUFFIX = ".gitlog"
MAX_FILES = 200
"""files recorded for one commit; further ones are only counted"""

_HEAD = 4096
_SUBJECT = 1000
_CO_AUTHOR = re.compile(r"^co-authored-by:[ \t]*(?P<who>\S.*?)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_HASH = re.compile(rb"\0commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)\0")
_MAIN = ("main", "master", "trunk", "develop", "development")
_DETACHED = (len(_MAIN) + 1, "")


def units(scope: ListingScope) -> Listing:
    """Every repository and every saved log below a source's path, or the path itself if it is one.

    The cursor stores the branches and tags of each repository, so that only new commits are read from one that has
    only grown: see growth.py.
    """
    root = scope.root
    if root.is_file():
        return Listing((unit_of(root, root.parent),))
    listed: list[Unit | UnitRef] = []
    before, now = growth.parse_cursor(scope.cursor), dict[str, growth.Tips]()
    for folder, names in git_repository.walk(root, scope.is_excluded, scope.follow_links):
        if not scope.follow_links and git_repository.linked_from_outside(folder, root):
            listed.append(unit_of(folder / ".git", root))
        elif git_repository.is_repository(folder):
            listed.append(_repository_ref(path_of(folder, root), folder, before, now))
        logs = (name for name in names if name.lower().endswith(SUFFIX) and not name.startswith("."))
        listed.extend(unit_of(folder / name, root, follow_links=scope.follow_links) for name in logs)
    return Listing(tuple(listed), growth.cursor(now))


def _repository_ref(path: str, folder: Path, before: Mapping[str, growth.Tips], now: dict[str, growth.Tips]) -> UnitRef:
    """The unit of a repository; its tips are added to `now`."""
    try:
        state = git_repository.state(folder)
        now[path] = growth.tips(folder, state)
        parents = growth.parents_of_new(folder, before.get(path), now[path])
        return UnitRef(path, state.fingerprint, folder, " ".join(parents))
    except RepositoryError as error:  # the fault is the version, so that it is read again once git can read it
        return UnitRef(path, git_repository.digest("fault", error.fault), folder)


def recognise(file: Path) -> bool:
    """Whether a file is a log in the format that is read, or a folder is a bare repository or a repository's `.git`."""
    if file.name == ".git" or git_repository.is_bare(file):
        return True
    with open_plain(file) as opened:
        return _HASH.match(opened.read(_HEAD)) is not None


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The commits of a unit, newest first, and failures for unreadable parts."""
    try:
        yield from _read_repository(unit) if unit.version else _read_file(unit)
    except (RepositoryError, LogError) as error:
        yield Failure("", error.fault, str(error), whole_unit=True)


def _read_repository(unit: Unit) -> Iterator[Record | Failure]:
    state = git_repository.state(unit.file)
    if not state.refs:
        return
    listed = git_command.git(unit.file, "rev-list", "--branches", "--tags", "--remotes", *state.detached_head)
    arguments = [*COMMAND, *(["--no-renames"] if git_repository.is_partial(unit.file) else []), *state.detached_head]
    if unit.resume_point:
        arguments += ["--not", *unit.resume_point.split()]
    with git_command.history(unit.file, *arguments) as stream:
        log = Log(stream)
        yield from records(log, unit.path, sorted(listed.decode("ascii").split()), state.shallow)
    yield from _warnings(log)
    if state.shallow:
        yield Failure("", "shallow", "a shallow clone without the older commits; run `git fetch --unshallow` in it")


def _read_file(unit: Unit) -> Iterator[Record | Failure]:
    if not unit.size:
        yield Failure("", "empty", "the file has no bytes; save the log again, or delete it")
        return
    with open_plain(unit.file) as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            hashes = sorted({match[1].decode() for match in _HASH.finditer(data)})
        log = Log(io.BufferedReader(file.raw))
        yield from records(log, unit.path, hashes)
        yield from _warnings(log)


def records(log: Log, path: str, hashes: Sequence[str], shallow: frozenset[str] = frozenset()) -> Iterator[Record]:
    """The commits of a log as records; `path` is its unit's, `hashes` are those of all its commits, sorted.

    Files of `shallow` commits are left out: git would list all files as added. Raises LogError.
    """
    branches = _Branches()
    project = re.sub(r"(?:\.git|\.gitlog)$", "", PurePosixPath(path).name)
    for commit in log.commits():
        if commit.hash in shallow:
            commit.files = []
        yield _record(commit, path, project, hashes, branches.branch(commit))


def _record(commit: Commit, path: str, project: str, hashes: Sequence[str], branch: str | None) -> Record:
    message = clean(commit.message).strip()
    subject, _, body = message.partition("\n")
    if len(subject) > _SUBJECT:
        subject, body = subject[:_SUBJECT], message
    author = _who(*commit.author)
    ts, zone = _time(commit.authored)
    co_authors = _CO_AUTHOR.findall(message)
    extra: dict[str, Any] = {"git_commit_hash": commit.hash, "repository": project, "zone": zone}
    extra |= {"parents": commit.parents, "files": commit.files[:MAX_FILES], "file_count": len(commit.files)}
    committer = _who(*commit.committer)
    if committer != author:
        extra["committer"] = committer
    if commit.committed != commit.authored:
        extra["committed"] = _time(commit.committed)[0]
    tags = [ref.removeprefix("tag: refs/tags/") for ref in commit.refs if ref.startswith("tag: ")]
    references = issue_references.commits(message, commit.hash, hashes)
    optional = {"branch": branch, "tags": tags, "co_authors": co_authors, "references": references}
    return Record(
        source_id=commit.hash,
        asset_id=f"git:{commit.hash}",
        text=body.strip(),
        from_=author or None,
        participants=list(dict.fromkeys(filter(None, [author, *co_authors]))),
        subject=subject or None,
        ts=ts,
        date_quality="exact" if ts is not None else "none",
        parent_ref=commit.hash,
        content_type="git-commit",
        locations=[f"{path}#{commit.hash}"],
        numbers=issue_references.issues(message, project),
        extra=extra | {name: value for name, value in optional.items() if value},
    )


@functools.lru_cache(10_000)
def _who(name: str, address: str) -> str:
    name, address = clean(name).strip(), clean(address).strip()
    return f"{name} <{address}>" if name and address else name or address


def _time(raw: str) -> tuple[int | None, str]:
    """Seconds since 1970, UTC, and the zone as written: `+0200`."""
    seconds, _, zone = raw.partition(" ")
    try:
        return int(seconds), zone
    except ValueError:
        return None, zone


class _Branches:
    """Assigns each commit to a branch while a log is read, children before parents.

    A commit belongs to the main branch if it is on that, else to the first branch by name. So it stays on its branch
    when others begin at it or another one is checked out. A remote branch counts as the local one of its name.
    """

    def __init__(self) -> None:
        self._awaited: dict[str, tuple[int, str]] = {}
        """parents that have not come by yet, with the best branch among their children's"""

    def branch(self, commit: Commit) -> str | None:
        best = self._awaited.pop(commit.hash, _DETACHED)
        if commit.refs:
            best = min(best, *map(_rank, commit.refs))
        for parent in commit.parents:
            if best < self._awaited.get(parent, _DETACHED):
                self._awaited[parent] = best
        return best[1] or None


def _rank(ref: str) -> tuple[int, str]:
    name = ref.removeprefix("refs/heads/")
    if ref.startswith("refs/remotes/"):
        name = ref.removeprefix("refs/remotes/").partition("/")[2]
    if ref.startswith("tag: ") or name in ("", "HEAD"):
        return _DETACHED
    return (_MAIN.index(name) if name in _MAIN else len(_MAIN)), name


def _warnings(log: Log) -> Iterator[Failure]:
    if log.guessed_fields:
        why = f"{log.guessed_fields} fields are not UTF-8 and were read as windows-1252; check them if it matters"
        yield Failure("", "charset", why)
