"""Metadata of months in Dagster: each month carries its own figures, and an empty one says that it is."""

from pathlib import Path
from typing import Any

import dagster as dg

from relrag_pipelines.orchestration import runner
from relrag_pipelines.stores import lake
from relrag_query.cli.commands import sync as commands
from tests import archive


def figures(home: Path, stage: str) -> dict[str, dict[str, Any]]:
    """The latest metadata of each month of the chat."""
    with runner.instance(home) as shared:
        filter_ = dg.AssetRecordsFilter(asset_key=dg.AssetKey(["chat", stage]))
        events = [one.asset_materialization for one in shared.fetch_materializations(filter_, limit=100).records]
    return {
        str(event.partition): {name: value.value for name, value in event.metadata.items()}
        for event in reversed(events)
        if event
    }


def test_each_month_of_a_run_has_its_own_figures(tmp_path: Path) -> None:
    home = archive.first_sync(archive.make(tmp_path), dagster=True).home
    for stage, table in (("redacted", "records"), ("chunks", "chunks"), ("edges", "asset_asset_edges")):
        entries = lake.manifest(home, table, "chat")
        shown = figures(home, stage)
        assert {month: (one["dagster/row_count"], one["bytes"], one["hash"]) for month, one in shown.items()} == {
            month: (entry.rows, entry.bytes, entry.output) for month, entry in entries.items()
        }
    assert {month: one["dagster/row_count"] for month, one in figures(home, "redacted").items()} == {
        "2023-12": 2,
        "2024-01": 2,
        "2024-02": 1,
    }


def test_a_month_without_records_is_marked_so(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    home = archive.first_sync(config, dagster=True).home
    assert commands.backfill("chat", "2023-11", "2024-03", config) == 0
    shown = figures(home, "redacted")
    marked = {month: one.get("empty", False) for month, one in shown.items()}
    assert marked == {"2023-11": True, "2023-12": False, "2024-01": False, "2024-02": False, "2024-03": True}
    assert shown["2023-11"] == {"dagster/row_count": 0, "empty": True}
