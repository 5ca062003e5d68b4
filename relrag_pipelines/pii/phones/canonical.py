"""One form for all ways to write the number of one subscriber, as plan_changes.tsv lists them by country."""

from __future__ import annotations

import functools
import re
from pathlib import Path

_TABLE = Path(__file__).parent / "plan_changes.tsv"


def subscriber(e164: str) -> str:
    """The number as its country writes it today, `+5511987654321` for `+551187654321`; others as they are."""
    for code, changes in _changes().items():
        if e164.startswith(code):
            national = e164[len(code) :]
            for pattern, replacement in changes:
                if whole := pattern.fullmatch(national):
                    return code + whole.expand(replacement)
    return e164


@functools.cache
def _changes() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    """By `+` and the code of the country: what a national number looks like, and what it becomes."""
    changes: dict[str, list[tuple[re.Pattern[str], str]]] = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            code, national, replacement, _ = line.split("\t")
            changes.setdefault(f"+{code}", []).append((re.compile(national), replacement))
    return changes
