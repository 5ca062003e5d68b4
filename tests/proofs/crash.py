"""Shows that a sync may be killed anywhere (`make crash`; minutes).

Real `relrag sync` processes are killed at 100 seeded places, and at 10 moments, of five syncs: the first, one with
something new, one that changes and deletes, one of which a source is taken away, and a first one that other processes
help. After each the next sync has to leave exactly what an undisturbed one leaves, and a reader that asks all the while
has to be given the old archive or the new.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from relrag_pipelines.stores import lock
from relrag_query.archive import Archive, ArchiveError
from tests import archive, interruption
from tests.interruption import How, Place

PLACES, MOMENTS, AT_ONCE = 100, 10, 2
E5 = 'embedder = "e5"'
"""the built-in model, as an archive has it whose owner chose nothing"""
QUESTIONS = ("boiler of the cabin", "orangery conservatory", "plumber")
Answer = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Scenario:
    """An archive before a sync, and what an undisturbed sync makes of it."""

    name: str
    folder: Path
    words: tuple[str, ...]
    reached: list[tuple[str, str]]
    seconds: float
    state: dict[str, Any]
    answers: tuple[Answer | None, Answer | None]
    """before and after; None where nothing is published"""


def scenarios(folder: Path) -> list[Scenario]:
    """The syncs that are cut short, each with the archive before it."""
    found: list[Scenario] = []

    def after(name: str) -> Path:
        changed = folder / name
        if found:
            archive.clone(folder / f"{found[-1].name}-undisturbed", changed)
        return changed

    first = after("first")
    first.mkdir()
    archive.make(first, E5)
    (first / "notes.jsonl").unlink()
    config = first / "relrag.toml"
    config.write_text(config.read_text().split('[[sources]]\nname = "notes"')[0])
    found.append(scenario(first, "sync"))

    more = after("more")
    with (more / "chats" / "WhatsApp Chat with Hiking.txt").open("a") as file:
        file.write("15/02/2024, 08:00 - Petr Kolar: The plumber comes on Friday\n")
    (more / "papers" / "annex 2024-03-05.md").write_text("# Annex\n\nThe plumber may enter the cellar.\n")
    found.append(scenario(more, "sync"))

    less = after("less")
    (less / "chats" / "WhatsApp Chat with Hiking.txt").write_text("".join(archive.CHAT.splitlines(True)[:3]))
    (less / "papers" / "annex 2024-03-05.md").unlink()
    (less / "papers" / "lease 2024-01-05.md").write_text(archive.LEASE.replace("orangery", "conservatory"))
    found.append(scenario(less, "sync"))

    without = after("without")
    config = without / "relrag.toml"
    config.write_text(config.read_text().split('[[sources]]\nname = "papers"')[0])
    found.append(scenario(without, "sync", "--accept-deletions"))

    helped = folder / "helped"
    helped.mkdir()
    archive.many_notes(helped, extra=E5)
    (helped / interruption.HELPED).touch()
    found.append(scenario(helped, "sync"))
    return found


def places(found: list[Scenario], count: int, seed: int) -> list[tuple[Scenario, Place, How]]:
    """Seeded places: first one of every kind of place of every scenario, then any."""
    pick = random.Random(seed)
    kinds: dict[tuple[str, str, str], list[tuple[Scenario, Place, How]]] = {}
    for scenario in found:
        visits: Counter[str] = Counter()
        for name, path in scenario.reached:
            visits[name] += 1
            how: How = "tear" if name == "file.fsync" and ".tmp" in path else "kill"
            kind = re.sub(r"\d{4}-\d\d|[0-9a-f-]{20,}|\d+|chat|papers", "_", path)
            kinds.setdefault((scenario.name, name, kind), []).append((scenario, Place(name, visits[name]), how))
    chosen = [pick.choice(kinds[kind]) for kind in pick.sample(sorted(kinds), len(kinds))]
    turns: Counter[str] = Counter()
    ranked = []
    for one in chosen:
        turns[one[1].name] += 1
        ranked.append((turns[one[1].name], one))
    # one of every name, then the second of each, so that a few places are as different as can be
    ordered = [one for _, one in sorted(ranked, key=lambda pair: pair[0])]
    rest = [one for kind in sorted(kinds) for one in kinds[kind] if one not in ordered]
    return (ordered + pick.sample(rest, len(rest)))[:count]


def scenario(folder: Path, *words: str) -> Scenario:
    """The archive in that folder, and what such a command makes of it."""
    undisturbed = archive.clone(folder, folder.with_name(f"{folder.name}-undisturbed"))
    started = time.monotonic()
    ended = interruption.run(undisturbed, *words)
    seconds = time.monotonic() - started
    assert ended.code == 0, ended.said
    answers = (answer(folder), answer(undisturbed))
    state = interruption.state(archive.home(undisturbed))
    return Scenario(folder.name, folder, words, ended.reached, seconds, state, answers)


def answer(folder: Path) -> Answer | None:
    """What a reader is told; None where nothing is published yet."""
    try:
        with Archive.open(folder / "relrag.toml") as opened:
            records = opened.generation.manifest["counts"]["records"]
            hits = [tuple(hit.chunk.text for hit in opened.search(question).hits) for question in QUESTIONS]
            return ((str(records),), *hits)
    except ArchiveError as error:
        if "nothing is published yet" in str(error):
            return None
        raise


@contextmanager
def reading(folder: Path) -> Iterator[list[Answer | str | None]]:
    """A process that asks again and again; on leaving the list holds its distinct answers in order, and errors."""
    here, there = interruption.processes.Pipe()
    process = interruption.begin(_read, folder, there)
    seen: list[Answer | str | None] = []
    try:
        yield seen
    finally:
        here.send("stop")
        seen += here.recv()
        interruption.end(process)


def _read(folder: Path, told: Connection) -> None:
    seen: list[Answer | str | None] = []
    while True:
        last = told.poll(0.1)
        try:
            said: Answer | str | None = answer(folder)
        except Exception as error:
            said = repr(error)
        if not seen or seen[-1] != said:
            seen.append(said)
        if last:
            told.send(seen)
            return


def cut_short(scenario: Scenario, at: Place | float, how: How, scratch: Path) -> list[str]:
    """Kills a sync, syncs again, and says what is not as it should be; `at` a place, or after so many seconds."""
    folder = archive.clone(scenario.folder, scratch)
    home = archive.home(folder)
    wrong = []
    # a generation that is being read is not removed, so there nobody reads
    removing = isinstance(at, Place) and at.name in ("generation.retire", "generation.remove")
    with nullcontext([]) if removing else reading(folder) as seen:
        ended = interruption.run(folder, *scenario.words, at=at, how=how)
        if ended.code != -9 and isinstance(at, Place):
            wrong.append(f"was not killed but ended with {ended.code}")
        if (home / "lock").exists() and lock.holder(home):
            wrong.append("the lock is still held")
        if answer(folder) not in scenario.answers:
            wrong.append("neither the old nor the new archive is served after the kill")
        again = interruption.run(folder, *scenario.words)
    if again.code:
        wrong.append(f"the next sync ended with {again.code}: {again.said}")
    once_more = interruption.run(folder, *scenario.words)
    if once_more.code or "Nothing to do" not in once_more.said:
        wrong.append(f"the sync after that ended with {once_more.code}: {once_more.said}")
    if verify := interruption.run(folder, "verify").code:
        wrong.append(f"relrag verify ended with {verify}")
    expected = [one for one in scenario.answers if one in seen]
    if seen != expected and not removing:
        wrong.append(f"a reader was told: {seen}")
    state = interruption.state(home)
    differ = [key for key in sorted(state.keys() | scenario.state.keys()) if state.get(key) != scenario.state.get(key)]
    if differ:
        wrong.append(f"differs from an undisturbed sync: {', '.join(differ)}")
    if runs := interruption.unfinished_runs(home):
        wrong.append(f"Dagster shows runs as {', '.join(runs)}")
    shutil.rmtree(folder)
    return wrong


def main() -> None:
    """Prints every place where something was wrong, and exits with 1 if there was one."""
    count, seed = (int(word) for word in (*sys.argv[1:], *(str(PLACES), "1")[len(sys.argv) - 1 :]))
    folder = Path(tempfile.mkdtemp())
    started = time.monotonic()
    try:
        found = scenarios(folder)
        for one in found:
            print(
                f"{one.name}: {len(one.reached)} places of {len({name for name, _ in one.reached})} names", flush=True
            )
        pick = random.Random(seed)
        cases: list[tuple[Scenario, Place | float, How]] = [*places(found, count, seed)]
        for _ in range(count * MOMENTS // PLACES):
            scenario = pick.choice(found)
            cases.append((scenario, pick.uniform(0.05, 1) * scenario.seconds, "kill"))

        def one_of(number: int) -> int:
            scenario, at, how = cases[number]
            wrong = cut_short(scenario, at, how, folder / str(number))
            for line in wrong or ["made good"]:
                print(f"{number} {scenario.name} {how} {at}: {line}", flush=True)
            return bool(wrong)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            bad = sum(pool.map(one_of, range(len(cases))))
        names = Counter(at.name for _, at, _ in cases if isinstance(at, Place))
        print(", ".join(f"{name} {times}" for name, times in sorted(names.items())))
        print(f"{len(cases)} kills, {bad} not made good; {time.monotonic() - started:.0f} s")
    finally:
        shutil.rmtree(folder)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
