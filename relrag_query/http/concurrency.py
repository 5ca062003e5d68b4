"""Runs the service's work in threads, with a limit on concurrent and on waiting requests."""

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

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

MAX_THREADS = 2 * (os.cpu_count() or 1)
MAX_QUEUE = 256
"""maximum number of waiting requests; further ones are refused"""


class RequestLimiter:
    """A pool of threads that answer requests. A thread is busy until its work ends."""

    def __init__(self, max_threads: int = MAX_THREADS, max_queue: int = MAX_QUEUE) -> None:
        self._threads = ThreadPoolExecutor(max_threads, "turn")
        self._max_requests, self._requests, self._lock = max_threads + max_queue, 0, threading.Lock()

    async def run(
        self, function: Callable[Parameters, Result], *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        """Runs the function in a thread and returns its result. Raises Busy if too many requests wait.

        Cancelled work that waits is not begun; cancelled work that runs is given up.
        """
        with self._lock:
            if self._requests >= self._max_requests:
                raise Busy("too many requests at once; try again in a moment", code="busy")
        return await self.go_on(function, *arguments, **options)

    async def go_on(
        self, function: Callable[Parameters, Result], *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        """As `run`, for the next turn of a request whose response has begun: it waits however many wait."""
        with self._lock:
            self._requests += 1
        work = cancellation.Work()
        with cancellation.doing(work):
            context = contextvars.copy_context()
        future = self._threads.submit(context.run, functools.partial(function, *arguments, **options))
        future.add_done_callback(self._count_end)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            work.give_up()
            raise

    def _count_end(self, _: Future[Result]) -> None:
        with self._lock:
            self._requests -= 1
