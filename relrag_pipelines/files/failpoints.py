"""Named places at which tests kill the process, let the disk be full, or count: before every write, sync, rename,
commit and lock.

Nothing but code of the same process can set `watch`: no setting, variable or argument does, so a sync outside of a
test can never stop at one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

watch: Callable[[str, Path], None] | None = None
"""called with the name of a place and what is written there; it may kill the process or raise"""


def failpoint(name: str, path: Path) -> None:
    """Marks a place: what follows is about to change `path`."""
    if watch is not None:
        watch(name, path)
