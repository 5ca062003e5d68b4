"""Worker processes on this machine for long computations.

Results are sent back; only the process with the writer's lock writes the lake and publishes. A source may write rows
and bytes under private/ (spill, raw, transcripts) in any process: atomically and under unique names. The next sync
removes or replaces leftovers of a kill.

The system may end a worker, mostly when memory runs out. A new process then repeats the worker's item; the main process
does not, because its end would end the whole sync.
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

_QUEUED_PER_PROCESS = 3
"""running and waiting items per process"""
_PR_SET_PDEATHSIG = 1
"""option of Linux's prctl(2): the signal that a process gets when its parent ends"""


class Pool(NamedTuple):
    """Worker processes that wait for work."""

    executors: list[Executor]
    """each with one process, so that a job can be given to the process with its state"""
    modules: Sequence[str]
    """modules that each process imports"""


ENDED_TWICE = "the system ended two processes that worked on it, as it does where memory runs out"
MAKE_ROOM = "close other programs, then run `relrag sync` again"


class WorkerKilled(SafeError):
    """The system ended two processes in succession that worked on the same item; the message says what to do."""


class _WorkerEnded(Exception):
    """The process of an item has ended; `submitted` is False if it ended before it got the item."""

    def __init__(self, executor: Executor, submitted: bool) -> None:
        super().__init__()
        self.executor, self.submitted = executor, submitted


def start_pool(processes: int | None = None, modules: Sequence[str] = ()) -> Pool | None:
    """Starts a pool of worker processes, by default one fewer than processors; None if that is fewer than one.

    They start at once and import the modules in advance. On Linux they end with the thread that calls this.
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
    """Yields one process of a pool, for a job with state, and the pool of the others.

    The process ends afterwards, because libraries do not free all of their memory; the pool then has one fewer. If the
    system ends it, the job raises concurrent.futures.BrokenExecutor, and the pool gets a new process for a retry.
    """
    if pool is None or not pool.executors:
        yield None, None
        return
    executor = pool.executors.pop(0)
    try:
        yield executor, pool
    except BrokenExecutor:
        pool.executors.insert(0, _process(pool.modules))
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def map_batches(
    pool: Pool | None,
    function: Callable[[Item], Result],
    items: Iterable[Item],
    given_up: Callable[[Item], Result] | None = None,
) -> Iterator[Result]:
    """Yields the function's result for every item, in order; without a pool, this process computes them all.

    While it waits for the next result, this process computes others; it also computes a single item. Function, items
    and results are pickled, so the function must be defined in a module.
    If the system ends two processes that work on an item, its result is that of `given_up`, called in this process;
    without `given_up`, WorkerKilled is raised.
    """
    items = iter(items)
    first = list(itertools.islice(items, 2))
    if pool is None or not pool.executors or len(first) < 2:
        yield from map(function, itertools.chain(first, items))
        return
    # this process computes the first item, so that nothing waits for another process to start
    queue: deque[tuple[Item, Future[Result]]] = deque([(first[0], Future())])
    # a thread per process: items that no thread has started can be cancelled, items in an executor's queue cannot
    free: SimpleQueue[int] = SimpleQueue()
    for index in range(len(pool.executors)):
        free.put(index)
    with ThreadPoolExecutor(len(pool.executors)) as threads:
        for item in itertools.chain(first[1:], items):
            queue.append((item, threads.submit(_submit, pool, free, function, item)))
            if len(queue) > _QUEUED_PER_PROCESS * len(pool.executors):
                yield _next_result(pool, function, queue, given_up)
        while queue:
            yield _next_result(pool, function, queue, given_up)


def _submit(pool: Pool, free: SimpleQueue[int], function: Callable[[Item], Result], item: Item) -> Result:
    index, submitted = free.get(), False
    executor = pool.executors[index]
    try:
        future = executor.submit(function, item)
        submitted = True
        return future.result()
    except BrokenExecutor:
        raise _WorkerEnded(executor, submitted) from None
    finally:
        free.put(index)


def _next_result(
    pool: Pool,
    function: Callable[[Item], Result],
    queue: deque[tuple[Item, Future[Result]]],
    given_up: Callable[[Item], Result] | None,
) -> Result:
    while not queue[0][1].done():
        for index, (item, future) in enumerate(queue):
            if future.cancel():
                queue[index] = item, _completed_future(function(item))
                break
        else:
            wait([queue[0][1]])
    item, future = queue.popleft()
    try:
        return future.result()
    except _WorkerEnded as ended:
        # the fresh one begins here, as it ends with the thread that begins it, and those of `each` do not last
        if ended.executor in pool.executors:
            pool.executors[pool.executors.index(ended.executor)] = _process(pool.modules)
        return _retry(pool, function, item, given_up) if ended.submitted else function(item)


def _retry(
    pool: Pool, function: Callable[[Item], Result], item: Item, given_up: Callable[[Item], Result] | None
) -> Result:
    """The result for an item that may have ended a process, computed in a new process of its own."""
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
    """Makes garbage collection rare, and excludes all present objects.

    Rows come in large batches without cycles, and imported modules stay: collections free nothing, and take a quarter
    of the time of reading a chat.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def silence() -> None:
    """From now on this process prints nothing, and what it creates is for its owner only.

    The output of libraries could contain private text; errors are sent to whoever gave the work.
    """
    access.owner_only()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def _begin() -> None:
    """Initialises a worker: it ends with its parent, even if that is killed, and prints nothing."""
    silence()
    with suppress(OSError):  # if memory runs out, the system should end this process before its parent
        Path("/proc/self/oom_score_adj").write_text("500")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent; workers end with it
    Thread(target=_end_with_parent, daemon=True).start()
    if sys.platform == "linux":
        # also while a library holds the interpreter lock, which the thread needs: a worker that goes on writing
        # vectors after the writer has ended would write into those of the next sync
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    atexit.register(os._exit, 0)  # unloading all modules takes longer than most work


def _end_with_parent() -> None:
    parent = parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _import(modules: Sequence[str]) -> None:
    for module in modules:
        importlib.import_module(module)
    reduce_gc()
