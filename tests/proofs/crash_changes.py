"""Shows that a killed sync is made good whatever happens to the exports before the next one (part of `make crash`).

Real `relrag sync` processes, with the built-in model and redaction, are killed during the first sync of an archive of
each kind, and during a later one, at places of the export and at random moments. Then the exports are changed. The
next sync has to end by itself, and every table has to be as a first sync of the changed exports makes it.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines.stores import generations
from tests import archive, clean_build, every_kind, interruption
from tests.interruption import Place

KILLS, AT_ONCE = 30, 2
LATER = "later"
_SYNC = ("sync", "--accept-deletions")


@dataclass(frozen=True)
class Start:
    """An archive before the sync that is killed, and what an undisturbed one takes."""

    name: str
    folder: Path
    places: list[str]
    """the names of the places that it comes to, in order"""
    exports: int
    """how many of them belong to the exports of its sources"""
    seconds: float


def starts(folder: Path) -> list[Start]:
    """A first sync of each kind, and one of an archive whose exports have changed since its first."""
    for name in every_kind.KINDS:
        (folder / name).mkdir(parents=True)
        every_kind.make(folder / name, name)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        begun = list(pool.map(_start, [folder / name for name in every_kind.KINDS]))
    later = archive.clone(folder / "chat-undisturbed", folder / LATER)
    every_kind.change(later, seed=0)
    return [*begun, _start(later)]


def _start(folder: Path) -> Start:
    undisturbed = archive.clone(folder, folder.with_name(f"{folder.name}-undisturbed"))
    started = time.monotonic()
    ended = interruption.run(undisturbed, *_SYNC)
    assert ended.code in (0, 1), ended.said
    names = [name for name, _ in ended.reached]
    private = [number for number, (_, path) in enumerate(ended.reached) if path.startswith(".relrag/private/records/")]
    return Start(folder.name, folder, names, max(private) + 1, time.monotonic() - started)


def moment(start: Start, pick: random.Random) -> Place | float:
    """Where a sync is killed: half of the times in the exports, a quarter anywhere, a quarter after some seconds."""
    way = pick.random()
    if way < 0.25:
        return pick.uniform(0.05, 1) * start.seconds
    number = pick.randrange(start.exports if way < 0.75 else len(start.places))
    return Place(start.places[number], start.places[: number + 1].count(start.places[number]))


def cut_short(start: Start, at: Place | float, scratch: Path, seed: int) -> list[str]:
    """Kills a sync, changes the exports, syncs again, and says what is not as it should be."""
    folder = archive.clone(start.folder, scratch / "killed")
    interruption.run(folder, *_SYNC, at=at)
    every_kind.change(folder, seed)
    # what was published is protected: only before the first generation a sync takes records away unasked
    published = generations.current_number(archive.home(folder)) is not None
    again = interruption.run(folder, *(_SYNC if published else ("sync",)))
    if again.code not in (0, 1):
        return [f"the next sync ended with {again.code}: {again.said}"]
    wrong = []
    once_more = interruption.run(folder, "sync")
    if once_more.code or "Nothing to do" not in once_more.said:
        wrong.append(f"the sync after that ended with {once_more.code}: {once_more.said}")
    if code := interruption.run(folder, "verify").code:
        wrong.append(f"relrag verify ended with {code}")
    clean = clean_build.copy_exports(folder, scratch / "clean")
    first = interruption.run(clean.parent, "sync")
    if first.code not in (0, 1):
        return [*wrong, f"a first sync of the same ended with {first.code}: {first.said}"]
    differ = clean_build.differences(folder / "relrag.toml", clean)
    if differ:
        wrong.append(f"differs from a first sync of the same: {', '.join(differ)}")
    shutil.rmtree(scratch)
    return wrong


def main() -> None:
    """Prints every kill after which something was wrong, and exits with 1 if there was one."""
    count, seed = (int(word) for word in (*sys.argv[1:], *(str(KILLS), "1")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp())
    began = time.monotonic()
    try:
        found, pick = starts(folder), random.Random(seed)
        for one in found:
            print(
                f"{one.name}: {len(one.places)} places, {one.exports} of the exports; {one.seconds:.0f} s", flush=True
            )
        cases = [(start, moment(start, pick)) for start in (found[number % len(found)] for number in range(count))]

        def one_of(number: int) -> int:
            start, at = cases[number]
            wrong = cut_short(start, at, folder / str(number), seed * 1_000 + number)
            for line in wrong or ["made good"]:
                print(f"{number} {start.name} {at}: {line}", flush=True)
            return bool(wrong)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            bad = sum(pool.map(one_of, range(len(cases))))
        print(f"{len(cases)} kills and changed exports, {bad} not made good; {time.monotonic() - began:.0f} s")
    finally:
        shutil.rmtree(folder)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
