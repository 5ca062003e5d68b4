"""How fast transcripts are read: 200 meetings of an hour as captions, from bytes to records, against the gate.

The floor is what nobody can do without: reading the bytes, decoding them, and cutting them at empty lines. It knows no
times, voices or faults. `python -m bench.transcripts` prints the figures in MB/s.
"""

from __future__ import annotations

import functools
import random
import tempfile
import time
from pathlib import Path

from bench.clock import medians
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.sources import KINDS, ReadContext, Unit

MEETINGS = 200
CUES = 1_000
"""of one meeting, which lasts a little over an hour"""
RUNS = 3
GATE = 20.0
"""MB/s"""
NAMES = ("Jan Novák", "Petr Svoboda", "Marie Dvořáková", "שירן תמיר", "Alex Rubin")
WORDS = (
    *("we", "move", "the", "login", "to", "a", "service", "of", "its", "own", "until", "March", "invoice", "agreed"),
    *("dobře", "příští", "týden", "לילה", "טוב"),
)


def write(file: Path, seed: int = 7, cues: int = CUES) -> None:
    """Captions in the manner of Teams (voice tags), of Zoom (`Name: text`) or of SubRip, by the file's name."""
    rng = random.Random(seed)
    comma = "," if file.suffix == ".srt" else "."
    with file.open("w", encoding="utf-8") as out:
        out.write("" if file.suffix == ".srt" else "WEBVTT\n\n")
        for number in range(cues):
            name = NAMES[number // 3 % len(NAMES)]
            said = " ".join(rng.choices(WORDS, k=rng.randrange(5, 16)))
            text = f"<v {name}>{said}</v>" if "teams" in file.name else f"{name}: {said}"
            out.write(f"{number + 1}\n{_time(number * 4.0, comma)} --> {_time(number * 4 + 3.5, comma)}\n{text}\n\n")


def measure(meetings: int = MEETINGS) -> dict[str, float]:
    """MB/s of the reader for each manner, and of the floor."""
    found: dict[str, float] = {}
    reading = ReadContext("bench", "Europe/Prague", Keys(b"i" * 32, b"p" * 32, "k1").id_hash)
    for manner in ("teams.vtt", "zoom.vtt", "subrip.srt"):
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, f"{number}-{manner}") for number in range(meetings)]
            for number, file in enumerate(files):
                write(file, number)
            units = [Unit(file.name, file, file.stat().st_size, 0) for file in files]
            took = medians(RUNS, ours=functools.partial(_read, units, reading), floor=functools.partial(_cut, files))
        size = sum(unit.size for unit in units) / 1e6
        found[manner], found[f"{manner} floor"] = size / took["ours"], size / took["floor"]
    return found


def _read(units: list[Unit], reading: ReadContext) -> float:
    begun = time.process_time()  # one thread, nothing waited for
    for unit in units:
        (record,) = KINDS["meeting"].read(unit, reading)
        assert isinstance(record, Record)
        assert record.spoken is not None
        assert len(record.spoken) == CUES, f"{len(record.spoken)} cues read of {CUES}"
    return time.process_time() - begun


def _cut(files: list[Path]) -> float:
    begun = time.process_time()
    for file in files:
        file.read_bytes().decode().split("\n\n")
    return time.process_time() - begun


def _time(seconds: float, comma: str) -> str:
    thousandths = round(seconds * 1000)
    minutes = thousandths // 60_000
    return f"{minutes // 60:02}:{minutes % 60:02}:{thousandths // 1000 % 60:02}{comma}{thousandths % 1000:03}"


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:24} {value:,.1f} MB/s")
