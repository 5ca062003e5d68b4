"""How fast commits are read from what git prints, against a plain split of the same bytes at NUL.

The log is made: 40,000 commits with five files each, one in ten with a co-author, one in twenty a merge, and messages
that name issues and other commits. git itself has no part in it. The floor splits and decodes the bytes and makes no
record; `read` makes whole records with branches, people, issues and resolved references. `python -m bench.git` prints
the figures.
"""

from __future__ import annotations

import hashlib
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.clock import medians
from bench.measurement import Figure
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.git import read
from relrag_pipelines.sources.unit_files import unit_of

COMMITS = 40_000
RUNS = 3
LEAST = 20_000
"""commits a second"""
_WORDS = (
    "fix",
    "add",
    "remove",
    "the",
    "order",
    "form",
    "of",
    "users",
    "when",
    "token",
    "is",
    "empty",
    "přidat",
    "test",
)
_PEOPLE = ("Jan Novák", "Marie Dvořáková", "Alex Rubin", "שירן תמיר")


def write_log(file: Path, commits: int = COMMITS) -> None:
    """A saved log of so many commits, newest first."""
    rng = random.Random(7)
    hashes = [hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest() for number in range(commits)]
    with file.open("wb") as out:
        for place, name in enumerate(hashes):
            parents = hashes[place + 1 : place + 2 + (rng.random() < 0.05)]
            refs = "HEAD -> refs/heads/main" if place == 0 else ""
            who = rng.choice(_PEOPLE)
            by = [who, f"{who.split()[0].lower()}@firma.cz", f"{1_700_000_000 - 600 * place} +0100"]
            message = f"{_say(rng, 6)} (#{place})\n\n{_say(rng, 40)}\n"
            if rng.random() < 0.1:
                message += f"\nThis reverts commit {rng.choice(hashes)}.\n"
            if rng.random() < 0.1:
                message += "\nCo-authored-by: Petr Svoboda <petr@firma.cz>\n"
            paths = [f"src/module{rng.randrange(90)}/file{rng.randrange(900)}.py" for _ in range(5)]
            files = [part for path in paths for part in ("M", path)]
            fields = ["", f"commit {name}", " ".join(parents), refs, *by, *by, message, "\n" + files[0], *files[1:], ""]
            out.write("\0".join(fields).encode())


def plain(file: Path) -> int:
    """The floor: how many fields there are."""
    return len(file.read_bytes().decode().split("\0"))


def measure(commits: int = COMMITS) -> list[Figure]:
    """Commits a second of processor time, alone and against the floor."""
    reading = ReadContext("bench", "UTC", Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1").id_hash)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "bench.gitlog")
        write_log(file, commits)
        unit = unit_of(file, file.parent)
        read_all = list(read(unit, reading))
        assert sum(isinstance(one, Record) for one in read_all) == len(read_all) == commits
        del read_all
        took = medians(
            RUNS,
            ours=lambda: _seconds(lambda: sum(1 for _ in read(unit, reading))),
            floor=lambda: _seconds(lambda: plain(file)),
        )
    ours, floor = (round(commits / took[name]) for name in ("ours", "floor"))
    return [
        Figure("reading a log of git", ours, "commits/s", at_least=LEAST),
        Figure("the same", ours, "commits/s", floor, "a plain split"),
    ]


def _seconds(run: Callable[[], int]) -> float:
    begun = time.process_time()
    run()
    return time.process_time() - begun


def _say(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(_WORDS, k=count))


if __name__ == "__main__":
    for figure in measure():
        print(*figure.cells(), sep="  ")
