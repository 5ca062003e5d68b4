"""Writes the demo archive's saved git log from examples/originals/commits.jsonl, oldest first there, newest here.

The history cannot be made by git: its hashes are those that the demo's questions ask for. The bytes are what git prints
for `relrag_pipelines.sources.git.log.COMMAND`. Run `python examples/make_commits.py`; a test compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parent
ORIGINAL = EXAMPLES / "originals" / "commits.jsonl"
LOG = EXAMPLES / "archive" / "firma-web.gitlog"
ZONE = "+0100"


def log(original: str) -> bytes:
    """The log of commits that follow each other on one branch, a JSON object a line."""
    commits = [json.loads(line) for line in original.splitlines()]
    parents = ["", *(commit["hash"] for commit in commits)]
    newest = len(commits) - 1
    fields = [
        field
        for place in range(newest, -1, -1)
        for field in _fields(commits[place], parents[place], "HEAD -> refs/heads/main" if place == newest else "")
    ]
    return "\0".join([*fields, ""]).encode()


def _fields(commit: dict[str, Any], parent: str, head: str) -> Iterator[str]:
    refs = [head] if head else []
    refs += [f"tag: refs/tags/{tag}" for tag in commit.get("tags", [])]
    seconds = int(datetime.fromisoformat(commit["time"]).timestamp())
    person = [commit["name"], commit["address"], f"{seconds} {ZONE}"]
    yield from ["", f"commit {commit['hash']}", parent, ", ".join(refs), *person, *person, f"{commit['message']}\n"]
    for number, file in enumerate(commit["files"]):
        status, _, path = file.partition(" ")
        before, moved, after = path.partition(" -> ")
        yield ("" if number else "\n") + (f"{status}096" if moved else status)
        yield from [before, after] if moved else [before]


if __name__ == "__main__":
    LOG.write_bytes(log(ORIGINAL.read_text(encoding="utf-8")))
