"""Other processes, seen from outside: whether one is alive, and waiting for what one does."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path


def alive(process: int) -> bool:
    """Whether a process runs; one that has ended and is only not yet reaped (a zombie) does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:  # ended between the two, or no Linux
        return not Path("/proc/self/stat").exists()


def wait(what: str, until: Callable[[], bool], seconds: float = 400) -> None:
    """Waits until something is so and prints that it was seen; ends the program where that takes too long."""
    started = time.monotonic()
    while not until():
        if time.monotonic() - started > seconds:
            sys.exit(f"not seen in {seconds:.0f} s: {what}")
        time.sleep(0.3)
    print(f"seen: {what} ({time.monotonic() - started:.0f} s)", flush=True)
