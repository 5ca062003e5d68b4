"""Reads runs from Dagster's database file itself, since importing Dagster takes seconds."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

UNFINISHED = ("QUEUED", "NOT_STARTED", "STARTING", "STARTED", "CANCELING")
"""what a run is shown as until it ends"""


def database(home: Path) -> Path:
    """Where it lies."""
    return home / "dagster" / "history" / "runs.db"


def heartbeat_age(home: Path) -> float | None:
    """Seconds since the daemon's newest heartbeat; None if there is none, or the file cannot be read."""
    path = database(home)
    if not path.exists():
        return None
    query = "SELECT max(timestamp) FROM daemon_heartbeats"
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as opened:
        if newest := opened.execute(query).fetchone()[0]:
            return (datetime.now(UTC).replace(tzinfo=None) - datetime.fromisoformat(newest)).total_seconds()
    return None


def count_unfinished(home: Path) -> int:
    """How many runs are shown as going on, whether or not they are; sqlite3.Error where the file cannot be read."""
    path = database(home)
    if not path.exists():
        return 0
    # looking at a database that nobody has open must not make files beside it
    way = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
    marks = ", ".join("?" for _ in UNFINISHED)
    with closing(sqlite3.connect(f"{path.as_uri()}?{way}", uri=True, timeout=5)) as opened:
        query = f"SELECT count(*) FROM runs WHERE status IN ({marks})"  # noqa: S608  only question marks
        return int(opened.execute(query, UNFINISHED).fetchone()[0])
