"""Shows progress: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from relrag_pipelines.stores import progress_file
from relrag_pipelines.workspace import Progress

_LINE_SECONDS = 5.0


@contextmanager
def show_progress(home: Path) -> Iterator[Progress]:
    """Yields a function that reports progress: (activity, done, total). A total of 0 prints the activity as a line.

    The pages of the archive at `home` show it too.
    """
    recorder = progress_file.Recorder(home)
    try:
        with _on_terminal() as show:

            def report(what: str, done: int, total: int) -> None:
                show(what, done, total)
                if total:
                    recorder(what, done, total)

            yield report
    finally:
        recorder.close()


@contextmanager
def _on_terminal() -> Iterator[Progress]:
    stream = sys.stderr  # taken now, because sys.stderr is redirected while an asset runs
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
                for task_id in bars.task_ids:
                    bars.update(task_id, visible=False)
                tasks[what] = bars.add_task(what)
            bars.update(tasks[what], completed=done, total=total)  # type: ignore[arg-type]

        yield show


def _lines(stream: TextIO) -> Progress:
    """Prints a line per source and per event, and every few seconds a line with the current activity."""
    last_print = time.monotonic()

    def show(what: str, done: int, total: int) -> None:
        nonlocal last_print
        now = time.monotonic()
        if not total:
            print(what, file=stream, flush=True)
        elif now - last_print >= _LINE_SECONDS or (what.endswith("export") and done == total):
            last_print = now
            print(f"{what} {done}/{total}", file=stream, flush=True)

    return show
