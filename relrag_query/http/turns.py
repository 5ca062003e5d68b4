"""Work for the service in threads: so many at once, so many that wait, and no more."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import anyio
from anyio import to_thread

from relrag_query.http.problems import Busy

Given = ParamSpec("Given")
Result = TypeVar("Result")

AT_ONCE = 2 * (os.cpu_count() or 1)
WAITING = 256
"""requests in the queue, above which one is sent away"""


class Turns:
    """The threads in which requests are answered."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._threads = anyio.CapacityLimiter(at_once)
        self._waiting = waiting

    async def run(self, function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
        """What the function returns or raises, in a thread; raises Busy where too many wait already."""
        if self._threads.statistics().tasks_waiting >= self._waiting:
            raise Busy("too many requests at once; try again in a moment")
        call = functools.partial(function, *given, **named)
        return await to_thread.run_sync(call, limiter=self._threads, abandon_on_cancel=True)
