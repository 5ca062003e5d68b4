"""Commits of local git repositories, and of saved logs (.gitlog).

A repository is one unit; its branches and tags are its version, so that one that has not changed is recognised
without its log, and of one that has only grown the new commits are read. History that was rewritten is a repository
that no longer holds some commits: they are deleted. log.py knows the format, docs/git.md how to save a log. A commit is
`git:<hash>` wherever it comes from.
"""

from __future__ import annotations

import functools
import io
import mmap
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import Listing, ListingPlace, ReadContext, Unit, UnitRef, path_of, unit_of
from relrag_pipelines.sources.formats import git_command, git_repository
from relrag_pipelines.sources.formats.git_command import RepositoryError
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.sources.git import growth, issue_references
from relrag_pipelines.sources.git.log import COMMAND, Commit, Log, LogError

SUFFIX = ".gitlog"
MAX_FILES = 200
"""of a commit that changes more, these many are kept"""

_HEAD = 4096
_SUBJECT = 1000
_CO_AUTHOR = re.compile(r"^co-authored-by:[ \t]*(?P<who>\S.*?)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_HASH = re.compile(rb"\0commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)\0")
_MAIN = ("main", "master", "trunk", "develop", "development")
_DETACHED = (len(_MAIN) + 1, "")


def units(place: ListingPlace) -> Listing:
    """Every repository and every saved log below a source's path, or the one that it is.

    The cursor knows the branches and tags of each repository, so that of one that has only grown the new commits are
    read: see growth.py.
    """
    root = place.root
    if root.is_file():
        return Listing((unit_of(root, root.parent),))
    found: list[Unit | UnitRef] = []
    before, now = growth.parse_cursor(place.cursor), dict[str, growth.Tips]()
    for folder, names in git_repository.walk(root, place.is_excluded, place.follow_links):
        if not place.follow_links and git_repository.linked_from_outside(folder, root):
            found.append(unit_of(folder / ".git", root))
        elif git_repository.is_repository(folder):
            path = path_of(folder, root)
            try:
                state = git_repository.state(folder)
                now[path] = growth.tips(folder, state)
                parents = growth.parents_of_new(folder, before.get(path), now[path])
                found.append(UnitRef(path, state.fingerprint, folder, " ".join(parents)))
            except RepositoryError as error:  # its fault as version, so that it is read again once git can read it
                found.append(UnitRef(path, git_repository.digest("fault", error.fault), folder))
        logs = (name for name in names if name.lower().endswith(SUFFIX) and not name.startswith("."))
        found.extend(unit_of(folder / name, root, follow_links=place.follow_links) for name in logs)
    return Listing(tuple(found), growth.cursor(now))


def recognise(file: Path) -> bool:
    """Whether a file is a log in the format that is read, or a folder the `.git` of a repository or a bare one."""
    if file.name == ".git" or git_repository.is_bare(file):
        return True
    with open_plain(file) as opened:
        return _HASH.match(opened.read(_HEAD)) is not None


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The commits of a unit, newest first, and failures for what could not be read of it."""
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
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            known = sorted({match[1].decode() for match in _HASH.finditer(whole)})
        log = Log(io.BufferedReader(file.raw))
        yield from records(log, unit.path, known)
        yield from _warnings(log)


def records(log: Log, path: str, known: Sequence[str], shallow: frozenset[str] = frozenset()) -> Iterator[Record]:
    """The commits of a log as records; `path` names its unit, `known` are all its hashes, sorted.

    Of `shallow` commits git would say that they added every file. Raises LogError.
    """
    branches = _Branches()
    project = re.sub(r"(?:\.git|\.gitlog)$", "", PurePosixPath(path).name)
    for commit in log.commits():
        if commit.hash in shallow:
            commit.files = []
        yield _record(commit, path, project, known, branches.branch(commit))


def _record(commit: Commit, path: str, project: str, known: Sequence[str], branch: str | None) -> Record:
    message = clean(commit.message).strip()
    subject, _, body = message.partition("\n")
    if len(subject) > _SUBJECT:
        subject, body = subject[:_SUBJECT], message
    author = _who(*commit.author)
    ts, zone = _time(commit.authored)
    others = _CO_AUTHOR.findall(message)
    extra: dict[str, Any] = {"git_commit_hash": commit.hash, "repository": project, "zone": zone}
    extra |= {"parents": commit.parents, "files": commit.files[:MAX_FILES], "file_count": len(commit.files)}
    committer = _who(*commit.committer)
    if committer != author:
        extra["committer"] = committer
    if commit.committed != commit.authored:
        extra["committed"] = _time(commit.committed)[0]
    tags = [ref.removeprefix("tag: refs/tags/") for ref in commit.refs if ref.startswith("tag: ")]
    named = issue_references.commits(message, commit.hash, known)
    told = {"branch": branch, "tags": tags, "co_authors": others, "references": named}
    return Record(
        source_id=commit.hash,
        asset_id=f"git:{commit.hash}",
        text=body.strip(),
        from_=author or None,
        participants=list(dict.fromkeys(filter(None, [author, *others]))),
        subject=subject or None,
        ts=ts,
        date_quality="exact" if ts is not None else "none",
        parent_ref=commit.hash,
        content_type="git-commit",
        locations=[f"{path}#{commit.hash}"],
        numbers=issue_references.issues(message, project),
        extra=extra | {name: value for name, value in told.items() if value},
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
    """Which branch a commit is on, told while a log goes by, children before parents.

    It is the main branch where the commit is on that, else the first by name. So a commit keeps its branch when others
    begin at it or when another one is checked out. A branch of a remote counts as the local one of its name.
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
