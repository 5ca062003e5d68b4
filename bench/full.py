"""relrag at a million messages: a first sync, small changes, opening and searching. `make bench-full` runs it.

It takes some 20 minutes on two cores and 8 GB of disk; `python -m bench.full --scale 0.1 --once` takes three, judges by
the same gates, and is part of `make bench`. What it finds goes into bench/full.json and into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench import document_sync, graphrag, pages, report, scale, sync_floor
from bench.clock import RELRAG, ROOT, Machine, environment, process
from bench.measurement import HEADER, Figure, aligned, to_json
from relrag_query.cli.exit_codes import DONE, WITH_FAILURES

RESULTS = ROOT / "bench" / "full.json"
_EVERY = 0.5
_PORT = 3957
_GIB = 2**30


def measure(size: float, *, double: bool = True) -> tuple[list[Figure], dict[str, Any]]:
    """The figures, and seconds by stage of the first sync with the factor that gates are scaled by."""
    machine = Machine()
    machine.look()
    figures, details = of_archive(size)
    figures += graphrag.large() if size >= 1 else []
    machine.look()
    if double:
        with tempfile.TemporaryDirectory(prefix="relrag-bench-") as name:
            twice = watched(scale.write(Path(name) / "archive", 2 * size))
        figures.append(
            Figure("twice the archive", twice["seconds"], other=figures[0].ours, against="once", at_most=2.2)
        )
    machine.look()
    figures = [figure.on_machine(machine.factor) for figure in figures]
    return figures, {**details, "factor": round(machine.factor, 2)}


def of_archive(size: float) -> tuple[list[Figure], dict[str, Any]]:
    """The figures of an archive of that size, its first sync first, and where the time of that goes."""
    with tempfile.TemporaryDirectory(prefix="relrag-bench-") as name:
        config = scale.write(Path(name) / "archive", size)
        home = config.parent / ".relrag"
        first = watched(config)
        counts = json.loads((home / "published" / "1" / "MANIFEST.json").read_text())["counts"]
        _, stages = document_sync.events(home)
        searched = document_sync.leak_search(home) / first["seconds"]
        floors = sync_floor.measure(home)
        disk = sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
        message, files = _new_message(config), _new_file(config)
        status, plan = _seconds_of(config, "status"), _seconds_of(config, "plan")
        figures = [
            Figure(f"first sync of {counts['records']:,} records", first["seconds"]),
            Figure("the same", counts["records"] / first["seconds"], "records/s", at_least=3_000),
            Figure("the same", first["seconds"], other=sum(floors.values()), against="the sum of the floors"),
            Figure("rows that it left out", counts["failures"], "rows"),
            Figure("its anonymous memory, all processes", first["anonymous"] / _GIB, "GiB", at_most=2.0),
            Figure("its resident memory, all processes", first["resident"] / _GIB, "GiB", at_most=4.0),
            Figure("disk of its home", disk / _GIB, "GiB"),
            Figure("search for replaced values, of the sync", searched * 100, "%", at_most=5.0),
            Figure("one new message, whole process", message, at_most=15.0),
            Figure("one new file of 100 messages, whole process", files, at_most=20.0),
            Figure("relrag status, whole process", status),
            Figure("relrag plan, whole process", plan),
            *_reading(config, counts["chunks"]),
        ]
        figures += _pages(config, counts["records"])
    return figures, {"stages": stages, "floors": floors, "counts": counts}


def watched(config: Path) -> dict[str, float]:
    """Syncs; seconds of the whole process, and the most memory that it and its helpers had, in bytes."""
    os.sync()
    peak = {"anonymous": 0.0, "resident": 0.0}
    begun = time.perf_counter()
    with subprocess.Popen(
        [RELRAG, "sync"], cwd=ROOT, env=environment(config), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as sync:
        watch = threading.Thread(target=_watch, args=(sync, peak))
        watch.start()
        said, _ = sync.communicate()
        seconds = time.perf_counter() - begun
        watch.join()
    if sync.returncode not in (DONE, WITH_FAILURES):
        raise RuntimeError(f"relrag sync ended with {sync.returncode}:\n{said[-4000:]}")
    return {"seconds": seconds, **peak}


def _watch(process: subprocess.Popen[str], peak: dict[str, float]) -> None:
    """Memory as Linux counts it: anonymous, and a page that processes share by halves."""
    while process.poll() is None:
        sums = {"Anonymous": 0, "Pss": 0}
        for member in _tree(process.pid):
            try:
                lines = Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()
            except OSError:
                continue
            for line in lines:
                name, _, value = line.partition(":")
                if name in sums:
                    sums[name] += int(value.split()[0]) * 1024
        peak["anonymous"] = max(peak["anonymous"], sums["Anonymous"])
        peak["resident"] = max(peak["resident"], sums["Pss"])
        time.sleep(_EVERY)


def _tree(root: int) -> list[int]:
    members = [root]
    for member in members:
        try:
            members += [int(child) for child in Path(f"/proc/{member}/task/{member}/children").read_text().split()]
        except OSError:
            continue
    return members


def _new_message(config: Path) -> float:
    """Seconds to sync one more message of a chat."""
    chat = sorted((config.parent / "chats").iterdir())[0]
    lines = chat.read_text(encoding="utf-8").splitlines()
    when, _, said = lines[-1].partition(" - ")
    with chat.open("a", encoding="utf-8") as out:
        out.write(f"{when} - {said.partition(': ')[0]}: The heron stands in the pond again\n")
    return watched(config)["seconds"]


def _new_file(config: Path) -> float:
    """Seconds to sync a new chat of 100 messages within one week, after the twelfth: so its dates can be read."""
    chance, begin = random.Random(5), datetime(2024, 5, 20, tzinfo=UTC)
    lines = scale.messages(100, ["Ada Verne", "Tom Reed"], chance, scale.Words(5), begin, timedelta(days=7))
    (config.parent / "chats" / "WhatsApp Chat with Ada Verne.txt").write_text("".join(lines), encoding="utf-8")
    return watched(config)["seconds"]


def _seconds_of(config: Path, command: str) -> float:
    """Seconds of a command that reads, as a whole process."""
    return process(RELRAG, command, config=config, codes=(DONE, WITH_FAILURES))


def _reading(config: Path, passages: int) -> list[Figure]:
    """Opening the archive, and 200 searches after 20 others."""
    from relrag_query.archive import Archive

    words = scale.Words(9)
    queries = [" ".join(words.draw(4)) for _ in range(220)]
    begun = time.perf_counter()
    with Archive.open(config) as archive:
        opened = time.perf_counter() - begun
        taken = []
        for query in queries:
            begun = time.perf_counter()
            archive.search(query)
            taken.append(time.perf_counter() - begun)
    taken = sorted(taken[20:])
    return [
        Figure(f"opening {passages:,} passages", opened, at_most=0.5),
        Figure("search there, p50", statistics.median(taken) * 1000, "ms", at_most=60.0),
        Figure("search there, p95", taken[int(len(taken) * 0.95)] * 1000, "ms"),
    ]


def _pages(config: Path, records: int) -> list[Figure]:
    """The owner's pages over the archive that was just measured, after its two small syncs."""
    config.write_text(f"web_writes_enabled = true\n{config.read_text()}")
    with pages.served(config, _PORT) as browser:
        return pages.timed_pages(browser, "chats", f"{records:,} records")


def main() -> int:
    """Measures, prints and keeps the figures; returns 1 where `--check` was given and a gate is short, else 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.full", description="Measure relrag at a million messages.")
    parser.add_argument("--scale", type=float, default=1.0, help="1: a million messages, a hundred thousand mails")
    parser.add_argument("--once", action="store_true", help="do not measure twice the archive")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a gate is short")
    asked = parser.parse_args()
    figures, details = measure(asked.scale, double=not asked.once)
    print(aligned([HEADER, *(figure.cells() for figure in figures)]))
    print(f"\n{report.scale(details['factor'])}")
    total = sum(details["stages"].values())
    print("\n" + aligned([[name, f"{seconds:.1f} s"] for name, seconds in sorted(details["stages"].items())]))
    print(f"Dagster, checks and start-up: {figures[0].ours - total:.1f} s")
    if asked.scale == 1.0 and not asked.once:
        found = {**report.machine(), "figures": [to_json(figure) for figure in figures], "details": details}
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        report.write_full(figures, details, details["factor"])
        print("\nWritten: bench/full.json and the table of docs/performance.md.")
    return int(asked.check and not all(figure.ok for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
