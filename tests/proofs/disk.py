"""Shows what a full disk does to a sync (`make crash`; minutes).

RELRAG_HOME is a file system in memory with from none to twice the room that a sync takes, in 50 steps. Every sync that
does not find enough has to say how much is needed and where, and end with 2; the old generation has to be served; and
once there is room, the next sync has to leave what an undisturbed one leaves. Where file systems may not be mounted,
a writer that fails from one of 50 seeded places on stands in.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import archive, interrupted
from tests.interrupted import Ended
from tests.proofs.crash import Scenario, answer, places, scenarios

STEPS = 50
_BYTES = 256 * 2**20
_BEFORE_VECTORS = 8 * 2**20
_INSIDE = "inside"


@contextmanager
def mounted(scenario: Scenario, scratch: Path) -> Iterator[Path]:
    """A copy of the archive whose RELRAG_HOME is a file system of its own."""
    folder = interrupted.clone(scenario.folder, scratch)
    home, aside = archive.home(folder), folder / "aside"
    if home.exists():
        home.rename(aside)
    home.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_BYTES}", "home", home], check=True)
    try:
        if aside.exists():
            interrupted.clone(aside, home)
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
        assert interrupted.run(folder, *scenario.words).code == 0
        done.set()
        thread.join()
        return before - least


def rooms(most: int, count: int) -> list[int]:
    """So many amounts of room, half of them too small for all that comes before the vectors, which take the most."""
    few = [_BEFORE_VECTORS * step // (count // 2) for step in range(count // 2)]
    more = count - len(few)
    return few + [_BEFORE_VECTORS + (2 * most - _BEFORE_VECTORS) * step // more for step in range(more)]


def wrong_with(scenario: Scenario, folder: Path, ended: Ended, make_room: Path | None) -> list[str]:
    """What is not as it should be after a sync that had too little room, and after the next one."""
    home, wrong = archive.home(folder), []
    if ended.code not in (0, 2):
        wrong.append(f"ended with {ended.code}: {ended.said}")
    if ended.code == 2 and not (
        "no space is left" in ended.said and "a sync needs up to" in ended.said and str(home) in ended.said
    ):
        wrong.append(f"does not say what is needed: {ended.said}")
    try:
        if answer(folder) not in (scenario.answers if ended.code == 0 else scenario.answers[:1]):
            wrong.append("something else than the old generation is served")
    except Exception as error:
        wrong.append(f"nothing is served: {error!r} {error.__cause__!r}")
    if make_room:
        make_room.unlink()
    again = interrupted.run(folder, *scenario.words)
    if again.code:
        wrong.append(f"the next sync ended with {again.code}: {again.said}")
    state = interrupted.state(home)
    wrong += [
        f"{key} differs"
        for key in sorted(state.keys() | scenario.state.keys())
        if state.get(key) != scenario.state.get(key)
    ]
    return wrong + [f"a run is shown as {status}" for status in interrupted.unfinished_runs(home)]


def full_at(scenario: Scenario, room: int, scratch: Path) -> tuple[Ended, list[str]]:
    """A sync with so many bytes of room, and what was wrong."""
    with mounted(scenario, scratch) as folder:
        home = archive.home(folder)
        filler = home / "filler"
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, shutil.disk_usage(home).free - room))
        ended = interrupted.run(folder, *scenario.words)
        return ended, wrong_with(scenario, folder, ended, filler)


def main() -> None:
    """Prints a line for every step, and exits with 1 if anything was wrong."""
    words = [word for word in sys.argv[1:] if word != _INSIDE]
    steps = int(words[0]) if words else STEPS
    if _INSIDE not in sys.argv and shutil.which("unshare"):
        # a file system that only this process and its children see, and that goes when they end
        again = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-m", "tests.proofs.disk"]
        if (
            subprocess.run(
                [*again[:4], "mount", "-t", "tmpfs", "home", "/mnt"], check=False, capture_output=True
            ).returncode
            == 0
        ):
            os.execvp(again[0], [*again, *words, _INSIDE])  # noqa: S606  a fixed list
    folder, bad, started = Path(tempfile.mkdtemp()), 0, time.monotonic()
    found = {scenario.name: scenario for scenario in scenarios(folder)}
    chosen = [found["first"], found["less"]]
    if _INSIDE in sys.argv:
        for scenario in chosen:
            most = most_room(scenario, folder / "most")
            print(f"{scenario.name}: a sync takes up to {most / 2**20:.1f} MiB", flush=True)
            for step, room in enumerate(rooms(most, steps // 2)):
                ended, wrong = full_at(scenario, room, folder / str(step))
                bad += bool(wrong)
                print(
                    f"{scenario.name}, {room / 2**20:.1f} MiB free: ended with {ended.code}",
                    *wrong,
                    sep="\n  ",
                    flush=True,
                )
    else:
        print("file systems cannot be mounted here; a failing writer stands in")
        for number, (scenario, place, _) in enumerate(places(chosen, steps, 3)):
            copy = interrupted.clone(scenario.folder, folder / str(number))
            ended = interrupted.run(copy, *scenario.words, at=place, how="full")
            wrong = wrong_with(scenario, copy, ended, None)
            bad += bool(wrong)
            print(f"{scenario.name}, {place}: ended with {ended.code}", *wrong, sep="\n  ", flush=True)
    print(f"{steps} full disks, {bad} not made good; {time.monotonic() - started:.0f} s")
    shutil.rmtree(folder)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
