"""`relrag verify`: re-read everything that is stored and name what differs."""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.stores import generations, lake
from relrag_pipelines.workspace import Workspace


def verify(config: Path | None = None) -> int:
    """Compares every month file with its manifest and every published file with its MANIFEST; returns the exit code."""
    workspace = Workspace(settings_module.load(config))
    wrong = [line for source in workspace.settings.sources for line in lake.verify(workspace.home, source.name)]
    numbers = generations.numbers(workspace.home)
    for number in numbers:
        wrong += generations.verify(workspace.home, number)
    for line in wrong:
        print(line)
    if wrong:
        print(
            f"{len(wrong)} files differ. The lake and generations are derived: `relrag sync --full` makes them again."
        )
        return 1
    print(f"Everything is as it was written: {len(workspace.settings.sources)} sources, {len(numbers)} generations.")
    return 0
