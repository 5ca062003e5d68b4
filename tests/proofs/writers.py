"""Shows that UI, schedule and command line write to one archive without harm (`make crash`; minutes).

The real web server and daemon run, their sensors launch runs, and so do requests as the UI sends them, while syncs of
the command line come one after another and files change. Then a run of the UI is killed.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import dagster as dg

from relrag_pipelines.orchestration.runner import instance
from relrag_pipelines.stores import lock
from tests import archive, interruption
from tests.processes import wait
from tests.proofs.automation import launch_from_ui
from tests.proofs.dagster_ui import DagsterUI

ROUNDS = 4
PORT = 3877


def main() -> None:
    """Prints what was seen, and fails where something is not as it should be."""
    folder = Path(tempfile.mkdtemp())
    config = archive.make(folder, "sensor_seconds = 10")
    home = archive.home(folder)
    assert interruption.run(folder, "sync").code == 0
    ui = DagsterUI(config, home, PORT)
    try:
        for number in range(ROUNDS):
            with (folder / "chats" / "WhatsApp Chat with Hiking.txt").open("a") as file:
                file.write(f"{15 + number}/02/2024, 08:00 - Petr Kolar: Plumber visit {number}\n")
            launch_from_ui(ui)
            ended = interruption.run(folder, "sync", "--wait", "300")
            assert ended.code == 0, ended.said
        print(f"seen: {ROUNDS} syncs of the command line between runs of the UI", flush=True)
        with lock.writing(home, "a proof", 300):
            launch_from_ui(ui)
            wait("a run of the UI waits for the lock", lambda: bool(processes(home)))
            time.sleep(5)
            for process in processes(home):
                os.kill(process, signal.SIGKILL)
    finally:
        ui.stop()
    ended = interruption.run(folder, "sync", "--wait", "300")
    assert ended.code == 0, ended.said
    # what the UI had queued is ended by the first sync after the daemon's last heartbeat has grown old
    wait("no run is shown as going on, the killed one neither", lambda: is_every_run_over(folder, home), 180)
    assert interruption.run(folder, "verify").code == 0
    assert "Nothing to do" in interruption.run(folder, "sync").said
    print("seen: every file is as it was written")
    shutil.rmtree(folder, ignore_errors=True)  # a run that the UI had queued may still be ending


def is_every_run_over(folder: Path, home: Path) -> bool:
    """Whether a sync leaves no run that is shown as queued or going on."""
    assert interruption.run(folder, "sync", "--wait", "300").code == 0
    return not interruption.unfinished_runs(home)


def processes(home: Path) -> list[int]:
    """Processes of the runs that are going on and were not launched by the command line."""
    with instance(home) as shared:
        going_on = shared.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED]))
        return [
            int(str(data.metadata["pid"].value))
            for run in going_on
            for entry in shared.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)
            if entry.dagster_event and (data := entry.dagster_event.engine_event_data) and "pid" in data.metadata
        ]


if __name__ == "__main__":
    main()
