"""Maps numbers of earlier numbering plans to today's, by the rules of plan_changes.tsv."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import phonenumbers

_TABLE = Path(__file__).parent / "plan_changes.tsv"


def subscriber(e164: str) -> str:
    """The number in its country's current plan, `+5511987654321` for `+551187654321`; others unchanged."""
    for code, changes in _changes().items():
        if e164.startswith(code):
            national = e164[len(code) :]
            for pattern, replacement in changes:
                if whole := pattern.fullmatch(national):
                    return code + whole.expand(replacement)
    return e164


@functools.cache
def has_earlier_plan(region: str) -> bool:
    """Whether the numbering plan of a country, by its ISO 3166-1 code, has changed."""
    return f"+{phonenumbers.country_code_for_region(region)}" in _changes()


@functools.cache
def _changes() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    """By `+` and country code: patterns of national numbers, with their replacements."""
    changes: dict[str, list[tuple[re.Pattern[str], str]]] = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            code, national, replacement, _ = line.split("\t")
            changes.setdefault(f"+{code}", []).append((re.compile(national), replacement))
    return changes
