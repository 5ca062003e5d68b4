"""Taking turns against the clock."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LEFT_OUT = ("RELRAG_", "DAGSTER_", "PYTHON")
RELRAG = str(Path(sys.executable).with_name("relrag"))
IMPORT_DAGSTER = 0.66
"""seconds of `import dagster` on the machine that absolute gates are for"""


class Machine:
    """How slow this machine is, by a yardstick that is read every now and then during a run.

    The yardstick is the time of `import dagster`: Python at work on many small things, as relrag is. Two machines of
    one kind differed by a factor of two in it, and so did nearly every time of theirs.
    """

    def __init__(self) -> None:
        self._seconds: list[float] = []

    def look(self) -> None:
        """Reads the yardstick once."""
        self._seconds.append(process(sys.executable, "-c", "import dagster"))

    @property
    def factor(self) -> float:
        """The median of what was read, as a multiple of IMPORT_DAGSTER."""
        return statistics.median(self._seconds) / IMPORT_DAGSTER


def medians(turns: int, **runs: Callable[[], float]) -> dict[str, float]:
    """The median of what each run returns, by turns, so that a slow moment of the machine meets all of them."""
    return {name: statistics.median(values) for name, values in _by_turns(turns, runs).items()}


def best(turns: int, **runs: Callable[[], float]) -> dict[str, float]:
    """The least of what each run returns, by turns: of processor time, to which other processes can only add."""
    return {name: min(values) for name, values in _by_turns(turns, runs).items()}


def _by_turns(turns: int, runs: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    seen: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(turns):
        for name, run in runs.items():
            seen[name].append(run())
    return seen


def process(*command: str, config: Path | None = None, codes: tuple[int, ...] = (0,)) -> float:
    """Seconds of a whole process, on the archive of that relrag.toml; RuntimeError when it fails."""
    begun = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=environment(config), capture_output=True, text=True)
    seconds = time.perf_counter() - begun
    if done.returncode not in codes:
        said = (done.stdout + done.stderr)[-4000:]
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{said}")
    return seconds


def environment(config: Path | None = None) -> Mapping[str, str]:
    """The environment without settings of an archive but `config`, and with Python as it comes.

    Where Python is told not to keep bytecode, all imports take twice as long, which says nothing about either side.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT)}
    return kept | ({"RELRAG_CONFIG": str(config)} if config else {})


def most_memory() -> int:
    """The most bytes that this process has had in memory.

    Not ru_maxrss where Linux tells it otherwise: that counts the process that started this one too.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
