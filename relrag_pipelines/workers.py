"""Further processes of this machine, which take part where much is to be computed. They read and compute; only the
process that holds the writer's lock writes, so a kill leaves nothing half written by one of them.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 3
"""items that are begun or wait, for each process"""


def start(processes: int | None = None) -> Executor | None:
    """A pool of so many processes beside this one, by default one less than there are processors; none is no pool.

    They begin at once, so that what they import is there when it is needed.
    """
    count = (os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count() or 1) - 1
    count = count if processes is None else processes
    if count < 1:
        return None
    # spawned, not forked: DuckDB, Arrow and Dagster have threads, which a fork would leave without their locks
    pool = ProcessPoolExecutor(count, get_context("spawn"), initializer=_begin)
    for _ in range(count):
        pool.submit(_import)
    return pool


def each(
    pool: Executor | None, function: Callable[[Item], Result], items: Iterable[Item], processes: int = 1
) -> Iterator[Result]:
    """The function's result for every item, in order; without a pool they are made one by one.

    While the next result is not there this process makes a later one itself. Function, items and results travel
    between processes, so the function stands in a module and the rest can be pickled.
    """
    if pool is None:
        yield from map(function, items)
        return
    ahead: deque[tuple[Item, Future[Result]]] = deque()
    # a thread for each process: what no thread has begun can be taken back, what a pool has queued for itself cannot
    with ThreadPoolExecutor(processes) as threads:
        for item in items:
            ahead.append((item, threads.submit(_elsewhere, pool, function, item)))
            if len(ahead) > _AHEAD * processes:
                yield _first(function, ahead)
        while ahead:
            yield _first(function, ahead)


def _elsewhere(pool: Executor, function: Callable[[Item], Result], item: Item) -> Result:
    return pool.submit(function, item).result()


def _first(function: Callable[[Item], Result], ahead: deque[tuple[Item, Future[Result]]]) -> Result:
    while not ahead[0][1].done():
        for place in reversed(range(len(ahead))):
            item, future = ahead[place]
            if future.cancel():
                ahead[place] = item, _settled(function(item))
                break
        else:
            wait([ahead[0][1]])
    return ahead.popleft()[1].result()


def _settled(result: Result) -> Future[Result]:
    future: Future[Result] = Future()
    future.set_result(result)
    return future


def _begin() -> None:
    """In a worker: ends with the process that it works for, also when that one is killed, and says nothing.

    What a library prints could be text of the archive; an error travels to the process that asked.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _import() -> None:
    from relrag_pipelines import stages

    assert stages.STAGES
