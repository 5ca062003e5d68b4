"""Work that is given up ends at its next step, in each of its threads."""

from __future__ import annotations

import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from relrag_pipelines.workers import cancellation
from relrag_pipelines.workers.cancellation import GivenUp, Work


def test_nothing_is_given_up_where_nobody_can() -> None:
    cancellation.check()
    with cancellation.stopped_by(lambda: pytest.fail("nobody stops it")):
        assert cancellation.current() is None


def test_work_ends_at_its_next_step() -> None:
    work = Work()
    with cancellation.doing(work):
        cancellation.check()
        work.give_up()
        with pytest.raises(GivenUp):
            cancellation.check()
        with pytest.raises(GivenUp), cancellation.stopped_by(lambda: None):
            pytest.fail("it is not begun")
    cancellation.check()


def test_threads_that_run_in_its_context_end_too() -> None:
    work = Work()
    with cancellation.doing(work), ThreadPoolExecutor(1) as threads:
        work.give_up()
        with pytest.raises(GivenUp):
            threads.submit(contextvars.copy_context().run, cancellation.check).result()
        threads.submit(cancellation.check).result()  # of nobody's


def test_a_query_that_runs_is_interrupted() -> None:
    work = Work()
    connection = duckdb.connect()
    threading.Timer(0.2, work.give_up).start()
    with (
        cancellation.doing(work),
        pytest.raises(GivenUp) as raised,
        cancellation.stopped_by(connection.interrupt),
    ):
        connection.execute("SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range % 7 = b.range % 11")
    assert isinstance(raised.value.__context__, duckdb.InterruptException)


def test_an_error_of_work_that_is_not_given_up_stays_what_it_is() -> None:
    with cancellation.doing(Work()), pytest.raises(ValueError, match="other"), cancellation.stopped_by(lambda: None):
        raise ValueError("other")
