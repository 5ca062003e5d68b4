"""How far the process is that writes to a home, for the pages to show, in private/progress.json.

Whatever writes and reports progress leaves the file: a sync of the command line, of `watch`, or of the pages.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from relrag_pipelines.files import access
from relrag_pipelines.files.atomic import make_private
from relrag_pipelines.stores import process_identity
from relrag_pipelines.stores.process_identity import Life

NAME = "private/progress.json"
"""within RELRAG_HOME"""
_SECONDS = 0.25
"""how often the file is written while a step goes on"""
_MAX_STEPS = 200


@dataclass(frozen=True)
class Step:
    """A step of a sync, such as the export of a source."""

    name: str
    """what `Workspace.report` calls it, such as `family: export`"""
    done: int
    total: int
    """0 if it isn't known how much there is"""
    started_at: float
    """seconds since 1970"""
    seconds: float = 0.0
    """how long it has taken so far"""

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at this rate; None while there is no rate yet."""
        if not self.total or not self.done or self.seconds < 1:
            return None
        return self.seconds * (self.total - self.done) / self.done


@dataclass(frozen=True)
class Progress:
    """The steps of who writes, in the order in which they began."""

    process: str
    """see process_identity.py"""
    steps: tuple[Step, ...] = ()


class Recorder:
    """Writes the progress of this process; to be called as `Workspace.progress`."""

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = home / NAME, clock
        self._steps: dict[str, Step] = {}
        self._written_at = 0.0
        self._write()

    def __call__(self, name: str, done: int, total: int) -> None:
        """Records how far a step is."""
        now = self._clock()
        is_new = name not in self._steps
        step = self._steps.get(name, Step(name, done, total, now))
        self._steps[name] = replace(step, done=done, total=total, seconds=now - step.started_at)
        if is_new or done >= total or now - self._written_at >= _SECONDS:
            self._write()

    def close(self) -> None:
        """Removes the file, since nothing goes on any more."""
        self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        self._written_at = self._clock()
        steps = list(self._steps.values())[-_MAX_STEPS:]
        progress = {"process": process_identity.identify(), "steps": [asdict(step) for step in steps]}
        make_private(self._path.parent)
        # not synced to disk: after a power cut nothing goes on, and the file means nothing
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        temporary.write_text(json.dumps(progress), encoding="utf-8")
        access.restrict(temporary)
        os.replace(temporary, self._path)  # noqa: PTH105  tests count the writes that have to be durable


def load(home: Path) -> Progress | None:
    """The progress of the process that writes; None if none does."""
    try:
        stored = json.loads((home / NAME).read_text(encoding="utf-8"))
        progress = Progress(stored["process"], tuple(Step(**step) for step in stored["steps"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return None if process_identity.life(progress.process) is Life.ENDED else progress
