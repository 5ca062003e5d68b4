"""Runs a command for the pages: `python -m relrag_query.cli.job HOME sync --config FILE`; see relrag_query/jobs/."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import PageAction
from relrag_query.cli import command
from relrag_query.jobs import job as jobs
from relrag_query.jobs.job import JobState


def main() -> None:
    """Waits until the server has stored the job, runs the command, and notes how it ended."""
    home, arguments = Path(sys.argv[1]), sys.argv[2:]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a server in the background may ignore it
    sys.stdin.buffer.read()
    sys.argv = ["relrag", *arguments]
    exit_code = command()
    jobs.end(home, exit_code)
    job = jobs.load(home)
    if job and job.state is JobState.CANCELLED:
        _note_cancel(home, job)
    os._exit(exit_code)


def _note_cancel(home: Path, job: jobs.Job) -> None:
    """Writes to the journal that the owner cancelled a command; only now, since the command held the lock."""
    try:
        journal.append(home, [PageAction("cancel", job.operation)])
    except RelragError as error:
        print(f"relrag: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
