"""When an item was last changed: of several exports that hold it, the newest version of it counts."""

from __future__ import annotations

from datetime import UTC, datetime

from relrag_pipelines.records import Json

CHANGED = "changed"
"""the field of `extra` with the time of the last change, as a text that sorts by time; see `Kind.mutable`"""


def changed(ts: float | None, revision: int = 0) -> Json:
    """The field for an item that was changed at `ts`, in seconds UTC, the `revision`th time; nothing where neither is
    known.
    """
    try:
        when = f"{datetime.fromtimestamp(ts, UTC):%Y-%m-%dT%H:%M:%SZ}" if ts else ""
    except (OverflowError, ValueError, OSError):  # a year that no calendar has
        when = ""
    number = f" {revision:06d}" if 0 < revision < 10**6 else ""
    return {CHANGED: f"{when}{number}"} if when or number else {}
