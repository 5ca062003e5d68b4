"""Work shared with other processes: the same results in the same order, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.ingest import unit_records
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.stages import month_stages
from relrag_pipelines.workers import pool as workers
from relrag_pipelines.workers.pool import Pool
from tests import archive
from tests.processes import alive, wait


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    started = workers.start_pool(2)
    assert started
    yield started
    workers.stop_pool(started)


def square(number: int) -> tuple[int, int]:
    # the first result is awaited while later ones are made here
    time.sleep(0.3 if number == 0 else 0.02)
    return number * number, os.getpid()


def test_results_come_in_order_and_every_process_takes_part(pool: Pool) -> None:
    found = list(workers.map_batches(pool, square, range(20)))
    assert [number for number, _ in found] == [number * number for number in range(20)]
    assert len({process for _, process in found}) == 3


def test_one_process_is_set_aside_and_ends_afterwards() -> None:
    pool = workers.start_pool(1)
    assert pool
    with workers.dedicated_worker(pool) as (one, others):
        assert one and others == Pool([], ())
        process = one.submit(os.getpid).result()
        assert {where for _, where in workers.map_batches(others, square, range(1, 4))} == {os.getpid()}
    assert not alive(process)
    with workers.dedicated_worker(pool) as (one, others):
        assert (one, others) == (None, None)


def test_without_a_pool_they_are_made_here() -> None:
    assert list(workers.map_batches(None, square, [3])) == [(9, os.getpid())]
    assert workers.start_pool(0) is None


def fail(number: int) -> int:
    return 1 // number


def test_a_failure_elsewhere_is_one_here(pool: Pool) -> None:
    with pytest.raises(ZeroDivisionError):
        list(workers.map_batches(pool, fail, [0, 0, 0]))


def deadly(item: tuple[int, Path, int]) -> tuple[int, int]:
    """The number and the process; before that, the second and later items end other processes so many times."""
    number, folder, deaths = item
    begun = folder / str(number)
    if number == 0:  # is made here, and waits until another process has begun with the second
        while not (folder / "1").exists():
            time.sleep(0.02)
    elif os.getpid() != int((folder / "parent").read_text()):
        times = len(begun.read_bytes()) if begun.exists() else 0
        begun.write_bytes(b"." * (times + 1))
        if times < deaths:
            os.kill(os.getpid(), signal.SIGKILL)
    return number, os.getpid()


def items(folder: Path, deaths: int) -> list[tuple[int, Path, int]]:
    (folder / "parent").write_text(str(os.getpid()))
    return [(number, folder, deaths if number == 1 else 0) for number in range(12)]


def test_what_a_killed_process_was_doing_is_done_again_by_a_fresh_one(pool: Pool, tmp_path: Path) -> None:
    found = list(workers.map_batches(pool, deadly, items(tmp_path, 1)))
    assert [number for number, _ in found] == list(range(12))
    assert found[1][1] != os.getpid(), "it might end this process as well"
    assert (tmp_path / "1").read_bytes() == b"..", "begun twice"
    assert len({executor.submit(os.getpid).result() for executor in pool.executors}) == 2, "the pool is whole again"


@pytest.mark.slow
def test_what_ends_two_processes_is_given_up_and_named(pool: Pool, tmp_path: Path) -> None:
    found = list(workers.map_batches(pool, deadly, items(tmp_path, 9), lambda item: (-item[0], 0)))
    assert [number for number, _ in found] == [0, -1, *range(2, 12)]
    assert (tmp_path / "1").read_bytes() == b".."
    (tmp_path / "1").unlink()
    with pytest.raises(
        workers.WorkerKilled, match="ended two processes that worked on it, as it does where memory runs out"
    ):
        list(workers.map_batches(pool, deadly, items(tmp_path, 9)))


def test_one_that_is_killed_while_set_aside_is_replaced_for_another_try() -> None:
    pool = workers.start_pool(1)
    assert pool
    with pytest.raises(BrokenExecutor), workers.dedicated_worker(pool) as (one, _):
        assert one
        one.submit(signal.raise_signal, signal.SIGKILL).result()
    with workers.dedicated_worker(pool) as (one, _):
        assert one
        assert one.submit(os.getpid).result() != os.getpid()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which process is to go first")
def test_where_memory_runs_out_these_go_before_the_one_that_asks(pool: Pool) -> None:
    score = Path("/proc/self/oom_score_adj")
    assert pool.executors[0].submit(score.read_text).result() == "500\n"
    assert int(score.read_text()) < 500


class Deadly(Executor):
    """One that does all it is asked to, but ends over what is of one path or month."""

    def __init__(self, what: str) -> None:
        self.what, self.met = what, threading.Event()

    def submit(self, function: Callable[..., Any], /, *given: Any, **_: Any) -> Future[Any]:
        done: Future[Any] = Future()
        item = given[0] if isinstance(given[0], str) else given[0][0].path
        if item == self.what:
            done.set_exception(BrokenExecutor())
            self.met.set()
        else:
            done.set_result(function(*given))
        return done

    def waited_for(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which waits in this thread until the deadly item has been met."""

        def waits(*given: Any) -> Any:
            if threading.current_thread() is threading.main_thread():
                self.met.wait(60)
            return function(*given)

        return waits


def test_a_file_that_ends_two_processes_is_a_failure_and_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, deadly = archive.make(tmp_path), Deadly("b.md")
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / "papers" / name).write_text(f"# {name}\n\nThe orangery may not be heated.\n")
    monkeypatch.setattr(workers, "_process", lambda _: deadly)
    monkeypatch.setattr(unit_records, "read_unit", deadly.waited_for(unit_records.read_unit))
    workspace = replace(archive.workspace(config), pool=Pool([deadly], ()))
    papers = workspace.settings.source("papers")
    done = ingest(workspace, papers)
    assert [(one.unit, one.fault, one.whole_unit) for one in done.failures] == [("b.md", "killed", True)]
    assert done.failures[0].message == (
        "the system ended two processes that worked on it, as it does where memory runs out; "
        "close other programs or exclude it, then run `relrag sync --full`"
    )
    assert (done.units_read, sum(done.months.values())) == (4, 3)
    assert ingest(workspace, papers).units_read == 0
    again = ingest(archive.workspace(config), papers, full=True)
    assert (again.failures, sum(again.months.values())) == ([], 4)


def test_a_month_that_ends_two_processes_is_named_and_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, deadly = archive.make(tmp_path), Deadly("2024-01")
    workspace = replace(archive.workspace(config), pool=Pool([deadly], ()))
    chat, stage = workspace.settings.source("chat"), month_stages.STAGES[0]
    ingest(workspace, chat)
    monkeypatch.setattr(workers, "_process", lambda _: deadly)
    monkeypatch.setattr(month_stages, "_make", deadly.waited_for(month_stages._make))
    months = ["2023-12", "2024-01", "2024-02"]

    @seal_errors
    def asset() -> None:
        month_stages.run(workspace, chat, stage, months)

    with pytest.raises(dg.Failure) as failure:
        asset()
    assert failure.value.description == (
        "chat: redacted of 2024-01: the system ended two processes that worked on it, as it does where memory runs "
        "out; close other programs, then run `relrag sync` again"
    )


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
        "from relrag_pipelines.workers import pool as workers\n"
        "if __name__ == '__main__':\n"
        "    pool = workers.start_pool(1)\n"
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
