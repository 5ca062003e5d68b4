"""Shows what a full disk does to a sync (`make crash`; minutes).

RELRAG_HOME is a file system in memory with from none to twice the room that a sync takes, in 50 steps. Every sync that
does not find enough has to say how much is needed and where, and end with 2; the old generation has to be served; and
once there is room, the next sync has to leave what an undisturbed one leaves. Where file systems may not be mounted,
a writer that fails from one of 50 seeded places on stands in. Then one write fails at ten places: what the other
sources have is published without the one that it was of, and with it by the next sync.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from tests import archive, interruption
from tests.interruption import Ended, How
from tests.proofs.crash import QUESTIONS, Answer, Scenario, answer, places, scenarios

STEPS = 50
_BYTES = 256 * 2**20
_BEFORE_VECTORS = 8 * 2**20
_FOR_READING = 2**20
NEED = ("no space is left on the disk", "a sync needs up to", "are free")
_INSIDE = "inside"
_BOOKKEEPING = frozenset({"replaced", "terms"})
"""tables of the catalog that say how it was built on the generation before"""
_ROW_NUMBER = re.compile(r", \d+, (?=datetime)")


@contextmanager
def mounted(scenario: Scenario, scratch: Path) -> Iterator[Path]:
    """A copy of the archive whose RELRAG_HOME is a file system of its own."""
    folder = archive.clone(scenario.folder, scratch)
    home, aside = archive.home(folder), folder / "aside"
    if home.exists():
        home.rename(aside)
    home.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_BYTES}", "home", home], check=True)
    try:
        if aside.exists():
            archive.clone(aside, home)
        yield folder
    finally:
        subprocess.run(["umount", home], check=True)
        shutil.rmtree(folder)


def most_room(scenario: Scenario, scratch: Path) -> int:
    """Bytes that a sync takes at most while it goes on."""
    with mounted(scenario, scratch) as folder:
        home = archive.home(folder)
        before = least = shutil.disk_usage(home).free
        done = threading.Event()

        def watch() -> None:
            nonlocal least
            while not done.wait(0.002):
                least = min(least, shutil.disk_usage(home).free)

        thread = threading.Thread(target=watch)
        thread.start()
        assert interruption.run(folder, *scenario.words).code == 0
        done.set()
        thread.join()
        return before - least


def rooms(most: int, count: int) -> list[int]:
    """So many amounts of room, half of them too small for all that comes before the vectors, which take the most."""
    few = [_BEFORE_VECTORS * step // (count // 2) for step in range(count // 2)]
    more = count - len(few)
    return few + [_BEFORE_VECTORS + (2 * most - _BEFORE_VECTORS) * step // more for step in range(more)]


def wrong_with(
    scenario: Scenario, folder: Path, ended: Ended, make_room: Path | None = None, says: tuple[str, ...] = NEED
) -> list[str]:
    """What is not as it should be after a sync that could not write, and after the next one."""
    home, wrong = archive.home(folder), []
    if ended.code not in (0, 2):
        wrong.append(f"ended with {ended.code}: {ended.said}")
    if ended.code == 2 and not all(words in ended.said for words in (*says, str(home) if says == NEED else "")):
        wrong.append(f"does not say what is needed: {ended.said}")
    expected, between = scenario.state, False
    if make_room:  # a hole that is read takes a page here, as in `full_at`, and without one the reader is killed
        os.truncate(make_room, max(0, make_room.stat().st_size - _FOR_READING))
    try:
        served = answer(folder)
        if served not in scenario.answers:
            between = says != NEED and _of_both(served, *scenario.answers)
            if not between:
                wrong.append("neither the old nor the new generation is served")
    except Exception as error:
        wrong.append(f"nothing is served: {error!r} {error.__cause__!r}")
    if make_room:
        make_room.unlink()
    again = interruption.run(folder, *scenario.words)
    if again.code:
        wrong.append(f"the next sync ended with {again.code}: {again.said}")
    state = interruption.state(home)
    if between:
        expected, state = _without_numbers(expected), _without_numbers(state)
    wrong += [f"{key} differs" for key in sorted(state.keys() | expected.keys()) if state.get(key) != expected.get(key)]
    return wrong + [f"a run is shown as {status}" for status in interruption.unfinished_runs(home)]


def _of_both(served: Answer | None, before: Answer | None, after: Answer | None) -> bool:
    """Whether each passage that answers a question is of the old generation or of the new one."""
    none = ((),) * (1 + len(QUESTIONS))
    old, new = before or none, after or none
    return served is not None and all({*hits} <= {*old[n], *new[n]} for n, hits in enumerate(served) if n)


def _without_numbers(state: dict[str, Any]) -> dict[str, Any]:
    """A state in which only the current generation counts, whatever its number."""
    current = state["current"]
    kept = {key: value for key, value in state.items() if key.startswith(("private/", "lake/", "holder", "lock"))}
    rows = state.get(f"rows of {current}", {})
    contents = {table: list(map(_without_row_number, rows[table])) for table in rows if table not in _BOOKKEEPING}
    return kept | {"rows": contents, "points": state.get(f"points of {current}")}


def _without_row_number(row: str) -> str:
    """A row without the number of an edge, which goes on from those of the generation before."""
    return _ROW_NUMBER.sub(", ", row)


def full_at(scenario: Scenario, room: int, scratch: Path) -> tuple[Ended, list[str]]:
    """A sync with so many bytes of room, and what was wrong."""
    with mounted(scenario, scratch) as folder:
        home = archive.home(folder)
        answer(folder)  # a hole that is read through a map takes a page of a file system in memory, and of no disk
        filler = home / "filler"
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, shutil.disk_usage(home).free - room))
        ended = interruption.run(folder, *scenario.words)
        return ended, wrong_with(scenario, folder, ended, filler)


def main() -> None:
    """Prints a line for every step, and exits with 1 if anything was wrong."""
    words = [word for word in sys.argv[1:] if word != _INSIDE]
    steps = int(words[0]) if words else STEPS
    if _INSIDE not in sys.argv:
        _mount_if_allowed(words)
    folder, started, bad = Path(tempfile.mkdtemp()), time.monotonic(), 0
    found = {scenario.name: scenario for scenario in scenarios(folder)}
    chosen = [found["first"], found["less"]]
    cases = _full(chosen, steps, folder) if _INSIDE in sys.argv else _failing(chosen, steps, "full", NEED, folder)
    for said, wrong in chain(cases, _failing(chosen, max(1, steps // 5), "fault", (), folder)):
        bad += bool(wrong)
        print(said, *wrong, sep="\n  ", flush=True)
    seconds = time.monotonic() - started
    print(f"{steps} full disks and {max(1, steps // 5)} failing ones, {bad} not made good; {seconds:.0f} s")
    shutil.rmtree(folder)
    sys.exit(bad > 0)


def _mount_if_allowed(words: list[str]) -> None:
    """Goes on in a name space of its own: only its processes see its mounts, which end with them."""
    again = ["unshare", "--user", "--map-root-user", "--mount"]
    allowed = shutil.which("unshare") and subprocess.run(
        [*again, "mount", "-t", "tmpfs", "home", "/mnt"], check=False, capture_output=True
    )
    if allowed and allowed.returncode == 0:
        command = [*again, sys.executable, "-m", "tests.proofs.disk", *words, _INSIDE]
        os.execvp(command[0], command)  # noqa: S606  a fixed list
    print("file systems cannot be mounted here; a failing writer stands in")


def _full(chosen: list[Scenario], steps: int, folder: Path) -> Iterator[tuple[str, list[str]]]:
    for scenario in chosen:
        most = most_room(scenario, folder / "most")
        print(f"{scenario.name}: a sync takes up to {most / 1e6:.0f} MB", flush=True)
        for step, room in enumerate(rooms(most, steps // len(chosen))):
            ended, wrong = full_at(scenario, room, folder / f"{scenario.name}-{step}")
            yield f"{scenario.name}, {room / 1e6:.1f} MB free: ended with {ended.code}", wrong


def _failing(
    chosen: list[Scenario], steps: int, how: How, says: tuple[str, ...], folder: Path
) -> Iterator[tuple[str, list[str]]]:
    for number, (scenario, place, _) in enumerate(places(chosen, steps, 3)):
        copy = archive.clone(scenario.folder, folder / f"{how}-{number}")
        ended = interruption.run(copy, *scenario.words, at=place, how=how)
        yield (
            f"{scenario.name}, {how} at {place}: ended with {ended.code}",
            wrong_with(scenario, copy, ended, None, says),
        )
        shutil.rmtree(copy)


if __name__ == "__main__":
    main()
