"""Shows Dagster in PostgreSQL, with web server, daemon and code server as processes of their own (`make proofs`).

PostgreSQL is that of the system; where there is none, the reason is printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import dagster as dg
import pytest

from relrag_pipelines.orchestration.runner import instance
from relrag_pipelines.stores import generations
from tests import archive
from tests.postgres import PASSWORD, postgres
from tests.proofs.dagster_ui import DagsterUI
from tests.proofs.seen import Seen

PORT = 3883
MONTHS = [f"2023-{month:02d}" for month in range(1, 7)]
STAGES = ("redacted", "identifiers", "chunks", "embeddings", "edges")
_PROCESSES = {"code server": "code-server", "web server": "relrag_pipelines.ui.server", "daemon": "dagster-daemon"}
"""and a word of the command line of each"""


def main() -> None:
    """Runs the proof in a temporary folder and prints what was seen."""
    try:
        with postgres() as url:
            prove(url)
    except pytest.skip.Exception as reason:
        print(f"not shown: {reason}")


def prove(url: str) -> None:
    """A sync of the command line, a backfill of the UI, a change that the sensor finds, and a backup meanwhile."""
    folder, seen = Path(tempfile.mkdtemp()), Seen("Dagster's runs, events and schedules in PostgreSQL")
    config = archive.many_notes(folder, months=6)
    config.write_text(f'dagster_storage = "postgres"\nsensor_seconds = 10\n{config.read_text()}')
    home = archive.home(folder)
    os.environ |= {"DAGSTER_POSTGRES_URL": url, "RELRAG_CONFIG": str(config), "DAGSTER_HOME": str(home / "dagster")}
    relrag("sync")
    ui = DagsterUI(config, home, PORT, "postgres")
    try:
        numbers = [process(ui.process.pid, word) for word in _PROCESSES.values()]
        assert len(set(numbers)) == len(_PROCESSES)
        seen.note("processes", ", ".join(_PROCESSES))
        backfill = ui.launch([["notes", stage] for stage in STAGES], MONTHS)
        seen.wait("a backfill of six months from the UI", lambda: ui.status(backfill) == "COMPLETED_SUCCESS")
        healthy(seen)
        relrag("backup", str(folder / "backup"))
        seen.note("relrag backup while the UI runs", "done")
        with (folder / "notes.jsonl").open("a") as file:
            file.write('{"id": "new", "text": "The plumber comes on Friday", "timestamp": "2023-03-15T08:00:00Z"}\n')
        seen.wait("sensor: a changed file noticed and published", lambda: generations.current_number(home) == 2)
        in_one_location(home, seen)
        leaks = [str(path) for path in home.rglob("*") if path.is_file() and PASSWORD.encode() in path.read_bytes()]
        assert not leaks, leaks
        seen.note("the password in the home", "nowhere")
        seen.print()
    finally:
        ui.stop()
        shutil.rmtree(folder)


def relrag(*arguments: str) -> None:
    """Runs a command, and fails where it fails."""
    subprocess.run([str(Path(sys.executable).with_name("relrag")), *arguments], check=True, stdout=subprocess.DEVNULL)


def healthy(seen: Seen) -> None:
    """The endpoints that a container's health check asks."""
    with urllib.request.build_opener().open(f"http://127.0.0.1:{PORT}/server_info", timeout=60) as response:
        assert response.status == 200
    daemon = str(Path(sys.executable).with_name("dagster-daemon"))
    seen.wait(
        "healthy: /server_info and liveness-check", lambda: not subprocess.run([daemon, "liveness-check"]).returncode
    )


def in_one_location(home: Path, seen: Seen) -> None:
    """Runs of command line, UI and sensor are shown in one code location, and no database lies in the home."""
    with instance(home, "postgres") as shared:
        runs = shared.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS]))
    origins = [run.remote_job_origin for run in runs]
    names = {origin.location_name for origin in origins if origin}
    assert None not in origins and names == {"relrag_pipelines.definitions"}, names
    assert [path.name for path in (home / "dagster").rglob("*.db")] == []
    seen.measure("runs, all in one code location", len(runs), "runs")


def process(parent: int, word: str) -> int:
    """The child of a process whose command line holds a word."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return next(int(child) for child in children if word.encode() in Path(f"/proc/{child}/cmdline").read_bytes())


if __name__ == "__main__":
    main()
