"""Mutated samples of every kind: nothing crashes, hangs, or grows without bounds.

`make fuzz` reads 20,000 mutations of each kind, or of the one that is named; `make test` reads 200. Every mutation has
to give records or failures. None may take five seconds of processor time, nor hit a fault of the reader's own
(`internal`). A mutation that does is told by kind, seed and number, which make it again.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from relrag_pipelines.ingest.unit_records import _reader_failure
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, Kind, ReadContext, Unit
from relrag_pipelines.workers import sandbox
from tests import ROOT
from tests.proofs.mail_fuzz import mutated

SECONDS = 5.0
MEBIBYTES = 1024
COUNT = 20_000
EXAMPLES = ROOT / "examples"
_SAMPLES = {
    "whatsapp": ("archive/whatsapp",),
    "gmail": ("archive/mail",),
    "call_recording": ("archive/calls",),
    "meeting": ("archive/meetings",),
    "contacts": ("archive/contacts", "samples/linkedin"),
    "document": ("samples/document", "archive/documents"),
    "jsonl": ("archive", "samples"),
}
"""kind -> folders of its samples, where that is not `samples/<kind>`"""
_LARGEST = 2**18
"""bytes of a sample that is mutated"""
KINDS_TO_FUZZ = tuple(
    kind.name for kind in KINDS.values() if kind.suffixes and not (kind.always_remote or kind.discovers_units)
)


def samples(kind: Kind) -> list[tuple[str, bytes]]:
    """Names and bytes of the samples of a kind."""
    folders = [EXAMPLES / folder for folder in _SAMPLES.get(kind.name, (f"samples/{kind.name}",))]
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]
    named = [file for file in files if kind.matches(file.name) and file.stat().st_size <= _LARGEST]
    return [(file.name, file.read_bytes()) for file in named if _is_of_kind(kind, file)]


def _is_of_kind(kind: Kind, file: Path) -> bool:
    try:
        return kind.recognise(file)
    except OSError:
        return False


def fuzz(kind: Kind, count: int, seed: int = 0) -> Counter[str]:
    """Reads so many mutations of a kind's samples; how often each outcome came."""
    keys = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
    reading = ReadContext("fuzz", "UTC", keys.id_hash, parser_max_seconds=int(SECONDS))
    originals = samples(kind)
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            outcomes[_read_mutation(kind, reading, originals, Path(folder), f"{seed}:{number}")] += 1
    return outcomes


def _read_mutation(
    kind: Kind, reading: ReadContext, originals: Sequence[tuple[str, bytes]], folder: Path, number: str
) -> str:
    rng = random.Random(f"{kind.name}:{number}")
    name, data = rng.choice(originals)
    data = mutated(data, rng, [other for _, other in originals])
    file = folder / name
    file.write_bytes(data)
    begin = time.process_time()  # a busy machine is no fault of the reader
    items = list(_items(kind, Unit(name, file, len(data), 10**18), reading))
    seconds = time.process_time() - begin
    file.unlink()
    what = f"mutation {number} of {kind.name}, {name}"
    faults = [item.fault for item in items if isinstance(item, Failure)]
    assert seconds < SECONDS, f"{what} takes {seconds:.1f} s"
    assert "internal" not in faults, f"{what}: {items[-1]}"
    is_read = any(isinstance(item, Record) for item in items)
    return "read" if is_read else next(iter(faults), "nothing")


def _items(kind: Kind, unit: Unit, reading: ReadContext) -> Iterator[object]:
    """What a reader yields; an exception becomes a failure, as in a sync."""
    try:
        yield from kind.read(unit, reading)
    except Exception as error:
        yield _reader_failure(error, kind.name)


def main(arguments: Sequence[str]) -> None:
    """Fuzzes the named kind or all kinds, so many times each."""
    names = [name for name in arguments if name in KINDS] or KINDS_TO_FUZZ
    count = next((int(argument) for argument in arguments if argument.isdigit()), COUNT)
    for name in names:
        begin = time.perf_counter()
        outcomes = fuzz(KINDS[name], count)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{name}: {count:,} in {time.perf_counter() - begin:.0f} s, {peak} MiB: {dict(outcomes)}", flush=True)
        assert peak < MEBIBYTES, f"{peak} MiB is more than {MEBIBYTES}"
    sandbox.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
