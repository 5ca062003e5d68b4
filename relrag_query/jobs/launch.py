"""Starts a command for the pages, and cancels it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files.atomic import make_private
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
            raise JobRuns(f"{former.operation} is at work already; wait for its end, or cancel it")
        journal.append(home, [PageAction(operation, about)])
        name, *rest = arguments
        process = _spawn(home, [name, "--config", str(config), "--wait", _WAIT_SECONDS, *rest])
        started_at = now().isoformat("T", "seconds")
        job = Job(operation, about, process_identity.identify(process.pid), started_at)
        jobs.save(home, job)
        # the command begins when it reads the end of this pipe: its state is stored by then
        if process.stdin:
            process.stdin.close()
    threading.Thread(target=process.wait, daemon=True).start()  # else it would stay a zombie
    return job


def cancel(home: Path) -> Job | None:
    """Interrupts the command that is at work, as Ctrl-C does; what it has finished stays. Returns the command."""
    job = jobs.load(home)
    if job and job.is_running:
        os.kill(int(job.process.partition(" ")[0]), signal.SIGINT)
    return job


def _spawn(home: Path, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    log = home / jobs.LOG
    make_private(log.parent)
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", _MODULE, str(home), *arguments],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal of the server does not interrupt it
        )
