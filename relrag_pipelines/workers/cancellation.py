"""Work that can be given up: nobody waits for its result any more, and it ends at its next step.

Python cannot stop a thread from outside. So what takes long asks `check` between its steps, and what waits within a
library says by `stopped_by` how that can be stopped. Both do nothing in a thread whose work nobody can give up.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class GivenUp(BaseException):
    """Raised in work that was given up. No Exception: what handles errors must not go on with another try."""


class Work:
    """One piece of work, in any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given_up = False
        self._stops: list[Callable[[], object]] = []

    def give_up(self) -> None:
        """Lets the work end at its next step, and stops what it waits for; may be called from any thread."""
        with self._lock:
            self._given_up = True
            for stop in self._stops:
                stop()

    def check(self) -> None:
        """Raises GivenUp where the work was given up."""
        if self._given_up:
            raise GivenUp

    @contextmanager
    def stopped_by(self, stop: Callable[[], object]) -> Iterator[None]:
        """Within this block `stop` is called once the work is given up: it must be quick, and may come too late.

        What the block raises because of it becomes GivenUp.
        """
        with self._lock:
            self.check()
            self._stops.append(stop)
        try:
            yield
        except Exception:
            self.check()
            raise
        finally:
            with self._lock:
                self._stops.remove(stop)


_current: contextvars.ContextVar[Work | None] = contextvars.ContextVar("work", default=None)


def current() -> Work | None:
    """The work that this thread or task does; None where nobody can give it up."""
    return _current.get()


@contextmanager
def doing(work: Work | None) -> Iterator[None]:
    """Within this block this thread or task does that work, and so do the tasks that it starts."""
    before = _current.set(work)
    try:
        yield
    finally:
        _current.reset(before)


def check() -> None:
    """Raises GivenUp where the work of this thread was given up."""
    if (work := _current.get()) is not None:
        work.check()


@contextmanager
def stopped_by(stop: Callable[[], object]) -> Iterator[None]:
    """`Work.stopped_by` of the work of this thread."""
    if (work := _current.get()) is None:
        yield
        return
    with work.stopped_by(stop):
        yield
