"""`relrag reveal`: shows what a pseudonym stands for, or a record before redaction, and records who asked."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import Settings
from relrag_query.display.inert_text import safe
from relrag_query.service import reveal as revealing


def reveal(what: str, who: str = "", why: str = "", config: Path | None = None, *, wait: float = 0) -> int:
    """Prints the original after recording who asks and why; returns the exit code."""
    settings = settings_module.load(config)
    shown = revealing.originals(settings, what)
    note(settings, who, why, [what], wait)
    for line in shown:
        print(safe(line))
    return 0


def note(settings: Settings, who: str, why: str, what: Sequence[str], wait: float | None = None) -> None:
    """Records who asks and why; on a terminal it prompts for missing values."""
    if sys.stdin.isatty():
        who = who or input(f"Who are you? [{settings.owner}] ") or settings.owner
        why = why or input("Why do you need it? ")
    revealing.note(settings, who, why, what, wait)
