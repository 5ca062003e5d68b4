"""Reads approvals.jsonl and links.jsonl, which held the owner's statements before the journal existed.

Each line is `{"at": time, ...fields}`, without a number; a line that a power cut tore is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from relrag_pipelines.journal import entry_kinds
from relrag_pipelines.stores import private_manifest

FILES: Mapping[str, str] = {"private/approvals.jsonl": "call", "private/links.jsonl": "link"}
"""path within the home -> the kind of its lines"""

Line = tuple[str, str, dict[str, Any]]
"""at, kind, fields"""


def lines(home: Path) -> list[Line]:
    """The statements in these files, by time; empty after the journal has taken them over."""
    statements = []
    for name, kind in FILES.items():
        file = home / name
        for line in file.read_bytes().splitlines() if file.exists() else ():
            try:
                stored = orjson.loads(line)
                statements.append((stored["at"], kind, entry_kinds.to_fields(entry_kinds.parse(kind, stored))))
            except (orjson.JSONDecodeError, TypeError, KeyError):
                continue
    return sorted(statements, key=lambda line: line[0])


def remove(home: Path) -> None:
    """Removes these files."""
    if existing := [name for name in FILES if (home / name).exists()]:
        private_manifest.unexpect(home, existing)
        for name in existing:
            (home / name).unlink()
