"""Work shared with other processes: the same results in the same order, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines import workers
from relrag_pipelines.workers import Pool
from tests.processes import alive, wait


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    started = workers.start(2)
    assert started
    yield started
    workers.stop(started)


def square(number: int) -> tuple[int, int]:
    # the first result is awaited while later ones are made here
    time.sleep(0.3 if number == 0 else 0.02)
    return number * number, os.getpid()


def test_results_come_in_order_and_every_process_takes_part(pool: Pool) -> None:
    found = list(workers.each(pool, square, range(20)))
    assert [number for number, _ in found] == [number * number for number in range(20)]
    assert len({process for _, process in found}) == 3


def test_one_process_is_set_aside_and_ends_afterwards() -> None:
    pool = workers.start(1)
    assert pool
    with workers.aside(pool) as (one, others):
        assert one and others == Pool([])
        process = one.submit(os.getpid).result()
        assert {where for _, where in workers.each(others, square, range(1, 4))} == {os.getpid()}
    assert not alive(process)
    with workers.aside(pool) as (one, others):
        assert (one, others) == (None, None)


def test_without_a_pool_they_are_made_here() -> None:
    assert list(workers.each(None, square, [3])) == [(9, os.getpid())]
    assert workers.start(0) is None


def fail(number: int) -> int:
    return 1 // number


def test_a_failure_elsewhere_is_one_here(pool: Pool) -> None:
    with pytest.raises(ZeroDivisionError):
        list(workers.each(pool, fail, [0, 0, 0]))


LIBRARIES = "__import__('ctypes').PyDLL(None).sleep(30)"
"""keeps Python's lock, as Qdrant's engine does"""


@pytest.mark.parametrize(
    "work",
    [
        "0",
        pytest.param(LIBRARIES, marks=pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends it at once")),
    ],
    ids=["idle", "within a library"],
)
def test_workers_end_when_their_process_is_killed(tmp_path: Path, work: str) -> None:
    script = tmp_path / "killed.py"
    script.write_text(
        "import os, signal, time\n"
        "from relrag_pipelines import workers\n"
        "if __name__ == '__main__':\n"
        "    pool = workers.start(1)\n"
        "    print(pool.executors[0].submit(os.getpid).result(), flush=True)\n"
        f"    pool.executors[0].submit(eval, {work!r})\n"
        "    time.sleep(0.5)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    # no pipe: its end would be waited for, and a process that multiprocessing starts keeps that as long as a worker is
    with (tmp_path / "said").open("wb") as said:
        done = subprocess.run([sys.executable, script], stdout=said, stderr=subprocess.DEVNULL, check=False)
    assert done.returncode == -signal.SIGKILL
    process = int((tmp_path / "said").read_text())
    wait("it ended", lambda: not alive(process), 120)
