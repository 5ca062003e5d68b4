"""What `relrag watch` looks at: the folders of sources, whose changes the system tells, and servers, which are polled.

The system's notices only say when to look: the plan decides whether there is anything to do. Where they cannot be had,
as in some network folders, the plan is asked at the interval of the polls.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from watchfiles import Change, watch

from relrag_pipelines.ingest import fetching
from relrag_pipelines.settings import Settings, Source
from relrag_pipelines.stores import lock
from relrag_pipelines.workspace import Workspace

_SETTLE_MS = 1_500
"""how long changes are collected, so that a file is not read while it is being copied"""


def folders(settings: Settings) -> list[Path]:
    """The folders to watch: those of the sources, without those within others."""
    paths = [settings.source_path(source) for source in settings.sources if not source.is_fetched]
    existing = {path if path.is_dir() else path.parent for path in paths if path.exists()}
    return sorted(path for path in existing if not any(path.is_relative_to(other) for other in existing - {path}))


def wait_for_change(settings: Settings, seconds: float, stop: threading.Event) -> None:
    """Returns when a file of a source changed, after `seconds`, or when asked to stop."""
    watched = folders(settings)
    if not watched:
        stop.wait(seconds)
        return
    own = settings.own_folders

    def is_of_source(change: Change, path: str) -> bool:
        return not any(Path(path).is_relative_to(folder) for folder in own)

    try:
        changes = watch(
            *watched,
            watch_filter=is_of_source,
            debounce=_SETTLE_MS,
            rust_timeout=max(1, int(seconds * 1000)),
            yield_on_timeout=True,
            stop_event=stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
        next(changes, None)
    except (OSError, RuntimeError):  # no more folders may be watched, or this file system tells nothing
        stop.wait(seconds)


def poll(workspace: Workspace) -> Iterator[str]:
    """Brings the mirrors of servers up to date; what went wrong, a line a source. Takes the lock for a while."""
    sources = [source for source in workspace.settings.sources if source.is_fetched and not source.paused]
    if not sources:
        return
    with lock.writing(workspace.home, "relrag watch"):
        for source in sources:
            yield from _fetch(workspace, source)


def _fetch(workspace: Workspace, source: Source) -> Iterator[str]:
    error = fetching.fetch(workspace, source)
    fetching.note_failures(workspace, source, error)
    if error is not None:
        yield f"{source.name}: {error}"
