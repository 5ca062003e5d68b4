"""How fast source code is read: the megabytes a second of one core, against the parse of tree-sitter alone.

The files are Python's own standard library, without its tests, as it lies beside the interpreter: real code of many
hands. The floor parses the same bytes and looks at nothing. `python -m bench.code` prints the figures.
"""

from __future__ import annotations

import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from bench.clock import medians
from bench.measurement import Figure
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.code import is_generated, read
from relrag_pipelines.sources.code.languages import parser
from relrag_pipelines.sources.unit_files import unit_of

RUNS = 3
MOST = 3.4
"""times the parse"""
_BYTES = 4_000_000


def files(most: int = _BYTES) -> list[Path]:
    """Files of the standard library that somebody wrote, so many bytes."""
    found, size = [], 0
    for file in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if {"site-packages", "test", "tests", "idle_test"} & set(file.parts) or is_generated(file.read_bytes()):
            continue
        found.append(file)
        size += file.stat().st_size
        if size >= most:
            break
    return found


def measure(most: int = _BYTES) -> list[Figure]:
    """MB/s against the parse."""
    chosen = files(most)
    root = Path(sysconfig.get_paths()["stdlib"])
    reading = ReadContext("bench", "UTC", Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1").id_hash)
    units = [unit_of(file, root) for file in chosen]
    sources = [file.read_bytes() for file in chosen]
    megabytes = sum(unit.size for unit in units) / 1e6
    assert all(isinstance(one, Record) for unit in units for one in read(unit, reading))
    took = medians(
        RUNS,
        ours=lambda: _seconds(lambda: sum(1 for unit in units for _ in read(unit, reading))),
        floor=lambda: _seconds(lambda: sum(parser("python").parse(source).root_node.end_byte for source in sources)),
    )
    ours, floor = (megabytes / took[name] for name in ("ours", "floor"))
    return [
        Figure("reading source code, a core", ours, "MB/s", floor, "the parse alone", at_most=MOST),
    ]


def _seconds(run: Callable[[], int]) -> float:
    begun = time.perf_counter()  # the parser works in a process of its own
    run()
    return time.perf_counter() - begun


if __name__ == "__main__":
    for figure in measure():
        print(*figure.cells(), sep="  ")
