"""What a check of `relrag doctor` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class CheckResult:
    """The result of one check."""

    level: Level
    what: str
    finding: str
    """the finding; for a warning or a problem also what to do"""
