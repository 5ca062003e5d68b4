"""How fast chat exports in JSON are read, from bytes to records, and how much memory a long one takes.

Invented exports in the layout of their programs: Telegram Desktop's result.json of one chat, and pages of Meta's
"Download your information" with its encoding fault. Processor time of this process, and the best turn counts.
`python -m bench.chat_exports` prints the figures.
"""

from __future__ import annotations

import collections
import gc
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.clock import best
from bench.measurement import Figure
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.sources import KINDS, ReadContext, Unit

MESSAGES = 50_000
RUNS = 5
GATE = 100_000
"""messages a second on one core"""
NAMES = ("Alice Cohen", "Bob", "Dana Levi", "שירן", "Petr Kolář")
WORDS = (
    *("hello", "how", "are", "you", "today", "we", "will", "meet", "at", "the", "station", "then", "go", "home"),
    *("לילה", "טוב", "dobrý", "den", "přijď", "see", "invoice"),
)


def _texts(count: int) -> Iterator[tuple[int, str, str, random.Random]]:
    rng = random.Random(7)
    for number in range(count):
        yield number, rng.choice(NAMES), " ".join(rng.choices(WORDS, k=rng.randrange(1, 20))), rng


def telegram(file: Path, count: int) -> None:
    """A chat of a group: of 100 messages some 10 are answers, 4 name a photo that was left out, 2 are notices."""
    with file.open("w", encoding="utf-8") as out:
        out.write('{\n "name": "Hiking",\n "type": "private_group",\n "id": 4200000012,\n "messages": [')
        for number, name, text, rng in _texts(count):
            base = {"id": number + 1, "type": "message", "date": "2022-01-01T10:00:00"}
            base["date_unixtime"] = str(1_640_000_000 + number * 60)
            sort = rng.random()
            if sort < 0.02:
                row = base | {
                    "type": "service",
                    "actor": name,
                    "actor_id": f"user{number % 5}",
                    "action": "pin_message",
                }
                row |= {"text": "", "text_entities": []}
            else:
                row = base | {"from": name, "from_id": f"user{NAMES.index(name) + 5_000_000_000}"}
                row |= {"reply_to_message_id": number} if sort < 0.12 else {}
                row |= (
                    {"photo": "(File not included. Change data exporting settings to download.)"} if sort > 0.96 else {}
                )
                row |= {"text": text, "text_entities": [{"type": "plain", "text": text}]}
            body = json.dumps(row, ensure_ascii=False, indent=1).replace("\n", "\n  ")
            out.write(f"{',' if number else ''}\n  {body}")
        out.write("\n ]\n}\n")


def messenger(file: Path, count: int) -> None:
    """A thread, newest first, letters of other alphabets as escaped bytes: of 100 messages some 8 have a reaction."""
    with file.open("w", encoding="utf-8") as out:
        people = ",\n".join(f'    {{\n      "name": {_escaped(name)}\n    }}' for name in NAMES)
        out.write(f'{{\n  "participants": [\n{people}\n  ],\n  "messages": [')
        for number, name, text, rng in _texts(count):
            fields = [f'"sender_name": {_escaped(name)}', f'"timestamp_ms": {1_700_000_000_000 - number * 61_007}']
            fields += [f'"content": {_escaped(text)}']
            if rng.random() < 0.08:
                fields += [f'"reactions": [\n        {{ "reaction": {_escaped("👍")}, "actor": "Bob" }}\n      ]']
            fields += ['"is_geoblocked_for_viewer": false', '"is_unsent_image_by_messenger_kid_parent": false']
            body = ",\n      ".join(fields)
            out.write(f"{',' if number else ''}\n    {{\n      {body}\n    }}")
        tail = {
            "title": "Hiking",
            "is_still_participant": True,
            "thread_path": "inbox/hiking_4200000012",
            "magic_words": [],
        }
        out.write("\n  ],\n" + json.dumps(tail, indent=2).removeprefix("{\n") + "\n")


def _escaped(text: str) -> str:
    """A string as Meta writes it: each byte of UTF-8 above 127 as an escape of its own."""
    return json.dumps(text.encode().decode("latin-1"))


WRITERS: dict[str, Callable[[Path, int], None]] = {"telegram": telegram, "messenger": messenger}


def _reading(kind: str, file: Path) -> Iterator[object]:
    keys = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
    unit = Unit(file.name, file, file.stat().st_size, 0)
    return KINDS[kind].read(unit, ReadContext("bench", "Europe/Prague", keys.id_hash))


def _seconds(kind: str, file: Path) -> float:
    gc.collect()
    begun = time.process_time()
    collections.deque(_reading(kind, file), maxlen=0)
    return time.process_time() - begun


def speed(kind: str) -> float:
    """Messages a second."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "message_1.json")
        WRITERS[kind](file, MESSAGES)
        found = sum(isinstance(item, Record) for item in _reading(kind, file))
        assert found == MESSAGES, f"{found} messages read of {MESSAGES}"
        return MESSAGES / best(RUNS, ours=lambda: _seconds(kind, file))["ours"]


def growth(kind: str) -> float:
    """MB that a process takes more for ten times as many messages."""
    few, many = (_peak(kind, count) for count in (MESSAGES // 5, MESSAGES * 2))
    return max(0.0, many - few)


def _peak(kind: str, count: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "message_1.json")
        WRITERS[kind](file, count)
        arguments = [sys.executable, "-m", "bench.chat_exports", "--peak", kind, str(file)]
        return float(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)


def measure() -> list[Figure]:
    """Speed and growth of memory of each."""
    figures = []
    for kind in WRITERS:
        figures.append(Figure(f"reading an export of {kind}", round(speed(kind)), "messages/s", at_least=GATE))
        figures.append(Figure("the same, memory for ten times as many", round(growth(kind), 1), "MB", at_most=8.0))
    return figures


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        collections.deque(_reading(sys.argv[2], Path(sys.argv[3])), maxlen=0)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    else:
        for figure in measure():
            print(*figure.cells())
