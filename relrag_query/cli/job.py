"""Runs a command for the pages: `python -m relrag_query.cli.job HOME`, arguments as JSON; see jobs/."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import PageAction
from relrag_query.cli import command
from relrag_query.jobs import job as jobs
from relrag_query.jobs.job import CANCELLED, EndLines, JobState


def main() -> None:
    """Waits until the server has stored the job, runs the command, and notes how it ended."""
    home = Path(sys.argv[1])
    sys.argv = ["relrag", *json.loads(sys.stdin.buffer.read())]
    sys.stdout = sys.stderr = EndLines(home / jobs.LOG)
    exit_code = _run()
    jobs.end(home, exit_code)
    job = jobs.load(home)
    if job and job.state is JobState.CANCELLED:
        _note_cancel(home, job)
    os._exit(exit_code)


def _run() -> int:
    """The exit code of the command; interrupts were blocked until here."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a server in the background may ignore it
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return command()
    except KeyboardInterrupt:
        return CANCELLED


def _note_cancel(home: Path, job: jobs.Job) -> None:
    """Writes to the journal that the owner cancelled a command; only now, since the command held the lock."""
    try:
        journal.append(home, [PageAction("cancel", job.operation)])
    except RelragError as error:
        print(f"relrag: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
