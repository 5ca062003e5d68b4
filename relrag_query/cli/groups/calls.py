"""`relrag calls`."""

from __future__ import annotations

from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import CallIds, Config, Json, Wait

app = typer.Typer(help="Recorded calls: list them, approve transcripts, swap speakers.", no_args_is_help=True)


@app.command("list", epilog="Example: relrag calls list --state transcribed")
def listing(
    state: Annotated[
        str | None, typer.Option("--state", metavar="STATE", help="Only pending, transcribed, approved or error.")
    ] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List recorded calls with state, id, speakers and files."""
    dispatch.run("calls", "listing", state, config, as_json=as_json)


@app.command("approve", epilog="Example: relrag calls approve --all")
def approve(
    ids: CallIds = None,
    everything: Annotated[bool, typer.Option("--all", help="All calls that are transcribed.")] = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Approve transcripts, so that the next sync indexes them."""
    dispatch.run("calls", "approve", ids or [], config, everything=everything, wait=wait)


@app.command("swap-speakers", epilog="Example: relrag calls swap-speakers call:4f2a")
def swap_speakers(ids: CallIds, wait: Wait = 0, config: Config = None) -> None:
    """Swap the two speakers of a call; doing it again undoes it."""
    dispatch.run("calls", "swap_speakers", ids or [], config, wait=wait)
