"""`relrag watch`: syncs when files of a source change, and polls servers, until it is stopped."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from relrag_pipelines.errors import RelragError
from relrag_pipelines.stores import lock
from relrag_query.cli import dispatch
from relrag_query.cli.exit_codes import DONE
from relrag_query.cli.options import Config

app = typer.Typer()


@app.command("watch", epilog="Example: relrag watch --every 60")
def watch_command(
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=1, help="How often servers are asked for changes.")
    ] = 30,
    config: Config = None,
) -> None:
    """Sync whenever files change, until it is stopped with Ctrl-C.

    Sources on servers are asked for changes from time to time.
    """
    dispatch.run(watch, config, every=every)


def watch(config: Path | None = None, *, every: float = 30, stop: threading.Event | None = None) -> int:
    """Watches the sources until it is stopped; returns the exit code.

    Servers are polled `every` so many seconds, under the lock. Apart from that, no lock is taken and nothing is written
    while nothing changes.
    """
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.ingest import watching
    from relrag_pipelines.workspace import Workspace
    from relrag_query.cli.commands.plan import require_sources

    require_sources(Workspace(settings_module.load(config)))
    print(f"Watching; servers are asked every {every:g} s. Ctrl-C ends it.", flush=True)
    ending = stop or threading.Event()
    with _stopped_by_signals(ending):
        last_poll, reported = float("-inf"), ""
        while not ending.is_set():
            is_poll_due = time.monotonic() - last_poll >= every
            last_poll = time.monotonic() if is_poll_due else last_poll
            reported = _look(config, reported, polls=is_poll_due)
            if not ending.is_set():
                watching.wait_for_change(settings_module.load(config), every, ending)
    print("Stopped.", flush=True)
    return DONE


def _look(config: Path | None, reported: str, *, polls: bool) -> str:
    """Polls servers, and syncs if there is anything to do; what went wrong, printed unless it was `reported`."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.ingest import watching
    from relrag_pipelines.stages import plan as plans
    from relrag_pipelines.workspace import Workspace
    from relrag_query.cli.commands.sync import sync

    try:
        workspace = Workspace(settings_module.load(config))
        problems = list(watching.poll(workspace)) if polls else []
        if not lock.holder(workspace.home) and not plans.build_plan(workspace).empty:
            sync(config)
    except RelragError as error:  # a lock, a full disk, a setting: what is wrong now may be right the next time
        problems = [str(error)]
    message = "\n".join(problems)
    if message and message != reported:
        print(message, flush=True)
    return message


@contextmanager
def _stopped_by_signals(ending: threading.Event) -> Iterator[None]:
    """Has SIGINT and SIGTERM end the watch after the work at hand; a second one ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        ending.set()
        signal.signal(number, earlier[signal.Signals(number)])

    earlier = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
