"""Finds the new commits of a repository that has only grown, so that only these are read.

A commit's record names its branch, its tags and the commits that its message refers to. All these can change while the
commit does not: a merge brings it onto the main branch, a tag is put on it, a later commit takes the same short hash.
So history counts as grown only where branches went forward by new commits alone, nothing was renamed or removed, and
no earlier message holds the beginning of a new hash. In every other case the whole history is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

import orjson

from relrag_pipelines.sources.formats import git_repository
from relrag_pipelines.sources.formats.git_command import RepositoryError, git

MAX_COMMITS = 200
"""where more are new, the whole history is read: each costs git a search through all messages"""
_MAX_REFS = 500
"""where there are more branches and tags, their hashes may not fit into a command line"""
_LEAST_HASH = 7
"""digits; see issue_references.py"""


class Tips(TypedDict):
    """Where the history of a repository ends. Names are digests: a branch may be named after somebody."""

    branches: dict[str, str]
    """also those of remotes, and a HEAD that stands on none -> hash of the commit"""
    tags: dict[str, str]
    """-> hash of the commit or of the tag itself"""
    limits: str
    """differs when more or less of the history is there, or of what its commits changed"""


def tips(folder: Path, state: git_repository.RepositoryState) -> Tips:
    """The ends of a history as it is now."""
    named = [(name, hash) for hash, _, name in (ref.partition(" ") for ref in state.refs)]
    limits = [*sorted(state.shallow), str(git_repository.is_partial(folder))]
    return {
        "branches": {git_repository.digest(name): hash for name, hash in named if not name.startswith("refs/tags/")},
        "tags": {git_repository.digest(name): hash for name, hash in named if name.startswith("refs/tags/")},
        "limits": git_repository.digest(*limits),
    }


def cursor(found: Mapping[str, Tips]) -> str:
    """What a listing remembers about each repository, by its path."""
    return orjson.dumps(found, option=orjson.OPT_SORT_KEYS).decode() if found else ""


def parse_cursor(written: str) -> dict[str, Tips]:
    """What an earlier listing remembered; empty if there was none."""
    found: dict[str, Tips] = orjson.loads(written) if written else {}
    return found


def parents_of_new(folder: Path, before: Tips | None, now: Tips) -> list[str]:
    """The earlier ends of a history that has only grown: all that is not behind them is new. Empty where it has not."""
    if before is None or before == now or before["limits"] != now["limits"] or not before["branches"]:
        return []
    if before["branches"].keys() != now["branches"].keys() or before["tags"].items() - now["tags"].items():
        return []
    if len(now["branches"]) + len(now["tags"]) > _MAX_REFS:
        return []
    try:
        return _parents_of_new(folder, before, now)
    except RepositoryError:  # an earlier end is no longer there
        return []


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
    """Whether a branch still contains all it contained, and otherwise only new commits."""
    return not _commits(folder, start, "--not", end) and _commits(folder, end, "--not", start) <= new


def _commits(folder: Path, *arguments: str) -> set[str]:
    """At most one more than may be new."""
    listed = git(folder, "rev-list", f"--max-count={MAX_COMMITS + 1}", *arguments)
    return set(listed.decode("ascii").split())


def _mentions(folder: Path, earlier: Sequence[str], new: set[str]) -> bool:
    """Whether an earlier message may name a new commit, or name an earlier one by digits that no longer tell it."""
    wanted = [f"--grep={hash[:_LEAST_HASH]}" for hash in sorted(new)]
    return bool(git(folder, "log", "--max-count=1", "--format=%H", "--fixed-strings", *wanted, *earlier))
