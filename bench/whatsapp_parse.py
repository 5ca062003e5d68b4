"""How fast WhatsApp exports are read, against a plain compiled pattern with datetime on the same file.

All in one process, by turns, in the processor's time of that process, and the best turn of each counts: what else runs
on the machine can only add. Each turn begins with no garbage waiting to be collected.

The floor does what a script for one export does: a pattern made for its one form, a datetime of the chat's zone built
from the numbers, lines that continue a message joined to it. It knows no charset, no order of day and month, no notes,
and makes no ids; `read` does all of it, in two passes. Two other floors are shown beside it: one that leaves the time
as the phone's clock had it, which is no moment yet, and one with strptime. `python -m bench.whatsapp_parse` prints the
figures.
"""

from __future__ import annotations

import collections
import gc
import random
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from bench.clock import best
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.whatsapp import read

LINES = 40_000
"""about what WhatsApp exports at most: 40,000 messages without media"""
RUNS = 11
ZONE = ZoneInfo("Asia/Jerusalem")
NAMES = ("Alice Cohen", "Bob", "+972 54-123-4567", "Dana Levi", "שירן")
WORDS = (
    *("hello", "how", "are", "you", "today", "we", "will", "meet", "at", "the", "station", "then", "go", "home"),
    *("לילה", "טוב", "dobrý", "den", "přijď", "see", "invoice"),
)
PATTERN = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}), (\d{1,2}):(\d{2}) - (?:([^:]+): )?(.*)")
PATTERN_FOR_STRPTIME = re.compile(r"(\d{1,2}/\d{1,2}/\d{4}, \d{1,2}:\d{2}) - (?:([^:]+): )?(.*)")


def write_chat(file: Path, lines: int = LINES) -> None:
    """A chat in the form of Android: of 100 messages some 6 have several lines, 4 are omitted media, 3 name a file."""
    rng = random.Random(7)
    moment = datetime(2012, 1, 1)  # noqa: DTZ001  the clock of a phone
    written = 0
    with file.open("w", encoding="utf-8") as out:
        while written < lines:
            moment += timedelta(minutes=rng.choice((0, 0, 1, 1, 2, 3, 20, 90)))
            text = _say(rng)
            kind = rng.random()
            if kind < 0.06:
                text = "\n".join(_say(rng) for _ in range(rng.randrange(2, 5)))
            elif kind < 0.10:
                text = "<Media omitted>"
            elif kind < 0.13:
                text = f"IMG-20200101-WA{written:06}.jpg (file attached)"
            begin = f"{moment.day:02}/{moment.month:02}/{moment.year}, {moment.hour:02}:{moment.minute:02} - "
            message = f"{begin}{rng.choice(NAMES)}: {text}\n" if kind < 0.99 else f"{begin}Bob added Dana Levi\n"
            written += message.count("\n")
            out.write(message)


def plain(file: Path, zone: ZoneInfo | None) -> Iterator[dict[str, Any]]:
    """The floor: when (seconds UTC; without a zone a local datetime), who and what, of each message."""
    last: dict[str, Any] = {}
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if match := PATTERN.match(line):
                if last:
                    yield last
                day, month, year, hour, minute, sender, text = match.groups()
                at = datetime(int(year), int(month), int(day), int(hour), int(minute), 0, 0, zone)
                last = {"at": int(at.timestamp()) if zone else at, "sender": sender, "text": text}
            else:
                last["text"] += "\n" + line.rstrip("\n")
    yield last


def plain_strptime(file: Path) -> Iterator[dict[str, Any]]:
    """The same without a zone, with strptime."""
    last: dict[str, Any] = {}
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if match := PATTERN_FOR_STRPTIME.match(line):
                if last:
                    yield last
                at = datetime.strptime(match[1], "%d/%m/%Y, %H:%M")  # noqa: DTZ007  as written
                last = {"at": at, "sender": match[2], "text": match[3]}
            else:
                last["text"] += "\n" + line.rstrip("\n")
    yield last


def measure() -> dict[str, float]:
    """Messages a second of the reader and of the floors, and the reader's time as a multiple of theirs."""
    keys = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
    reading = ReadContext("bench", ZONE.key, keys.id_hash)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "WhatsApp Chat with Dana.txt")
        write_chat(file)
        unit = Unit(file.name, file, file.stat().st_size, 0)
        messages = sum(1 for _ in plain(file, None))
        found = sum(isinstance(item, Record) and item.parent_asset_id is None for item in read(unit, reading))
        assert found == messages, f"{found} messages read of {messages}"
        took = best(
            RUNS,
            ours=lambda: _seconds(read(unit, reading)),
            floor=lambda: _seconds(plain(file, ZONE)),
            local=lambda: _seconds(plain(file, None)),
            strptime=lambda: _seconds(plain_strptime(file)),
        )
    rates = {f"{name}_messages_per_s": round(messages / seconds) for name, seconds in took.items()}
    others = [name for name in took if name != "ours"]
    return {**rates, **{f"ratio_to_{name}": round(took["ours"] / took[name], 2) for name in others}}


def _seconds(items: Iterable[object]) -> float:
    gc.collect()
    begun = time.process_time()
    collections.deque(items, maxlen=0)
    return time.process_time() - begun


def _say(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randrange(1, 20)))


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:24} {value:,.2f}")
