"""approvals.jsonl and links.jsonl, which held the owner's statements before there was one journal.

Each line was `{"at": time, ...fields}`, without a number; one that a power cut tore is ignored, wherever it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from relrag_pipelines.journal import entry_kinds
from relrag_pipelines.stores import private_manifest

FILES: Mapping[str, str] = {"private/approvals.jsonl": "call", "private/links.jsonl": "link"}
"""path within the home -> the kind that its lines are of"""

Line = tuple[str, str, dict[str, Any]]
"""at, kind, fields"""


def lines(home: Path) -> list[Line]:
    """What these files say, by time; none once the journal has taken it over."""
    found = []
    for name, kind in FILES.items():
        file = home / name
        for line in file.read_bytes().splitlines() if file.exists() else ():
            try:
                stored = orjson.loads(line)
                found.append((stored["at"], kind, entry_kinds.to_fields(entry_kinds.parse(kind, stored))))
            except (orjson.JSONDecodeError, TypeError, KeyError):
                continue
    return sorted(found, key=lambda line: line[0])


def remove(home: Path) -> None:
    """Removes them."""
    if there := [name for name in FILES if (home / name).exists()]:
        private_manifest.unexpect(home, there)
        for name in there:
            (home / name).unlink()
