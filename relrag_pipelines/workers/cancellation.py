"""Cancellation of work: it ends at its next step after nobody needs its result.

Python cannot stop a thread from outside. So long work calls `check` between its steps, and code that waits in a library
declares by `stopped_by` how to stop the library. Both do nothing in a thread whose work cannot be cancelled.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class GivenUp(BaseException):
    """Raised in cancelled work. Not an Exception, so that error handlers do not catch it and retry."""


class Work:
    """A cancellable piece of work, in any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given_up = False
        self._stops: list[Callable[[], object]] = []

    def give_up(self) -> None:
        """Cancels the work: it ends at its next step, and its waiting calls are stopped; safe in any thread."""
        with self._lock:
            self._given_up = True
            for stop in self._stops:
                stop()

    def check(self) -> None:
        """Raises GivenUp if the work was cancelled."""
        if self._given_up:
            raise GivenUp

    @contextmanager
    def stopped_by(self, stop: Callable[[], object]) -> Iterator[None]:
        """Within this block, cancelling the work calls `stop`, which must be quick and may be called too late.

        An exception of the block after that becomes GivenUp.
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
    """The work of this thread or task; None if it cannot be cancelled."""
    return _current.get()


@contextmanager
def doing(work: Work | None) -> Iterator[None]:
    """Within this block, this thread or task and the tasks it starts belong to that work."""
    token = _current.set(work)
    try:
        yield
    finally:
        _current.reset(token)


def check() -> None:
    """Raises GivenUp if the work of this thread was cancelled."""
    if (work := _current.get()) is not None:
        work.check()


@contextmanager
def stopped_by(stop: Callable[[], object]) -> Iterator[None]:
    """Applies `Work.stopped_by` to the work of this thread."""
    if (work := _current.get()) is None:
        yield
        return
    with work.stopped_by(stop):
        yield
