"""Shows that readers are served one whole generation while generations are swapped (`make crash`; a minute).

Four processes open the archive, search and close it again, 1,000 times in all, while two editions of an archive take
each other's place and the older one is removed at once. Every answer has to come from one edition.

How much longer a read may take is asked of what a swap can cost a reader: its own work and its waiting for files and
locks. The time that a process waited for a core is taken out, since four readers, a writer and whatever else this
machine does share its cores; both are printed. The slowest hundredth of the reads may take twice what it takes without
swaps, measured in turn.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path

from relrag_pipelines.files import sparse_files
from relrag_pipelines.stores import generations
from relrag_query.archive import Archive
from tests import interruption, query_hits

READERS, READS, NOTES, SWAPS = 4, 1000, 400, 200
ROUNDS = 5
"""rounds of reads without swaps and with them, so that whatever else the machine does falls on both"""
EDITIONS = ("morning", "evening")


@dataclass(frozen=True)
class Read:
    """One search, from opening the archive to closing it."""

    seconds: float
    """from beginning to end"""
    busy: float
    """of these, not waiting for a core; the same where the system does not tell"""
    wrong: str
    """what was not as it should be, or empty"""


def editions(folder: Path) -> list[Path]:
    """Two archives that differ in every text, built and not yet sealed, in folders of their own."""
    built = []
    for edition in EDITIONS:
        place = folder / edition
        place.mkdir()
        texts = [f"The {edition} edition brings page {number} of the report" for number in range(NOTES)]
        query_hits.publish(place, [query_hits.record(f"jsonl:{n}", text) for n, text in enumerate(texts)])
        built.append(place / ".relrag" / "published" / "1")
    return built


def swap(home: Path, built: list[Path], prepared: Path | None = None) -> int:
    """Publishes the edition whose turn it is, and keeps no other; returns its number."""
    place = prepared or prepare(home.parent / "prepared", home, built)
    generations.begin(home).rmdir()
    place.rename(generations.build_folder(home))
    number = generations.finish(home, {"edition": "", "counts": {"chunks": NOTES}}, query_hits.NOW, forget=True).number
    generations.sweep(home, keep=1)
    return number


def prepare(place: Path, home: Path, built: list[Path], ahead: int = 1) -> Path:
    """A copy of the edition that is to be the next, or later, generation."""
    sparse_files.copy_with_holes(built[((generations.current_number(home) or 0) + ahead) % 2], place)
    (place / "MANIFEST.json").unlink()
    return place


def read(config: Path) -> Read:
    """Searches once and compares what was found with the generation that it came from."""
    started, waited = time.perf_counter(), _waited()
    try:
        with Archive.open(config) as archive:
            texts = {hit.chunk.text.split()[1] for hit in archive.search("edition of the report").hits}
            expected = {EDITIONS[archive.generation.number % 2]}
        wrong = "" if texts == expected else f"{texts} in an edition of {expected}"
    except Exception as error:
        wrong = repr(error)
    seconds = time.perf_counter() - started
    return Read(seconds, seconds - (_waited() - waited), wrong)


def _waited() -> float:
    """Seconds that this thread has waited for a core; 0 where the system does not tell."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def while_reading(config: Path, readers: int, reads: int, meanwhile: Callable[[], None]) -> list[Read]:
    """What `readers` processes saw in `reads` searches each, while something is done again and again."""
    begin, done = interruption.processes.Event(), []
    queue = interruption.processes.Queue()
    started = [
        interruption.processes.Process(target=_reads, args=(config, reads, begin, queue)) for _ in range(readers)
    ]
    for process in started:
        process.start()
    begin.set()
    while len(done) < readers:
        meanwhile()
        while not queue.empty():
            done.append(queue.get())
    for process in started:
        process.join()
    return [one for each in done for one in each]


def _reads(config: Path, reads: int, begin: Event, queue: object) -> None:
    read(config)  # imports
    begin.wait()
    queue.put([read(config) for _ in range(reads)])  # type: ignore[attr-defined]


def main() -> None:
    """Prints what readers saw and how long it took them; exits with 1 if that was not as it should be.

    The number of reads may be given.
    """
    each = int(sys.argv[1] if len(sys.argv) > 1 else READS) // READERS // ROUNDS
    folder = Path(tempfile.mkdtemp())
    config = folder / "relrag.toml"
    config.write_text('archive = "test"\nkeys_file = "test.keys"\nembedder = "none"\n')
    home, built = folder / ".relrag", editions(folder)
    swap(home, built)
    prepared = [prepare(folder / f"prepared-{number}", home, built, number) for number in range(1, SWAPS + 1)]
    quiet, swapped, swaps = [], [], 0

    def swapping() -> None:
        nonlocal swaps
        if swaps < len(prepared):
            swap(home, built, prepared[swaps])
            swaps += 1
        time.sleep(0.05)

    for _ in range(ROUNDS):
        quiet += while_reading(config, READERS, each, lambda: time.sleep(0.05))
        swapped += while_reading(config, READERS, each, swapping)
    wrong = [one.wrong for one in (*quiet, *swapped) if one.wrong]
    print(
        f"{len(swapped)} reads from {READERS} processes during {swaps} swaps: {len(wrong)} wrong",
        *wrong[:5],
        sep="\n  ",
    )
    for what, reads in (("without swaps", quiet), ("during swaps", swapped)):
        for how, times in (
            ("in all", [one.seconds for one in reads]),
            ("but for waiting for a core", [one.busy for one in reads]),
        ):
            print(f"{what}, {how}: p50 {statistics.median(times) * 1e3:.1f} ms, p99 {_p99(times) * 1e3:.1f} ms")
    slow = _slowest(swapped) > 2 * _slowest(quiet)
    if slow:
        print("the slowest reads take more than twice as long during swaps as without")
    shutil.rmtree(folder)
    sys.exit(bool(wrong or slow or not swaps))


def _slowest(reads: list[Read]) -> float:
    return _p99([one.busy for one in reads])


def _p99(times: list[float]) -> float:
    return statistics.quantiles(times, n=100)[98]


if __name__ == "__main__":
    main()
