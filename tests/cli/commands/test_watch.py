"""`relrag watch` indexes a change within a minute, writes nothing while nothing changes, and stops cleanly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from relrag_pipelines.ingest import watching
from relrag_pipelines.settings import load
from relrag_pipelines.stores import generations, lock
from relrag_query.cli.commands.watch import watch
from tests import archive

SECONDS = 60


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def state_of(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.requirement("S0-112")
def test_a_new_message_is_published_and_an_unchanged_archive_is_left_alone(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.first_sync(config)
    home, stop = archive.home(tmp_path), threading.Event()
    before = state_of(home)
    watcher = threading.Thread(target=watch, args=(config,), kwargs={"every": 1, "stop": stop})
    watcher.start()
    try:
        time.sleep(3)
        assert state_of(home) == before
        assert lock.holder(home) is None
        with (tmp_path / "chats" / "WhatsApp Chat with Hiking.txt").open("a") as chat:
            chat.write("15/02/2024, 09:00 - Petr Kolar: The plumber comes on Monday\n")
        wait_until(lambda: generations.current_number(home) == 2)
    finally:
        stop.set()
        watcher.join(SECONDS)
    assert not watcher.is_alive()


def test_a_signal_ends_it(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.first_sync(config)
    program = "from relrag_query.cli import main; main()"
    command = [sys.executable, "-c", program, "watch", "--every", "600", "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Watching")
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=SECONDS)
    assert (process.returncode, output) == (0, "Stopped.\n")


def test_folders_within_others_and_the_home_are_not_watched_twice(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    assert watching.folders(load(config)) == [tmp_path.resolve()]  # notes.jsonl lies beside the folders
