"""What a library does in its own process stops nothing else."""

from __future__ import annotations

import math
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.sources.document.document_text import DocumentError
from relrag_pipelines.workers import sandbox
from relrag_pipelines.workers.limits import Limits
from relrag_pipelines.workers.sandbox import ParserStopped, call
from tests import ROOT
from tests.processes import alive, wait

MEGABYTE = 2**20
LIMITS = Limits(3, 200 * MEGABYTE)
KEPT: list[bytearray] = []


@pytest.fixture(autouse=True)
def process() -> Iterator[None]:
    yield
    sandbox.stop()


def keep(megabytes: int) -> int:
    """Keeps memory, as a library that leaks; how many pieces are kept."""
    KEPT.append(bytearray(megabytes * MEGABYTE))
    return len(KEPT)


def encrypted() -> None:
    raise DocumentError("encrypted", "a password")


class Untold(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first}{second}")


def untold() -> None:
    raise Untold("text of", " the archive")


def spin() -> None:
    while True:
        pass


def test_what_a_function_returns_or_raises_comes_back() -> None:
    assert call(LIMITS, 0, math.sqrt, 4.0) == 2.0
    elsewhere = call(LIMITS, 0, os.getpid)
    assert elsewhere != os.getpid()
    with pytest.raises(ValueError, match="math domain error"):
        call(LIMITS, 0, math.sqrt, -1.0)
    with pytest.raises(DocumentError, match="a password") as raised:
        call(LIMITS, 0, encrypted)
    assert raised.value.fault == "encrypted"
    with pytest.raises(RuntimeError, match="failed with Untold") as named:
        call(LIMITS, 0, untold)
    assert "archive" not in str(named.value)
    assert call(LIMITS, 0, os.getpid) == elsewhere, "one process for all of them"


@pytest.mark.parametrize(
    ("function", "given", "fault", "told"),
    [
        (spin, (), sandbox.TIME, "did not end within 3 s; exclude it, or raise parser_max_seconds"),
        (time.sleep, (60,), sandbox.TIME, "did not end within 3 s"),
        (bytes, (10**10,), sandbox.MEMORY, "needed more than 209,715,200 bytes of memory"),
        (os.abort, (), sandbox.CRASH, "crashed (SIGABRT): it is damaged, or needed more than 209,715,200 bytes"),
        (signal.raise_signal, (signal.SIGSEGV,), sandbox.CRASH, "crashed (SIGSEGV)"),
        (signal.raise_signal, (signal.SIGKILL,), sandbox.MEMORY, "needed more than"),  # how Linux ends the largest
    ],
    ids=["spins", "sleeps", "takes memory", "aborts", "faults", "is killed"],
)
def test_what_does_not_return_is_named_and_the_next_call_is_as_good(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], given: tuple[Any, ...], fault: str, told: str
) -> None:
    monkeypatch.setattr(sandbox, "_WALL_RATIO", 3)
    with pytest.raises(ParserStopped) as stopped:
        call(LIMITS, 0, function, *given)
    assert (stopped.value.fault, told in str(stopped.value)) == (fault, True)
    assert call(LIMITS, 0, math.sqrt, 4.0) == 2.0


@pytest.mark.slow
def test_a_large_input_may_take_longer() -> None:
    with pytest.raises(ParserStopped, match="within 3 s"):
        call(Limits(1), 40 * MEGABYTE, spin)


@pytest.mark.skipif(sys.platform != "linux", reason="limits are kept at once on Linux only")
def test_what_an_earlier_call_left_is_not_the_fault_of_the_next() -> None:
    assert [call(LIMITS, 0, keep, 150), call(LIMITS, 0, keep, 150)] == [1, 1], "the second was asked anew"
    with pytest.raises(ParserStopped):
        call(LIMITS, 0, keep, 250)


def test_no_core_dump_is_written_and_ctrl_c_is_for_the_one_that_asks() -> None:
    assert call(LIMITS, 0, resource.getrlimit, resource.RLIMIT_CORE)[0] == 0
    assert call(LIMITS, 0, signal.getsignal, signal.SIGINT) == signal.SIG_IGN


def test_an_interrupted_call_leaves_no_answer_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    call(LIMITS, 0, math.sqrt, 4.0)

    def interrupted(*_: Any) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("multiprocessing.connection.Connection.poll", interrupted)
        call(LIMITS, 0, math.sqrt, 9.0)
    assert call(LIMITS, 0, math.sqrt, 16.0) == 4.0


def test_threads_take_turns() -> None:
    found: list[float] = []
    threads = [threading.Thread(target=lambda n=n: found.append(call(LIMITS, 0, math.sqrt, n * n))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [float(number) for number in range(8)]


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_it_ends_when_the_process_that_asks_is_killed(tmp_path: Path, busy: bool) -> None:
    script = (
        "import os, signal, threading, time\n"
        "from relrag_pipelines.workers.limits import Limits\n"
        "from relrag_pipelines.workers.sandbox import call\n"
        "print(call(Limits(), 0, os.getpid), flush=True)\n"
        f"threading.Thread(target=call, args=(Limits(), 0, time.sleep, {60 if busy else 0}), daemon=True).start()\n"
        "time.sleep(0.5)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with (tmp_path / "said").open("wb") as said:
        subprocess.run([sys.executable, "-c", script], stdout=said, check=False, cwd=ROOT)
    process = int((tmp_path / "said").read_text())
    wait("it ended", lambda: not alive(process), 120)
