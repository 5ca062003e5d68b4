"""Shows progress: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from relrag_pipelines.workspace import Progress

_LINE_SECONDS = 5.0


@contextmanager
def show_progress() -> Iterator[Progress]:
    """Gives a function that reports progress: what is being done, how much is done, and how much there is."""
    stream = sys.stderr  # kept: while an asset runs, what is printed goes nowhere
    if not stream.isatty():
        yield _lines(stream)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(file=stream), transient=True) as bars:
        tasks: dict[str, object] = {}

        def show(what: str, done: int, total: int) -> None:
            if not total:
                bars.console.print(what, highlight=False)
                return
            if what not in tasks:
                for earlier in bars.task_ids:
                    bars.update(earlier, visible=False)
                tasks[what] = bars.add_task(what)
            bars.update(tasks[what], completed=done, total=total)  # type: ignore[arg-type]

        yield show


def _lines(stream: TextIO) -> Progress:
    """A line per source read and per event, and every few seconds one about what is being done."""
    last = time.monotonic()

    def show(what: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if not total:
            print(what, file=stream, flush=True)
        elif now - last >= _LINE_SECONDS or (what.endswith("export") and done == total):
            last = now
            print(f"{what} {done}/{total}", file=stream, flush=True)

    return show
