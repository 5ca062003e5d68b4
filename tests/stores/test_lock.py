"""One writer at a time."""

import os
import subprocess
import sys
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


def hold(home: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(home)], stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "held\n"
    return process


def test_a_second_writer_is_told_who_writes(tmp_path: Path) -> None:
    other = hold(tmp_path)
    try:
        with (
            pytest.raises(lock.Busy, match=rf"a long sync \(process {other.pid}, since 20"),
            lock.writing(tmp_path, "x"),
        ):
            pass
        assert (lock.holder(tmp_path) or "").startswith("a long sync (process")
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


def test_one_process_may_take_it_again(tmp_path: Path) -> None:
    with lock.writing(tmp_path, "sync"):
        with lock.writing(tmp_path, "a stage of it"):
            pass
        assert lock.holder(tmp_path)
    assert lock.holder(tmp_path) is None
