"""`relrag calls`: lists recorded calls, approves transcripts or leaves them out, swaps speakers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer

from relrag_pipelines.stores import lock
from relrag_query.cli import dispatch
from relrag_query.cli.options import CallIds, Config, Json, Wait
from relrag_query.cli.table import table_lines
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_pipelines.ingest.call_review import Call
    from relrag_pipelines.workspace import Workspace

app = typer.Typer(
    help="Recorded calls: list them, approve transcripts or leave them out, swap speakers.", no_args_is_help=True
)


@app.command("list", epilog="Example: relrag calls list --state transcribed")
def listing_command(
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="STATE", help="pending, transcribed, approved, left_out or error."),
    ] = None,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """List recorded calls with state, id, speakers and files."""
    dispatch.run(listing, state, config, as_json=as_json)


@app.command("approve", epilog="Example: relrag calls approve --all")
def approve_command(
    ids: CallIds = None,
    everything: Annotated[bool, typer.Option("--all", help="All calls that are transcribed.")] = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Approve transcripts, so that the next sync indexes them."""
    dispatch.run(approve, ids or [], config, everything=everything, wait=wait)


@app.command("leave-out", epilog="Example: relrag calls leave-out call:4f2a")
def leave_out_command(ids: CallIds, wait: Wait = 0, config: Config = None) -> None:
    """Leave the text of calls out of the archive, from the next sync on; approving takes that back."""
    dispatch.run(leave_out, ids or [], config, wait=wait)


@app.command("swap-speakers", epilog="Example: relrag calls swap-speakers call:4f2a")
def swap_speakers_command(ids: CallIds, wait: Wait = 0, config: Config = None) -> None:
    """Swap the two speakers of a call; doing it again undoes it."""
    dispatch.run(swap_speakers, ids or [], config, wait=wait)


def listing(state: str | None = None, config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints the calls as the last sync read them, the latest first; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.ingest import call_review

    settings = settings_module.load(config)
    calls = call_review.calls(settings)
    matches = [call for call in calls if state in (None, call.state)]
    if as_json:
        print(json.dumps([asdict(call) for call in matches], indent=1, ensure_ascii=False))
        return 0
    zone = ZoneInfo(settings.timezone)
    _print_calls(matches, zone)
    counts = Counter(call.state for call in calls)
    states = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    print(f"{number(len(calls), 'call')}: {states}." if calls else "No calls; add a source of kind call_recording.")
    return 0


def approve(names: Sequence[str], config: Path | None = None, *, everything: bool = False, wait: float = 0) -> int:
    """Approves transcripts, so that the next sync indexes them; returns the exit code."""
    from relrag_pipelines.ingest import call_review
    from relrag_pipelines.ingest.call_review import CallsError

    if not names and not everything:
        raise CallsError("no call is named; `relrag calls list` shows ids, --all means all that are transcribed")
    with _changing("approve", config, wait) as workspace:
        calls = call_review.approve(workspace, names, everything=everything)
    return _report(calls, "approved")


def leave_out(names: Sequence[str], config: Path | None = None, *, wait: float = 0) -> int:
    """Leaves the text of calls out of the archive; returns the exit code."""
    from relrag_pipelines.ingest import call_review

    with _changing("leave-out", config, wait) as workspace:
        calls = call_review.leave_out(workspace, names)
    return _report(calls, "left out")


def swap_speakers(names: Sequence[str], config: Path | None = None, *, wait: float = 0) -> int:
    """Exchanges the two speakers of calls; returns the exit code."""
    from relrag_pipelines.ingest import call_review

    with _changing("swap-speakers", config, wait) as workspace:
        calls = call_review.swap_speakers(workspace, names)
    return _report(calls, "swapped")


@contextmanager
def _changing(command: str, config: Path | None, wait: float) -> Iterator[Workspace]:
    """The workspace, locked while a command of this name writes."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.workspace import Workspace

    workspace = Workspace(settings_module.load(config))
    with lock.writing(workspace.home, f"relrag calls {command}", wait):
        yield workspace


def _report(calls: list[Call], what: str) -> int:
    """Prints the calls that were changed; the exit code."""
    for call in calls:
        print(safe(f"{what}: {call.asset_id}  {call.with_whom}"))
    print("The next `relrag sync` applies it." if calls else "Nothing to do.")
    return 0


def _print_calls(calls: Sequence[Call], zone: ZoneInfo) -> None:
    """Prints a line for each call, and below it in full what other commands need: its id and file."""
    from relrag_query.display.source_line import time_of

    rows = [
        (
            call.state,
            time_of(call.ts, zone, call.rag_source_type, call.date_quality),
            _length(call),
            call.with_whom or "-",
        )
        for call in calls
    ]
    for line, call in zip(table_lines(("state", "time", "length", "with"), rows, ("length",))[1:], calls, strict=True):
        print(f"{line}\n    {safe(call.asset_id)}\n    {safe(call.source)}: {safe(call.location)}")


def _length(call: Call) -> str:
    from relrag_query.display.source_line import clock

    return clock(int(call.seconds)) if call.seconds else "-"
