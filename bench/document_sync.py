"""Invented documents as an archive of their own, and where the time of its sync goes."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import corpus
from bench.clock import RELRAG, process
from relrag_pipelines.stages import whole_archive

_CONFIG = """\
archive = "bench"
keys_file = "bench.keys"
embedder = "{embedder}"
timezone = "UTC"
first_month = "2025-01"
pii_redaction_enabled = {redacted}

[[sources]]
name = "notes"
kind = "jsonl"
path = "notes.jsonl"
"""


@dataclass(frozen=True)
class Sync:
    """One sync, as a whole process."""

    seconds: float
    start_up: float
    """until Dagster starts the first run: interpreter, imports, plan, definitions, opening the instance"""
    stages: dict[str, float]
    """seconds by Dagster asset of all sources, as their metadata says"""

    @property
    def work(self) -> float:
        """All but the start-up."""
        return self.seconds - self.start_up


def archive(folder: Path, documents: list[dict[str, Any]], *, redacted: bool, embedder: str = "none") -> Path:
    """Writes an archive of these documents into a new folder; returns its relrag.toml."""
    folder.mkdir()
    corpus.write(folder / "notes.jsonl", documents)
    config = folder / "relrag.toml"
    config.write_text(_CONFIG.format(redacted=str(redacted).lower(), embedder=embedder))
    return config


def sync(config: Path) -> Sync:
    """Syncs a new archive in a process of its own."""
    os.sync()  # what earlier runs wrote is not written out at the expense of this one
    begun = time.time()
    seconds = process(RELRAG, "sync", config=config)
    first_run, stages = events(config.parent / ".relrag")
    return Sync(seconds, first_run - begun, stages)


def events(home: Path) -> tuple[float, dict[str, float]]:
    """When the first run started, and the seconds of each asset by its name; tables of one stage share its seconds."""
    import dagster as dg

    stage_of = {table: stage.name for stage in whole_archive.STAGES for table in stage.tables}

    with dg.DagsterInstance.from_config(str(home / "dagster")) as dagster:
        first_run = min(run.start_time or run.create_timestamp.timestamp() for run in dagster.get_run_records())
        stages: dict[str, float] = {}
        for key in dagster.all_asset_keys():
            last = dagster.get_latest_materialization_event(key)
            seconds = last and last.asset_materialization and last.asset_materialization.metadata.get("seconds")
            name = key.path[-1]
            if seconds and name in stage_of:
                stages[stage_of[name]] = max(stages.get(stage_of[name], 0.0), float(seconds.value))
            elif seconds:
                stages[name] = stages.get(name, 0.0) + float(seconds.value)
    return first_run, stages


def leak_search(home: Path) -> float:
    """Seconds that the newest publication searched for replaced values."""
    import dagster as dg

    with dg.DagsterInstance.from_config(str(home / "dagster")) as dagster:
        last = dagster.get_latest_materialization_event(dg.AssetKey(["duckdb_catalog"]))
    assert last
    assert last.asset_materialization
    return float(last.asset_materialization.metadata["leak_search_seconds"].value)  # type: ignore[arg-type]
