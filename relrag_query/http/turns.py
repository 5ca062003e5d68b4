"""Work for the service in threads: so many at once, so many that wait, and no more."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from relrag_pipelines.workers import cancellation
from relrag_query.http.problems import Busy

Given = ParamSpec("Given")
Result = TypeVar("Result")

AT_ONCE = 2 * (os.cpu_count() or 1)
WAITING = 256
"""requests in the queue, above which one is sent away"""


class Turns:
    """The threads in which requests are answered. Each is taken until its work ends."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._threads = ThreadPoolExecutor(at_once, "turn")
        self._most, self._asked, self._lock = at_once + waiting, 0, threading.Lock()

    async def run(self, function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
        """What the function returns or raises, in a thread; raises Busy where too many wait already.

        Work that is cancelled while it waits is not begun; work that has begun is given up.
        """
        with self._lock:
            if self._asked >= self._most:
                raise Busy("too many requests at once; try again in a moment")
            self._asked += 1
        work = cancellation.Work()
        with cancellation.doing(work):
            context = contextvars.copy_context()
        future = self._threads.submit(context.run, functools.partial(function, *given, **named))
        future.add_done_callback(self._ended)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            work.give_up()
            raise

    def _ended(self, _: Future[Result]) -> None:
        with self._lock:
            self._asked -= 1
