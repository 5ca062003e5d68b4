"""The state of the last command that the pages started, in private/job.json, and how it ended, in private/job.log."""

from __future__ import annotations

import io
import json
import os
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path

from relrag_pipelines.files.atomic import make_private, write_text
from relrag_pipelines.settings import now
from relrag_pipelines.stores import process_identity
from relrag_pipelines.stores.process_identity import Life

STATE = "private/job.json"
LOG = "private/job.log"
_SHOWN = ("error:", "relrag:", "warning:", "Generation ", "Nothing to do", "Not finished", "Forgotten:")
"""how lines begin that say how a command ended; they name no text of the archive"""
CANCELLED = 130
"""exit code of a command that was interrupted; see cli/dispatch.py"""


class JobState(Enum):
    """How a command is or ended."""

    RUNNING = "running"
    DONE = "done"
    WITH_FAILURES = "with failures"
    CANCELLED = "cancelled"
    FAILED = "failed"
    STOPPED = "stopped"
    """its process was killed, or the machine went down"""


_ENDINGS = {0: JobState.DONE, 1: JobState.WITH_FAILURES, CANCELLED: JobState.CANCELLED}
"""exit code -> state; any other means that it failed"""


@dataclass(frozen=True)
class Job:
    """A command that the pages started."""

    operation: str
    """the operation of the page: sync, retry, forget"""
    about: str
    """what it is about: a source, a file or ids; empty for the whole archive"""
    process: str
    """see process_identity.py"""
    started_at: str
    """ISO 8601, UTC"""
    ended_at: str = ""
    exit_code: int | None = None

    @property
    def state(self) -> JobState:
        """How it is now."""
        if self.exit_code is not None:
            return _ENDINGS.get(self.exit_code, JobState.FAILED)
        return JobState.STOPPED if process_identity.life(self.process) is Life.ENDED else JobState.RUNNING

    @property
    def is_running(self) -> bool:
        """Whether its process is at work."""
        return self.state is JobState.RUNNING


def load(home: Path) -> Job | None:
    """The last command; None if the pages have started none."""
    try:
        return Job(**json.loads((home / STATE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def save(home: Path, job: Job) -> None:
    """Stores the state of a command."""
    write_text(home / STATE, json.dumps(asdict(job)))


def end(home: Path, exit_code: int) -> None:
    """Notes that the last command has ended."""
    if job := load(home):
        save(home, replace(job, ended_at=now().isoformat("T", "seconds"), exit_code=exit_code))


def output(home: Path) -> list[str]:
    """The lines in which the command said how it ended."""
    try:
        return (home / LOG).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


class EndLines(io.TextIOBase):
    """Standard output of a command: stores the lines that say how it ends, and drops all others.

    A preview or a list of failures quotes the archive, and `forget` searches every stored file for what it removed.
    """

    def __init__(self, file: Path) -> None:
        make_private(file.parent)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._file = os.fdopen(handle, "w", encoding="utf-8", errors="replace")
        self._line = ""

    def writable(self) -> bool:
        """As a stream says it."""
        return True

    def write(self, text: str) -> int:
        """Takes a piece of the output."""
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            if line.startswith(_SHOWN):
                print(line, file=self._file, flush=True)
        return len(text)
