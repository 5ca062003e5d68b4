"""Measures how much faster two Ray workers embed than one (`python -m tests.proofs.ray_embedding`; minutes).

Each has a processor and a thread. Both have loaded the model before the clock starts; the same texts are embedded, in
turn by one worker and by two. It needs two idle processors: run it while nothing else runs.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
import time
from pathlib import Path

from relrag_pipelines.embedders.embed_ahead import Batch
from relrag_pipelines.settings import Settings
from relrag_pipelines.stages import month_stages
from relrag_pipelines.workers.ray_tasks import Cluster
from relrag_pipelines.workspace import Workspace
from tests import ray_nodes

TEXTS, SIZE, ROUNDS, GOAL = 480, 10, 3, 1.7
TEXT = "The plumber quoted seven thousand for boiler {number}; the orangery of house {number} may not be heated. " * 4
_TINY = Batch("2024-01", ["0"], ["ok"])


def main() -> int:
    """Prints the seconds of each round and the ratio of the best ones; 1 where it is below the goal."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        variables = ray_nodes.environment(folder)
        os.environ.update(variables)
        workspace = Workspace(Settings(home=folder / "home", keys_file=folder / "keys"))
        _ = workspace.keys
        (folder / "n").mkdir(mode=0o700)
        with ray_nodes.two_nodes(folder / "n", variables) as nodes:
            cluster = Cluster(workspace.home, workspace.settings.key_store, nodes.address)
            measure(cluster, workspace, 2)
            for workers in (1, 2) * ROUNDS:
                seconds[workers].append(measure(cluster, workspace, workers))
            cluster.stop()
    for workers, rounds in seconds.items():
        taken = ", ".join(f"{each:.1f}" for each in rounds)
        print(f"{workers} at once: {taken} s, {TEXTS / min(rounds):.0f} texts/s")
    ratio = min(seconds[1]) / min(seconds[2])
    print(f"two workers: {ratio:.2f}x one (goal {GOAL}); load of the machine {os.getloadavg()[0]:.1f}")
    return int(ratio < GOAL)


def measure(cluster: Cluster, workspace: Workspace, workers: int) -> float:
    """The seconds that all texts take; a worker that is to wait gets batches of one short text."""
    batches = [
        Batch("2024-01", list(map(str, range(SIZE))), [TEXT.format(number=first + text) for text in range(SIZE)])
        for first in range(0, TEXTS, SIZE)
    ]
    waves = [batches] if workers == 2 else [[batch, _TINY] for batch in batches]
    embed = functools.partial(month_stages.embed_batch, workspace)
    begun = time.monotonic()
    for wave in waves:
        for _ in cluster.each(embed, wave):
            pass
    return time.monotonic() - begun


if __name__ == "__main__":
    sys.exit(main())
