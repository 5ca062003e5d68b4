"""Shows that schedule and sensors fire, and that UI and command line do the same work (`make proofs`; minutes).

The real web server and daemon run on a small archive; nothing is simulated.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg

from relrag_pipelines.orchestration.runner import instance
from relrag_pipelines.stores import generations
from relrag_query.cli.commands import sync as commands
from tests import archive
from tests.processes import wait
from tests.proofs.dagster_ui import DagsterUI
from tests.proofs.seen import Seen

PORT = 3877
LATE = """
[[sources]]
name = "late"
kind = "jsonl"
path = "late.jsonl"
"""


def main() -> None:
    """Runs the proof in a temporary folder and prints what was seen."""
    folder, seen = Path(tempfile.mkdtemp()), Seen("Schedule and sensors")
    nightly = (datetime.now(UTC) + timedelta(minutes=4)).strftime("%H:%M")
    config = archive.make(folder, f'sensor_seconds = 10\nnightly = "{nightly}"')
    config.write_text(config.read_text().replace("Europe/Prague", "UTC"))
    home = archive.workspace(config).home
    ui = DagsterUI(config, home, PORT)
    try:
        seen.wait("sensor: folders read and published", lambda: generations.current_number(home) == 1)
        with (folder / "chats" / "WhatsApp Chat with Hiking.txt").open("a") as file:
            file.write("15/02/2024, 08:00 - Petr Kolar: The plumber comes on Friday\n")
        seen.wait("sensor: a changed file noticed and published", lambda: generations.current_number(home) == 2)
        from_ui = backfilled(home, lambda: launch_from_ui(ui))
        from_command = backfilled(home, lambda: commands.backfill("chat", "2023-12", "2024-02", config, wait=60))
        assert from_ui == from_command, (from_ui, from_command)
        seen.measure("months that UI and command line made alike", len(from_ui), "months")
        (folder / "late.jsonl").write_text(
            '{"id": "late", "text": "A late note", "timestamp": "2024-02-15T08:00:00Z"}\n'
        )
        config.write_text(config.read_text() + LATE)
        seen.wait("relrag.toml: a new source noticed and published", lambda: generations.current_number(home) == 3)
        seen.wait("the schedule fired", lambda: bool(ticks(home, "nightly")))
        everyone = {"command line", "schedule", "sensor", "UI backfill"}
        seen.wait("every run says what it is about and who launched it", lambda: launchers(home) == everyone)
        seen.print()
    finally:
        ui.stop()
        shutil.rmtree(folder)


def backfilled(home: Path, launch: Callable[[], Any]) -> list[tuple[str, str, str]]:
    """(asset, month, hash of the lake file or that it is empty) for every materialisation that a launch brings."""
    since = datetime.now(UTC).timestamp()
    launch()
    stages = ("redacted", "identifiers", "chunks", "embeddings", "edges")
    found: list[tuple[str, str, str]] = []

    def done() -> bool:
        found.clear()
        with instance(home) as shared:
            for stage in stages:
                key = dg.AssetKey(["chat", stage])
                records = shared.fetch_materializations(
                    dg.AssetRecordsFilter(asset_key=key, after_timestamp=since), limit=100
                ).records
                for record in records:
                    event = record.asset_materialization
                    assert event
                    content = event.metadata.get("hash") or event.metadata["empty"]
                    found.append((stage, str(event.partition), str(content.value)))
        return len(found) == 3 * len(stages)

    wait("a range of three months was made again", done)
    return sorted(found)


def launch_from_ui(ui: DagsterUI) -> None:
    """What the UI's button does: a backfill of three months of a source's stages."""
    stages = ("redacted", "identifiers", "chunks", "embeddings", "edges")
    ui.launch([["chat", stage] for stage in stages], ["2023-12", "2024-01", "2024-02"])


def ticks(home: Path, name: str) -> list[str]:
    """Successful ticks of a schedule."""
    with instance(home) as shared:
        states = [state for state in shared.all_instigator_state() if state.instigator_name == name]
        return [
            str(tick.tick_id)
            for state in states
            for tick in shared.get_ticks(state.instigator_origin_id, state.selector_id)
            if tick.status.value == "SUCCESS"
        ]


def launchers(home: Path) -> set[str]:
    """Who launched the runs that succeeded, which name their sources and months too."""
    with instance(home) as shared:
        tags = [run.tags for run in shared.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS]))]
    assert all({"relrag/source", "relrag/months"} <= one.keys() for one in tags), tags
    return {one["relrag/launched_by"] for one in tags}


if __name__ == "__main__":
    main()
