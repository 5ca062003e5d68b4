"""Shows that a backfill of many sources and months begins soon, survives its daemon, and can be tried again.

The real web server and daemon run on an archive of ten sources with 300 partitions each (`make proofs`; minutes).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import dagster as dg

from relrag_pipelines.orchestration.runner import instance
from relrag_pipelines.stages.month_stages import STAGES
from relrag_query.cli.commands import sync as commands
from tests import archive
from tests.processes import wait

PORT = 3879
SOURCES, FIRST, LAST, MONTHS = 10, "2000-01", "2024-12", 300
CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"
first_month = "2000-01"
sensor_seconds = 600
nightly = "03:30"
"""
LAUNCH = """
mutation ($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
    ... on UnauthorizedError { message }
  }
}
"""
RETRY = """
mutation ($params: ReexecutionParams!) {
  reexecutePartitionBackfill(reexecutionParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}
"""


def main() -> None:
    """Runs the proof in a temporary folder and prints what was seen."""
    folder = Path(tempfile.mkdtemp())
    config = make(folder)
    home = archive.workspace(config).home
    assert commands.sync(config) == 0  # else the sensors have runs to launch first
    ui = [str(Path(sys.executable).with_name("relrag")), "ui", "--port", str(PORT), "--config", str(config)]
    server = start(ui)
    try:
        everything = [f"s{number}" for number in range(SOURCES)]
        started = time.monotonic()
        backfill = launch(ui, everything)
        wait("the first run of 10 x 300 months began", lambda: bool(runs(home, backfill, "STARTED", "SUCCESS")))
        print(f"seen: it began after {time.monotonic() - started:.0f} s")
        wait("the run of the months began", lambda: any(is_of_months(run) for run in runs(home, backfill, "STARTED")))
        exports = [run.status.value for run in runs(home, backfill) if not is_of_months(run)]
        assert exports == ["SUCCESS"], exports
        print(f"seen: the exports had ended; {time.monotonic() - started:.0f} s since the launch")
        kill(server)
        print("seen: web server, daemon and run killed; the UI starts again")
        server = start(ui)
        wait("the killed run ended", lambda: bool(runs(home, backfill, "FAILURE")))
        wait("the backfill ended", lambda: status(home, backfill) not in ("REQUESTED", "FAILING", "CANCELING"))
        print(f"seen: {status(home, backfill)} after {time.monotonic() - started:.0f} s")
        again = retry(ui, backfill)
        wait("the failed months were tried again", lambda: status(home, again).startswith("COMPLETED"))
        print(f"seen: {status(home, again)} after {time.monotonic() - started:.0f} s in all")
        made = {
            (source, stage.name): len(materialised(home, source, stage.name))
            for source in everything
            for stage in STAGES
        }
        assert set(made.values()) == {MONTHS}, made
        print(f"seen: {sum(made.values())} months of stages made by {len(runs(home, again))} runs")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
        shutil.rmtree(folder)


def make(folder: Path) -> Path:
    """An archive of ten sources with a note each in the first and the last month."""
    text = CONFIG
    for number in range(SOURCES):
        notes = [
            {"id": f"{number}-{month}", "text": f"note {number} of {month}", "timestamp": f"{month}-15T08:00:00Z"}
            for month in (FIRST, LAST)
        ]
        (folder / f"s{number}.jsonl").write_text("".join(f"{json.dumps(note)}\n" for note in notes))
        text += f'\n[[sources]]\nname = "s{number}"\nkind = "jsonl"\npath = "s{number}.jsonl"\n'
    config = folder / "relrag.toml"
    config.write_text(text)
    return config


def start(ui: list[str]) -> subprocess.Popen[bytes]:
    """The UI, in a process group of its own, once it answers."""
    server = subprocess.Popen(ui, start_new_session=True)
    wait("the UI answers", lambda: subprocess.run([*ui, "--login"], capture_output=True).returncode == 0)
    return server


def kill(server: subprocess.Popen[bytes]) -> None:
    """Kills the UI and all that it has started."""
    os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def launch(ui: list[str], sources: list[str]) -> str:
    """What the UI's page of a backfill does; returns the backfill's id."""
    stages = ["export", *(stage.name for stage in STAGES)]
    assets = [{"path": [source, stage]} for source in sources for stage in stages]
    names = [f"{year}-{month:02d}" for year in range(2000, 2025) for month in range(1, 13)]
    params = {"assetSelection": assets, "partitionNames": names}
    return str(answer(ui, LAUNCH, params)["launchPartitionBackfill"]["backfillId"])


def retry(ui: list[str], backfill: str) -> str:
    """What the UI's button "Re-execute from failure" does; returns the new backfill's id."""
    params = {"parentRunId": backfill, "strategy": "FROM_FAILURE"}
    return str(answer(ui, RETRY, params)["reexecutePartitionBackfill"]["backfillId"])


def answer(ui: list[str], query: str, params: dict[str, Any]) -> dict[str, Any]:
    """What the web server answers to a browser that is logged in."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    browser.open(subprocess.run([*ui, "--login"], capture_output=True, text=True, check=True).stdout.strip()).close()
    body = json.dumps({"query": query, "variables": {"params": params}}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/graphql", body, {"Content-Type": "application/json"})
    with browser.open(request, timeout=120) as response:
        data: dict[str, Any] = json.load(response)["data"]
    return data


def runs(home: Path, backfill: str, *statuses: str) -> list[dg.DagsterRun]:
    """The runs of a backfill with one of these statuses."""
    with instance(home) as shared:
        found = shared.get_runs(dg.RunsFilter(tags={"dagster/backfill": backfill}))
    return [run for run in found if not statuses or run.status.value in statuses]


def is_of_months(run: dg.DagsterRun) -> bool:
    """Whether a run makes months, and no export."""
    return "dagster/asset_partition_range_start" in run.tags


def status(home: Path, backfill: str) -> str:
    """The status of a backfill."""
    with instance(home) as shared:
        found: Any = shared.get_backfill(backfill)
    return str(found.status.value)


def materialised(home: Path, source: str, stage: str) -> set[str]:
    """The months of a stage that are made, or one empty name for an asset without months."""
    with instance(home) as shared:
        key = dg.AssetKey([source, stage])
        if stage == "export":
            return {""} if shared.get_latest_materialization_event(key) else set()
        return set(shared.get_materialized_partitions(key))


if __name__ == "__main__":
    main()
