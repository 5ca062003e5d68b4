"""What it costs to find that there is nothing to do: whole processes, on a copy of the demo archive."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.clock import RELRAG, ROOT, medians, process
from bench.measurement import Figure


def measure(turns: int = 7) -> list[Figure]:
    """`relrag sync` of an unchanged archive against importing Dagster, and `relrag --help`."""
    with tempfile.TemporaryDirectory() as place:
        config = Path(place) / "relrag.toml"
        shutil.copyfile(ROOT / "relrag.toml", config)
        shutil.copytree(ROOT / "examples" / "archive", Path(place) / "examples" / "archive")
        runs: dict[str, Callable[[], float]] = {
            "sync": lambda: process(RELRAG, "sync", config=config, codes=(0, 1)),
            "dagster": lambda: process(sys.executable, "-c", "import dagster"),
            "help": lambda: process(RELRAG, "--help"),
        }
        medians(1, **runs)  # the first sync makes the archive
        seconds = medians(turns, **runs)
    return [
        Figure(
            "relrag sync, archive unchanged",
            seconds["sync"],
            other=seconds["dagster"],
            against="import dagster",
            at_most=1.0,
        ),
        Figure("relrag --help", seconds["help"], other=seconds["dagster"], against="import dagster", at_most=0.45),
    ]
