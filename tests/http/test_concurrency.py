"""How many requests are answered at once."""

import threading

import anyio
import pytest

from relrag_query.http.concurrency import RequestLimiter
from relrag_query.http.problems import Busy


def test_work_that_nobody_waits_for_keeps_its_thread_until_it_ends() -> None:
    limiter, ended, begun = RequestLimiter(1, 1), threading.Event(), []

    def work(number: int) -> int:
        begun.append(number)
        ended.wait(10)
        return number

    async def ask() -> None:
        for number in (1, 2):  # the second waits for the first, and is given up before its turn
            with anyio.move_on_after(0.1):
                await limiter.run(work, number)
        assert begun == [1]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(limiter.run, work, 3)
            await anyio.sleep(0.05)
            with pytest.raises(Busy):
                await limiter.run(work, 4)
            ended.set()
        assert begun == [1, 3]
        assert await limiter.run(work, 5) == 5

    anyio.run(ask)


def test_a_response_that_has_begun_goes_on_however_many_wait() -> None:
    limiter, ended = RequestLimiter(1, 1), threading.Event()

    async def ask() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(limiter.run, ended.wait, 10)
            await anyio.sleep(0.05)
            with pytest.raises(Busy):
                await limiter.run(int)
            tasks.start_soon(limiter.go_on, ended.wait, 10)
            await anyio.sleep(0.05)
            ended.set()
            assert await limiter.go_on(int, "7") == 7
        assert await limiter.run(int, "8") == 8

    anyio.run(ask)
