"""An archive that threads share: each gets the answers that it would get alone, and `close` disturbs nobody."""

import fcntl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

from relrag_query.archive import Archive, ArchiveError
from relrag_query.retrieval.connection_sharing import Readers
from tests.query_hits import publish, record

TOPICS = ("boiler", "greenhouse", "invoice", "lease", "orchard", "piano", "roof", "school")
QUESTIONS = [question for topic in TOPICS for question in (f"Who paid for the {topic}?", f"the {topic} in May 2024")]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mail: dict[str, Any] = {"rag_source_type": "email", "source": "mail"}
    records = [
        record(
            f"gmail:{topic}{number}",
            f"Dana paid {number + 1}00 for the {topic}. The {topic} is number {number}, ask Petr about the rest.",
            f"2024-0{number + 1}-15T08:00:00Z",
            from_="Dana Levi <dana@example.org>",
            subject=f"About the {topic}",
            thread_id=topic,
            **mail,
        )
        for topic in TOPICS
        for number in range(6)
    ]
    return publish(tmp_path_factory.mktemp("threads"), records)


@pytest.fixture
def archive(config: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Archive]:
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)  # the trace tells how long each step took
    with Archive.open(config) as opened:
        yield opened


@pytest.fixture
def changing_often() -> Iterator[None]:
    """Threads take turns so often that two are seldom at different places."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(usual)


def all_of(archive: Archive, question: str) -> tuple[Any, ...]:
    topic = question.removesuffix(" in May 2024").split()[-1].rstrip("?")
    ref = f"gmail:{topic}3"
    found = archive.search(question), archive.ask(question)
    return *found, archive.record(ref), archive.chunks_of(ref), archive.thread(topic), archive.neighbors(ref)


@pytest.mark.slow
@pytest.mark.usefixtures("changing_often")
def test_sixteen_threads_get_what_each_would_get_alone(archive: Archive, config: Path) -> None:
    alone = {question: all_of(archive, question) for question in QUESTIONS}
    assert alone[QUESTIONS[0]][1].text.startswith("Dana paid")
    with Archive.open(config) as shared, ThreadPoolExecutor(16) as threads:
        together = threading.Barrier(16, timeout=60)

        def turn(first: int) -> dict[str, tuple[Any, ...]]:
            together.wait()
            return {question: all_of(shared, question) for question in (QUESTIONS + QUESTIONS)[first : first + 2]}

        found = list(threads.map(turn, range(16)))
    assert [len(one) for one in found] == [2] * 16
    assert [question for one in found for question, got in one.items() if got != alone[question]] == []


def is_held(archive: Archive) -> bool:
    """Whether some reader holds the generation, so that it cannot be removed."""
    with (archive.generation.path / "lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_who_is_asking_when_it_is_closed_gets_the_answer_and_nobody_else_does(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = archive.ask(QUESTIONS[0])
    begun, go_on, search = threading.Event(), threading.Event(), archive._vectors.search

    def slow(*args: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return search(*args)

    monkeypatch.setattr(archive._vectors, "search", slow)
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(archive.ask, QUESTIONS[0])
        assert begun.wait(60)
        archive.close()
        archive.close()
        assert is_held(archive)
        refused: list[Callable[[], Any]] = [
            lambda: archive.ask(QUESTIONS[1]),
            lambda: archive.search(QUESTIONS[1]),
            lambda: archive.record("gmail:roof1"),
            lambda: archive.thread("roof"),
        ]
        for call in refused:
            with pytest.raises(ArchiveError, match=r"^the archive was closed; open it again$"):
                call()
        go_on.set()
        assert asked.result(60) == alone
    assert not is_held(archive)


class Counted:
    """A connection that counts the cursors it gave."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.given = 0

    def cursor(self) -> duckdb.DuckDBPyConnection:
        self.given += 1
        return self.connection.cursor()


def test_there_are_as_many_cursors_as_threads_that_read_at_once() -> None:
    counted, ended = Counted(), []
    readers = Readers(counted, lambda: ended.append(True))  # type: ignore[arg-type]

    def read() -> None:
        with readers.cursor() as cursor:
            assert cursor.execute("SELECT 7").fetchone() == (7,)

    for _ in range(20):  # each a thread of its own, as in a server that has one for each request
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    assert counted.given == 1
    with readers.cursor() as one, readers.cursor() as two:
        assert one is not two
    assert counted.given == 2
    readers.close()
    assert ended == [True]


def test_a_cursor_that_was_left_in_the_middle_is_not_used_again() -> None:
    counted = Counted()
    readers = Readers(counted, lambda: None)  # type: ignore[arg-type]
    with pytest.raises(KeyError), readers.cursor() as left:
        left.execute("FROM range(10_000)")
        raise KeyError
    with pytest.raises(duckdb.ConnectionException):
        left.execute("SELECT 7")
    with readers.cursor() as cursor:
        assert cursor.execute("SELECT 7").fetchall() == [(7,)]
    assert counted.given == 2
