"""Starts a command for the pages, and cancels it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import PageAction
from relrag_pipelines.settings import now
from relrag_pipelines.stores import lock, process_identity
from relrag_query.jobs import job as jobs
from relrag_query.jobs.job import Job

_MODULE = "relrag_query.cli.job"
_WAIT_SECONDS = "10"
"""how long the command waits for the lock, which a statement may hold for a moment"""
_PURPOSE = "the page of the archive"


class JobRuns(RelragError):
    """A command of the pages is at work already."""


def start(home: Path, config: Path, operation: str, arguments: Sequence[str], about: str = "") -> Job:
    """Starts `relrag` with these arguments, after a note in the journal. Raises JobRuns or lock.LockedByOther."""
    with lock.writing(home, _PURPOSE):
        former = jobs.load(home)
        if former and former.is_running:
            raise JobRuns(
                f"{former.operation} is at work already; wait for its end, or cancel it",
                code="job_runs",
                job=former.operation,
            )
        journal.append(home, [PageAction(operation, about)])
        name, *rest = arguments
        process = _spawn(home)
        started_at = now().isoformat("T", "seconds")
        job = Job(operation, about, process_identity.identify(process.pid), started_at)
        jobs.save(home, job)
        # by a pipe, since other users of the machine see arguments; its state is stored before it begins
        given = [name, "--config", str(config), "--wait", _WAIT_SECONDS, *rest]
        if process.stdin:
            process.stdin.write(json.dumps(given).encode())
            process.stdin.close()
    threading.Thread(target=process.wait, daemon=True).start()  # else it would stay a zombie
    return job


def cancel(home: Path) -> Job | None:
    """Interrupts the command that is at work, as Ctrl-C does; what it has finished stays. Returns the command."""
    job = jobs.load(home)
    if job and job.is_running:
        os.kill(int(job.process.partition(" ")[0]), signal.SIGINT)
    return job


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """A process that is started within it has SIGINT wait until it can answer for it; see cli/job.py."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _spawn(home: Path) -> subprocess.Popen[bytes]:
    """A process that waits for the arguments of its command. What libraries print is lost; see cli/job.py."""
    with _interrupts_blocked():
        return subprocess.Popen(
            [sys.executable, "-m", _MODULE, str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal of the server does not interrupt it
        )
