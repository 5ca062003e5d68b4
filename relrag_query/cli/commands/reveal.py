"""`relrag reveal`: shows what a pseudonym stands for, or a record before redaction, and records who asked."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Wait, Who, Why
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_pipelines.settings import Settings

app = typer.Typer()


@app.command("reveal", epilog='Example: relrag reveal jsonl:notes:n1 --who Dana --why "tax return"')
def reveal_command(
    what: Annotated[str, typer.Argument(help="A pseudonym, such as <PHONE_NUMBER:k1:...>, or the id of a record.")],
    who: Who = "",
    why: Why = "",
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Show what a pseudonym stands for, or a record before redaction.

    Who asks and why is recorded first.
    """
    dispatch.run(reveal, what, who, why, config, wait=wait)


def reveal(what: str, who: str = "", why: str = "", config: Path | None = None, *, wait: float = 0) -> int:
    """Prints the original after recording who asks and why; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_query.service import reveal as revealing

    settings = settings_module.load(config)
    shown = revealing.originals(settings, what)
    note(settings, who, why, [what], wait)
    for line in shown:
        print(safe(line))
    return 0


def note(settings: Settings, who: str, why: str, what: Sequence[str], wait: float | None = None) -> None:
    """Records who asks and why; on a terminal it prompts for missing values."""
    from relrag_query.service import reveal as revealing

    if sys.stdin.isatty():
        who = who or input(f"Who are you? [{settings.owner}] ") or settings.owner
        why = why or input("Why do you need it? ")
    revealing.note(settings, who, why, what, wait)
