"""Which messages of a chat should be indexed together.

`python -m bench.chat_windows` prints the tables of docs/chat-windows.md: how much of what the questions of bench/chats/
ask for is found by each way of making windows, and what it costs. A line of a chat may end in a tag; a question names
the tags of the messages that answer it. Both were written before anything was measured.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.retrieval import batches
from relrag_pipelines.chunking.chat_windows import MESSAGES, OVERLAP, SILENCE
from relrag_pipelines.stores import vector_store
from relrag_pipelines.text.packing import NEVER, pack

CHATS = Path(__file__).parent / "chats"
BUDGETS = (40, 80, 160, 320)
"""words shown"""

_LINE = re.compile(r"(\S+ \S+) ([^:]+): (.*?)(?: #(\w+))?")
_COPIES = 100
"""of the chats, where costs are measured: about 40,000 messages"""


@dataclass(frozen=True)
class Message:
    """One line of a chat."""

    ts: int
    sender: str
    text: str
    tag: str | None

    @property
    def words(self) -> int:
        """What is shown of it: its sender and its words."""
        return 1 + len(re.findall(r"\w+", self.text))


@dataclass(frozen=True)
class Window:
    """Messages indexed together, and those of them that are shown; positions in their chat."""

    chat: str
    indexed: range
    shown: range


Way = Callable[[list[Message]], list[tuple[range, range]]]


def in_a_row(most: int, overlap: int, silence: float = float("inf")) -> Way:
    """Windows of `most` messages that share `overlap`, ended by a silence of so many seconds."""

    def windows(chat: list[Message]) -> list[tuple[range, range]]:
        pauses = [0, *(after.ts - before.ts for before, after in pairwise(chat))]
        least = [0 if pause > silence else NEVER for pause in pauses]
        return [(range(*ends), range(*ends)) for ends in pack([1] * len(chat), least, NEVER, most, overlap)]

    return windows


def around_each(shown: int) -> Way:
    """Each message with two neighbours on either side, of whom `shown` on either side are shown."""

    def around(place: int, reach: int, size: int) -> range:
        return range(max(0, place - reach), min(size, place + reach + 1))

    return lambda chat: [(around(at, 2, len(chat)), around(at, shown, len(chat))) for at in range(len(chat))]


WAYS: dict[str, Way] = {
    "five, overlap one": in_a_row(5, 1),
    "five, every third": in_a_row(5, 2),
    "five, every second": in_a_row(5, 3),
    "each with two neighbours, all shown": around_each(2),
    "each with two neighbours, one shown": around_each(0),
    "eight, overlap two": in_a_row(8, 2),
    "five, overlap one, ended by silence": in_a_row(5, 1, SILENCE),
    "six, overlap two, ended by silence": in_a_row(6, 2, SILENCE),
    "eight, overlap two, ended by silence": in_a_row(MESSAGES, OVERLAP, SILENCE),
}


Line = Callable[[Message], str]

LINES: dict[str, tuple[Line, bool]] = {
    "text": (lambda message: message.text, False),
    "Name: text": (lambda message: f"{message.sender}: {message.text}", False),
    "Name: text, under chat, senders and day": (lambda message: f"{message.sender}: {message.text}", True),
    "time Name: text, under chat, senders and day": (
        lambda message: f"{datetime.fromtimestamp(message.ts, UTC):%Y-%m-%d %H:%M} {message.sender}: {message.text}",
        True,
    ),
}
"""How a message is written in its window, and whether what is known of the window is indexed with it."""

_CHOSEN_WAY, _CHOSEN_LINE = "eight, overlap two, ended by silence", "Name: text, under chat, senders and day"


def load(folder: Path = CHATS) -> tuple[dict[str, list[Message]], list[tuple[str, set[str]]]]:
    """The chats, and the questions with the tags of what answers them."""
    chats = {}
    for path in sorted(folder.glob("*.txt")):
        found = [_LINE.fullmatch(line) for line in path.read_text(encoding="utf-8").splitlines()]
        chats[path.stem] = [_message(*match.groups()) for match in found if match]
    pairs = (line.split("\t") for line in (folder / "questions.tsv").read_text(encoding="utf-8").splitlines())
    return chats, [(question, set(tags.split())) for question, tags in pairs]


def recall(way: Way, line: Line, known: bool) -> dict[str, float]:
    """Share of the questions, in percent, whose answer is shown within so many words; mean reciprocal rank."""
    chats, questions = load()
    windows = [Window(name, *ends) for name, chat in chats.items() for ends in way(chat)]
    found: list[tuple[float, int]] = []
    with tempfile.TemporaryDirectory() as place:
        rows = [_row(at, one, chats[one.chat], line, known) for at, one in enumerate(windows)]
        vector_store.build(Path(place) / "vectors", batches(rows))
        with closing(vector_store.open(Path(place) / "vectors")) as store:
            for question, tags in questions:
                ranked = [windows[uuid.UUID(hit.chunk_id).int] for hit in store.search(question, len(windows))]
                found.append(_first(ranked, chats, tags))
    within = {f"{budget} words": _percent([words <= budget for _, words in found]) for budget in BUDGETS}
    return {"windows": len(windows), "MRR": round(sum(mrr for mrr, _ in found) / len(found), 3), **within}


def cost(way: Way) -> dict[str, float]:
    """Windows and edges for a million messages, CPU seconds to index them and megabytes, from 40,000 measured."""
    chats, _ = load()
    rows: list[dict[str, Any]] = []
    edges = 0
    for copy in range(_COPIES):
        for name, chat in chats.items():
            for indexed, shown in way(chat):
                rows.append(_row(len(rows), Window(f"{name}{copy}", indexed, shown), chat, *LINES[_CHOSEN_LINE]))
                edges += len(indexed)
    messages = _COPIES * sum(map(len, chats.values()))
    with tempfile.TemporaryDirectory() as place:
        made = list(batches(rows))
        begun = time.process_time()
        vector_store.build(Path(place) / "vectors", made)
        seconds = time.process_time() - begun
        size = sum(file.stat().st_blocks * 512 for file in Path(place).rglob("*"))
    million = 1_000_000 / messages
    return {
        "windows, thousands": round(len(rows) * million / 1000),
        "edges, thousands": round(edges * million / 1000),
        "CPU seconds": round(seconds * million),
        "MB": round(size * million / 1e6),
    }


def _first(ranked: list[Window], chats: dict[str, list[Message]], tags: set[str]) -> tuple[float, int]:
    """Reciprocal rank of the first window that shows an answer, and the words shown until then, each message once."""
    shown: set[tuple[str, int]] = set()
    words = 0
    for rank, window in enumerate(ranked, 1):
        fresh = [at for at in window.shown if (window.chat, at) not in shown]
        shown.update((window.chat, at) for at in fresh)
        words += sum(chats[window.chat][at].words for at in fresh)
        if any(chats[window.chat][at].tag in tags for at in window.shown):
            return 1 / rank, words
    return 0.0, sys.maxsize


def _row(number: int, window: Window, chat: list[Message], line: Line, known: bool) -> dict[str, Any]:
    inside = [chat[at] for at in window.indexed]
    asset_id = f"whatsapp:chunk:{window.chat}:{inside[0].ts}:{inside[-1].ts}"
    row = {
        "chunk_id": str(uuid.UUID(int=number)),
        "text": "\n".join(map(line, inside)),
        "ts": inside[0].ts,
        "asset_id": asset_id,
        "chunk_group_id": asset_id,
        "thread_id": f"whatsapp:{window.chat}",
        "source": "chats",
        "kind": "whatsapp",
    }
    if known:
        row["subject"] = window.chat
        row["from"] = ", ".join(dict.fromkeys(message.sender for message in inside))
        row["timestamp"] = datetime.fromtimestamp(inside[0].ts, UTC).isoformat()
    return row


def _message(time_: str, sender: str, text: str, tag: str | None) -> Message:
    return Message(int(datetime.fromisoformat(f"{time_}+00:00").timestamp()), sender, text, tag)


def _percent(values: list[bool]) -> float:
    return round(100 * sum(values) / len(values), 1)


def _print(what: str, figures: dict[str, dict[str, float]]) -> None:
    names = list(next(iter(figures.values())))
    print(f"| {what} | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 1))
    for name, values in figures.items():
        print(f"| {name} | " + " | ".join(str(values[column]) for column in names) + " |")
    print()


if __name__ == "__main__":
    _print("windows", {name: recall(way, *LINES[_CHOSEN_LINE]) for name, way in WAYS.items()})
    _print("for a million messages", {name: cost(way) for name, way in WAYS.items()})
    _print("what is indexed", {name: recall(WAYS[_CHOSEN_WAY], *line) for name, line in LINES.items()})
