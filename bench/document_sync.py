"""Invented documents as an archive of their own, and where the time of its sync goes."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import corpus
from bench.clock import RELRAG, process

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
    """seconds by stage of all sources, as Dagster timed their steps"""

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
    """When the first run started, and the seconds of each stage: of all steps of that name, checks apart."""
    import dagster as dg

    with dg.DagsterInstance.from_config(str(home / "dagster")) as dagster:
        runs = dagster.get_run_records()
        steps = [step for run in runs for step in dagster.get_run_step_stats(run.dagster_run.run_id)]
    stages: dict[str, float] = {}
    for step in steps:
        name = _stage_of(step.step_key)
        stages[name] = stages.get(name, 0.0) + (step.end_time or 0.0) - (step.start_time or 0.0)
    return min(run.start_time or run.create_timestamp.timestamp() for run in runs), stages


def _stage_of(step: str) -> str:
    """The stage of a step such as `chats__redacted`; the catalog is one step with the points."""
    name = step.rpartition("__")[2]
    if name.endswith(("_no_unredacted_value", "_finished")) or name.startswith("published_generation_"):
        return "checks"
    return {"catalog_and_points": "duckdb_catalog"}.get(name, name)


def leak_search(home: Path) -> float:
    """Seconds that the newest publication searched for replaced values."""
    import dagster as dg

    with dg.DagsterInstance.from_config(str(home / "dagster")) as dagster:
        last = dagster.get_latest_materialization_event(dg.AssetKey(["duckdb_catalog"]))
    assert last
    assert last.asset_materialization
    return float(last.asset_materialization.metadata["leak_search_seconds"].value)  # type: ignore[arg-type]
