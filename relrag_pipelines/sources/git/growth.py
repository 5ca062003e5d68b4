"""Finds the new commits of a repository that has only grown, so that only these are read.

A commit's record contains its branch, its tags and the commits that its message refers to. All these can change while
the commit doesn't: a merge brings it onto the main branch, a tag is added, a later commit makes a short hash ambiguous.
So history counts as grown only if branches advanced by new commits alone, nothing was renamed or removed, and no
earlier message contains the beginning of a new hash. In every other case the whole history is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

import orjson

from relrag_pipelines.sources.formats import git_repository
from relrag_pipelines.sources.formats.git_command import RepositoryError, git

MAX_COMMITS = 200
"""with more new commits the whole history is read: each costs git a search through all messages"""
_MAX_REFS = 500
"""with more branches and tags, their hashes may not fit into a command line"""
_MIN_HASH_DIGITS = 7
"""as in issue_references.py"""


class Tips(TypedDict):
    """The ends of a repository's history. Names are digests: a branch may be named after a person."""

    branches: dict[str, str]
    """branch, local or remote, or detached HEAD -> hash of the commit"""
    tags: dict[str, str]
    """tag -> hash of the commit or of the tag object"""
    limits: str
    """changes if more or less of the history, or of its changed files, is available"""


def tips(folder: Path, state: git_repository.RepositoryState) -> Tips:
    """The ends of a history as it is now."""
    names = [(name, hash) for hash, _, name in (ref.partition(" ") for ref in state.refs)]
    limits = [*sorted(state.shallow), str(git_repository.is_partial(folder))]
    return {
        "branches": {git_repository.digest(name): hash for name, hash in names if not name.startswith("refs/tags/")},
        "tags": {git_repository.digest(name): hash for name, hash in names if name.startswith("refs/tags/")},
        "limits": git_repository.digest(*limits),
    }


def cursor(tips_by_path: Mapping[str, Tips]) -> str:
    """The tips of each repository as a listing's cursor; empty without repositories."""
    return orjson.dumps(tips_by_path, option=orjson.OPT_SORT_KEYS).decode() if tips_by_path else ""


def parse_cursor(text: str) -> dict[str, Tips]:
    """The tips that an earlier listing's cursor holds; empty if there was none."""
    tips_by_path: dict[str, Tips] = orjson.loads(text) if text else {}
    return tips_by_path


def parents_of_new(folder: Path, before: Tips | None, now: Tips) -> list[str]:
    """The earlier ends of a history that has only grown: other commits than their ancestors are new. Else empty."""
    if before is None or before == now or not before["branches"] or not _may_have_grown(before, now):
        return []
    try:
        return _parents_of_new(folder, before, now)
    except RepositoryError:  # an earlier end no longer exists
        return []


def _may_have_grown(before: Tips, now: Tips) -> bool:
    """Whether branches and tags allow for growth alone: none renamed or removed, no tag moved, and not too many."""
    if before["limits"] != now["limits"] or before["branches"].keys() != now["branches"].keys():
        return False
    if before["tags"].items() - now["tags"].items():
        return False
    return len(now["branches"]) + len(now["tags"]) <= _MAX_REFS


def _parents_of_new(folder: Path, before: Tips, now: Tips) -> list[str]:
    earlier = sorted({*before["branches"].values(), *before["tags"].values()})
    ends = sorted({*now["branches"].values(), *now["tags"].values()})
    new = _commits(folder, *ends, "--not", *earlier)
    if not 0 < len(new) <= MAX_COMMITS:
        return []
    steps = [(before["branches"][name], hash) for name, hash in now["branches"].items()]
    forward = all(_is_forward(folder, start, end, new) for start, end in steps if start != end)
    tagged = {hash for name, hash in now["tags"].items() if name not in before["tags"]}
    if not forward or (tagged and not _commits(folder, "--no-walk", *sorted(tagged)) <= new):
        return []
    return [] if _mentions(folder, earlier, new) else earlier


def _is_forward(folder: Path, start: str, end: str, new: set[str]) -> bool:
    """Whether a branch still contains all its commits, and gained new ones only."""
    return not _commits(folder, start, "--not", end) and _commits(folder, end, "--not", start) <= new


def _commits(folder: Path, *arguments: str) -> set[str]:
    """The hashes that `git rev-list` lists, up to one more than may be new."""
    listed = git(folder, "rev-list", f"--max-count={MAX_COMMITS + 1}", *arguments)
    return set(listed.decode("ascii").split())


def _mentions(folder: Path, earlier: Sequence[str], new: set[str]) -> bool:
    """Whether an earlier message may refer to a new commit, or to an earlier one by digits that are ambiguous now."""
    patterns = [f"--grep={hash[:_MIN_HASH_DIGITS]}" for hash in sorted(new)]
    return bool(git(folder, "log", "--max-count=1", "--format=%H", "--fixed-strings", *patterns, *earlier))
