"""`relrag failures`."""

from __future__ import annotations

from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Json, Wait

app = typer.Typer(help="What could not be read.", no_args_is_help=True)


@app.command("list", epilog="Example: relrag failures list --json")
def list_failures(as_json: Json = False, config: Config = None) -> None:
    """List what could not be read, why, and what to do.

    `relrag status --failures` shows the same.
    """
    dispatch.run("status", "status", config, as_json=as_json, failures=True)


@app.command("retry", epilog='Example: relrag failures retry documents "scans/letter.pdf" --now')
def retry(
    source: Annotated[str, typer.Argument(help="Source; by default all of them.")] = "",
    file: Annotated[str, typer.Argument(help="File of the source, as the list names it; by default all.")] = "",
    now: Annotated[bool, typer.Option("--now", help="Sync at once; by default the next sync does it.")] = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Read again what could not be read, although its files are unchanged.

    For files that failed for want of a program, a library or memory.
    """
    dispatch.run("failures", "retry", config, source=source, file=file, now=now, wait=wait)
