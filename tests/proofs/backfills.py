"""Shows that a backfill of many sources and months begins soon, survives its daemon, and can be cancelled and retried.

The real web server and daemon run on an archive of ten sources with 300 partitions each (`make proofs`; minutes).
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from pathlib import Path

import dagster as dg

from relrag_pipelines.stages.month_stages import STAGES
from relrag_query.cli.commands import sync as commands
from tests import archive
from tests.proofs.dagster_ui import DagsterUI
from tests.proofs.seen import Seen

PORT = 3879
SOURCES = [f"s{number}" for number in range(10)]
FIRST, LAST, MONTHS = "2000-01", "2024-12", 300
ALL_MONTHS = [f"{year}-{month:02d}" for year in range(2000, 2025) for month in range(1, 13)]
CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"
first_month = "2000-01"
sensor_seconds = 600
nightly = "03:30"
"""


def main() -> None:
    """Runs the proof in a temporary folder and prints what was seen."""
    folder = Path(tempfile.mkdtemp())
    seen = Seen("Backfills of 10 sources and 300 months")
    config = make(folder)
    assert commands.sync(config) == 0  # else the sensors have runs to launch first
    ui = DagsterUI(config, archive.workspace(config).home, PORT)
    try:
        killed_and_retried(ui, seen)
        cancelled(ui, seen)
        mostly_empty(ui, seen)
        seen.print()
    finally:
        ui.stop()
        shutil.rmtree(folder)


def killed_and_retried(ui: DagsterUI, seen: Seen) -> None:
    """All sources at once; the daemon, the web server and the run are killed half-way."""
    started = time.monotonic()
    backfill = ui.launch(assets(SOURCES, with_export=True), ALL_MONTHS)
    seen.wait("10 x 300 months: the first run began", lambda: bool(ui.runs(backfill, "STARTED", "SUCCESS")), 60)
    seen.wait("the run of the months began", lambda: any(map(is_of_months, ui.runs(backfill, "STARTED"))))
    exports = [run.status.value for run in ui.runs(backfill) if not is_of_months(run)]
    assert exports == ["SUCCESS"], exports
    seen.note("exports before the months that they feed", "ended")
    ui.kill()
    ui.restart()
    seen.wait("web server, daemon and run killed, the UI started again: the run ended", lambda: failed(ui, backfill))
    seen.wait("the backfill ended", lambda: ui.has_ended(backfill))
    again = ui.retry(backfill)
    seen.wait("failed months retried", lambda: ui.status(again) == "COMPLETED_SUCCESS")
    made = {(source, stage.name): len(ui.months(source, stage.name)) for source in SOURCES for stage in STAGES}
    assert set(made.values()) == {MONTHS}, made
    seen.measure("months of stages made by the retry", sum(made.values()), "months")
    seen.measure("runs of the retry", len(ui.runs(again)), "runs", at_most=len(SOURCES))
    seen.measure("from launch to all made, with kill and retry", time.monotonic() - started, "s")


def cancelled(ui: DagsterUI, seen: Seen) -> None:
    """All sources at once, cancelled while their run makes months."""
    backfill = ui.launch(assets(SOURCES), ALL_MONTHS)
    seen.wait("10 x 300 months again: the run began", lambda: bool(ui.runs(backfill, "STARTED")))
    ui.cancel(backfill)
    seen.wait("cancelled on the backfill's page", lambda: ui.status(backfill) == "CANCELED")
    assert {run.status.value for run in ui.runs(backfill)} == {"CANCELED"}


def mostly_empty(ui: DagsterUI, seen: Seen) -> None:
    """A source of which 298 months are empty."""
    backfill = ui.launch(assets(SOURCES[:1]), ALL_MONTHS)
    seen.wait("one source after that: done", lambda: ui.status(backfill) == "COMPLETED_SUCCESS")
    seen.measure("its run of 300 months, 298 of them empty", ui.seconds(backfill), "s", at_most=10)
    seen.measure("its runs", len(ui.runs(backfill)), "runs", at_most=1)


def failed(ui: DagsterUI, backfill: str) -> bool:
    """Whether a run of the backfill is shown as failed."""
    return bool(ui.runs(backfill, "FAILURE"))


def assets(sources: list[str], with_export: bool = False) -> list[list[str]]:
    """The assets of these sources that a person selects."""
    stages = [*(["export"] if with_export else []), *(stage.name for stage in STAGES)]
    return [[source, stage] for source in sources for stage in stages]


def make(folder: Path) -> Path:
    """An archive of ten sources with a note each in the first and the last month."""
    text = CONFIG
    for source in SOURCES:
        notes = [
            {"id": f"{source}-{month}", "text": f"note of {source}, {month}", "timestamp": f"{month}-15T08:00:00Z"}
            for month in (FIRST, LAST)
        ]
        (folder / f"{source}.jsonl").write_text("".join(f"{json.dumps(note)}\n" for note in notes))
        text += f'\n[[sources]]\nname = "{source}"\nkind = "jsonl"\npath = "{source}.jsonl"\n'
    config = folder / "relrag.toml"
    config.write_text(text)
    return config


def is_of_months(run: dg.DagsterRun) -> bool:
    """Whether a run makes months, and no export."""
    return "dagster/asset_partition_range_start" in run.tags


if __name__ == "__main__":
    main()
