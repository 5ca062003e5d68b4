"""One writer at a time."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from relrag_pipelines.stores import lock

HOLD = """
import sys, time
from pathlib import Path
from relrag_pipelines.stores import lock
with lock.writing(Path(sys.argv[1]), "a long sync"):
    print("held", flush=True)
    time.sleep(60)
"""


FORK = """
import os, signal, sys, time
from pathlib import Path
from relrag_pipelines.stores import lock
with lock.writing(Path(sys.argv[1]), "a long sync"):
    if child := os.fork():
        print(child, flush=True)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)
"""


def hold(home: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(home)], stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "held\n"
    return process


def test_a_second_writer_is_told_who_writes(tmp_path: Path) -> None:
    other = hold(tmp_path)
    try:
        with (
            pytest.raises(lock.LockedByOther, match=rf"a long sync \(process {other.pid}, since 20"),
            lock.writing(tmp_path, "x"),
        ):
            pass
        assert (lock.holder(tmp_path) or "").startswith("a long sync (process")
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize(("wait", "said"), [(0.0, True), (None, False)])
def test_waiting_is_offered_where_the_command_can_wait(tmp_path: Path, wait: float | None, said: bool) -> None:
    other = hold(tmp_path)
    try:
        with pytest.raises(lock.LockedByOther) as busy, lock.writing(tmp_path, "relrag forget", wait):
            pass
        assert ("add `--wait SECONDS`" in str(busy.value)) is said
        assert "sync" not in str(busy.value).replace("a long sync", "")
    finally:
        other.kill()
        other.wait()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    other = hold(tmp_path)
    other.kill()
    other.wait()
    assert lock.holder(tmp_path) is None
    with lock.writing(tmp_path, "next"):
        assert (tmp_path / "lock").read_text().startswith(f'{{"pid": {os.getpid()}')


def test_to_ask_who_writes_keeps_nobody_from_writing(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    with (tmp_path / "lock").open() as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        threading.Timer(0.05, fcntl.flock, (asking, fcntl.LOCK_UN)).start()
        with lock.writing(tmp_path, "sync"):
            pass


def test_a_child_that_outlives_its_killed_parent_does_not_hold_the_lock(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", FORK, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout
    child = int(other.stdout.readline())
    other.wait()
    try:
        assert lock.holder(tmp_path) is None
    finally:
        os.kill(child, signal.SIGKILL)


def test_one_process_may_take_it_again(tmp_path: Path) -> None:
    with lock.writing(tmp_path, "sync"):
        with lock.writing(tmp_path, "a stage of it"):
            pass
        assert lock.holder(tmp_path)
    assert lock.holder(tmp_path) is None


def test_threads_of_one_process_write_one_after_another(tmp_path: Path) -> None:
    inside, most = [], []

    def write(_: int) -> None:
        with lock.writing(tmp_path, "a statement", 30), lock.writing(tmp_path, "a part of it"):
            inside.append(1)
            time.sleep(0.01)
            most.append(len(inside))
            inside.pop()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(16)))
    assert most == [1] * 16
    assert lock.holder(tmp_path) is None
    other = hold(tmp_path)  # and it is still a lock between processes
    try:
        with pytest.raises(lock.LockedByOther), lock.writing(tmp_path, "x"):
            pass
    finally:
        other.kill()
        other.wait()


def test_a_thread_that_does_not_wait_is_told_what_another_one_writes(tmp_path: Path) -> None:
    with lock.writing(tmp_path, "relrag people"), ThreadPoolExecutor(1) as threads:

        def write() -> None:
            with lock.writing(tmp_path, "x"):
                pass

        with pytest.raises(lock.LockedByOther, match=rf"relrag people \(process {os.getpid()}"):
            threads.submit(write).result()
