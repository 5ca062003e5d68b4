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

from relrag_query.http.problems import Busy

Given = ParamSpec("Given")
Result = TypeVar("Result")

AT_ONCE = 2 * (os.cpu_count() or 1)
WAITING = 256
"""requests in the queue, above which one is sent away"""


class Turns:
    """The threads in which requests are answered. Each is taken until its work ends, though nobody waits for it."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._threads = ThreadPoolExecutor(at_once, "turn")
        self._most, self._asked, self._lock = at_once + waiting, 0, threading.Lock()

    async def run(self, function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
        """What the function returns or raises, in a thread; raises Busy where too many wait already.

        Work that is cancelled while it waits is not begun.
        """
        with self._lock:
            if self._asked >= self._most:
                raise Busy("too many requests at once; try again in a moment")
            self._asked += 1
        call = functools.partial(function, *given, **named)
        future = self._threads.submit(contextvars.copy_context().run, call)
        future.add_done_callback(self._ended)
        return await asyncio.wrap_future(future)

    def _ended(self, _: Future[Result]) -> None:
        with self._lock:
            self._asked -= 1
