"""Further processes of this machine, which take part where much is to be computed.

What they make travels back; only the process that holds the writer's lock writes the lake and publishes. A connector
may put rows and bytes aside under private/ (spill, raw, transcripts) wherever it runs: under names of their own, whole
or not at all, and what a kill leaves of them the next sync sweeps or replaces.

The system may end one of them, mostly where memory runs out. What that one was doing is then done once more, by a fresh
process and not by this one, which would take the whole sync with it.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import itertools
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple, TypeVar

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files import access

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 3
"""items that are begun or wait, for each process"""
_PR_SET_PDEATHSIG = 1
"""of Linux's prctl(2): the signal that a process gets when the one that started it ends"""


class Pool(NamedTuple):
    """Processes that wait for work."""

    executors: list[Executor]
    """of one process each, so that a job can be given to the one that holds what it needs"""
    modules: Sequence[str]
    """imported by each"""


ENDED_TWICE = "the system ended two processes that worked on it, as it does where memory runs out"
MAKE_ROOM = "close other programs, then run `relrag sync` again"


class WorkerKilled(SafeError):
    """The system ended two processes, one after the other, over the same item; the message says what to do."""


class _WorkerEnded(Exception):
    """The process that an item was given to is gone; whether it was given to it before or after it ended."""

    def __init__(self, executor: Executor, begun: bool) -> None:
        super().__init__()
        self.executor, self.begun = executor, begun


def start_pool(processes: int | None = None, modules: Sequence[str] = ()) -> Pool | None:
    """A pool of so many processes beside this one, by default one less than there are processors; none is no pool.

    They begin at once, and import those modules, so that these are there when they are needed. On Linux they end with
    the thread that calls this.
    """
    count = (os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count() or 1) - 1
    count = count if processes is None else processes
    if count < 1:
        return None
    return Pool([_process(modules) for _ in range(count)], modules)


def _process(modules: Sequence[str]) -> Executor:
    # spawned, not forked: DuckDB, Arrow and Dagster have threads, which a fork would leave without their locks
    executor = ProcessPoolExecutor(1, get_context("spawn"), initializer=_begin)
    executor.submit(_import, modules)
    return executor


def stop_pool(pool: Pool | None) -> None:
    """Ends the processes of a pool."""
    for executor in pool.executors if pool else ():
        executor.shutdown(cancel_futures=True)


@contextmanager
def dedicated_worker(pool: Pool | None) -> Iterator[tuple[Executor | None, Pool | None]]:
    """One process of a pool, for a job that keeps its state there, and the others.

    It ends afterwards, since no library gives all of its memory back; the pool is smaller by one from then on. Where
    the system ends it, the job raises concurrent.futures.BrokenExecutor, and the pool has a fresh one for another try.
    """
    if pool is None or not pool.executors:
        yield None, None
        return
    one = pool.executors.pop(0)
    try:
        yield one, pool
    except BrokenExecutor:
        pool.executors.insert(0, _process(pool.modules))
        raise
    finally:
        one.shutdown(cancel_futures=True)


def map_batches(
    pool: Pool | None,
    function: Callable[[Item], Result],
    items: Iterable[Item],
    given_up: Callable[[Item], Result] | None = None,
) -> Iterator[Result]:
    """The function's result for every item, in order; without a pool they are made one by one.

    While the next result is not there this process makes one itself; a single item does not travel. Function,
    items and results travel between processes, so the function stands in a module and the rest can be pickled.
    Of an item over which the system ends two processes the result is what `given_up` returns, here; without that,
    Killed is raised.
    """
    items = iter(items)
    first = list(itertools.islice(items, 2))
    if pool is None or not pool.executors or len(first) < 2:
        yield from map(function, itertools.chain(first, items))
        return
    # the first is made here, so that nothing waits until another process has begun
    ahead: deque[tuple[Item, Future[Result]]] = deque([(first[0], Future())])
    # a thread for each process: what no thread has begun can be taken back, what a pool has queued for itself cannot
    free: SimpleQueue[int] = SimpleQueue()
    for place in range(len(pool.executors)):
        free.put(place)
    with ThreadPoolExecutor(len(pool.executors)) as threads:
        for item in itertools.chain(first[1:], items):
            ahead.append((item, threads.submit(_submit, pool, free, function, item)))
            if len(ahead) > _AHEAD * len(pool.executors):
                yield _next_result(pool, function, ahead, given_up)
        while ahead:
            yield _next_result(pool, function, ahead, given_up)


def _submit(pool: Pool, free: SimpleQueue[int], function: Callable[[Item], Result], item: Item) -> Result:
    place, begun = free.get(), False
    executor = pool.executors[place]
    try:
        asked = executor.submit(function, item)
        begun = True
        return asked.result()
    except BrokenExecutor:
        raise _WorkerEnded(executor, begun) from None
    finally:
        free.put(place)


def _next_result(
    pool: Pool,
    function: Callable[[Item], Result],
    ahead: deque[tuple[Item, Future[Result]]],
    given_up: Callable[[Item], Result] | None,
) -> Result:
    while not ahead[0][1].done():
        for place, (item, future) in enumerate(ahead):
            if future.cancel():
                ahead[place] = item, _completed_future(function(item))
                break
        else:
            wait([ahead[0][1]])
    item, future = ahead.popleft()
    try:
        return future.result()
    except _WorkerEnded as ended:
        # the fresh one begins here, as it ends with the thread that begins it, and those of `each` do not last
        if ended.executor in pool.executors:
            pool.executors[pool.executors.index(ended.executor)] = _process(pool.modules)
        return _retry(pool, function, item, given_up) if ended.begun else function(item)


def _retry(
    pool: Pool, function: Callable[[Item], Result], item: Item, given_up: Callable[[Item], Result] | None
) -> Result:
    """The result for an item that may have ended a process, from one that does nothing else."""
    alone = _process(pool.modules)
    try:
        return alone.submit(function, item).result()
    except BrokenExecutor:
        if given_up is None:
            raise WorkerKilled(f"{ENDED_TWICE}; {MAKE_ROOM}") from None
        return given_up(item)
    finally:
        alone.shutdown()


def _completed_future(result: Result) -> Future[Result]:
    future: Future[Result] = Future()
    future.set_result(result)
    return future


def reduce_gc() -> None:
    """Lets Python look for garbage seldom, and never among what is there now.

    Rows come in large batches without cycles, and what has been imported stays: looking for garbage finds none, and
    takes a quarter of the time of reading a chat.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def _begin() -> None:
    """In a worker: ends with the process that it works for, also when that one is killed, and says nothing.

    What a library prints could be text of the archive; an error travels to the process that asked.
    """
    access.owner_only()
    with suppress(OSError):  # where memory runs out, this one is to go before the one that asks
        Path("/proc/self/oom_score_adj").write_text("500")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asked; these end with it
    Thread(target=_end_with_parent, daemon=True).start()
    if sys.platform == "linux":
        # also while a library keeps Python's lock, which the thread needs: what goes on writing vectors when the
        # writer is gone would write into those of the next sync
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    atexit.register(os._exit, 0)  # taking apart all that was imported takes longer than most work


def _end_with_parent() -> None:
    parent = parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _import(modules: Sequence[str]) -> None:
    for module in modules:
        importlib.import_module(module)
    reduce_gc()
