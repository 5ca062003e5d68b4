"""An invented archive of any size: WhatsApp chats over ten years, and mails as JSON Lines.

At scale 1 it has 1,000,000 messages in 200 chats and 100,000 mails in 20 files. `python -m bench.scale FOLDER [SCALE]`
writes one, with its relrag.toml.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench import corpus

MESSAGES, CHATS, MAILS, MAIL_FILES = 1_000_000, 200, 100_000, 20
_FIRST, _YEARS = datetime(2015, 1, 1, tzinfo=UTC), 10
_PEOPLE = 400
_CONFIG = """\
archive = "scale"
keys_file = "scale.keys"
embedder = "none"
timezone = "UTC"
first_month = "2015-01"
pii_redaction_enabled = true

[[sources]]
name = "chats"
kind = "whatsapp"
path = "chats"

[[sources]]
name = "mails"
kind = "jsonl"
path = "mails"
"""


def write(folder: Path, scale: float = 1.0, seed: int = 11) -> Path:
    """Writes the archive into a folder; returns its relrag.toml. More scale is more chats and more files of mail."""
    chance, words = random.Random(seed), Words(seed)
    people = [" ".join(word.capitalize() for word in words.draw(2)) for _ in range(_PEOPLE)]
    for kind in ("chats", "mails"):
        (folder / kind).mkdir(parents=True)
    for number in range(max(1, round(CHATS * scale))):
        members = chance.sample(people, 2 if number % 4 else 6)
        chat = folder / "chats" / f"WhatsApp Chat with {members[0]} {number}.txt"
        with chat.open("w", encoding="utf-8") as out:
            out.writelines(messages(MESSAGES // CHATS, members, chance, words))
    for number in range(max(1, round(MAIL_FILES * scale))):
        with (folder / "mails" / f"mails-{number:03}.jsonl").open("w", encoding="utf-8") as out:
            out.writelines(_mails(number, MAILS // MAIL_FILES, people, chance, words))
    config = folder / "relrag.toml"
    config.write_text(_CONFIG)
    return config


def messages(
    count: int,
    members: list[str],
    chance: random.Random,
    words: Words,
    begin: datetime = _FIRST,
    span: timedelta = timedelta(days=365 * _YEARS),
) -> Iterator[str]:
    """Lines of one chat in the form of Android: bursts of a conversation, then hours or days of silence."""
    # one message in eight opens a conversation; the others follow within minutes
    silence = span * 8 / count
    moment = begin + silence * chance.random()
    for _ in range(count):
        moment += (
            silence * chance.random() * 1.9 if chance.random() < 0.125 else timedelta(seconds=chance.randrange(240))
        )
        text = " ".join(words.draw(chance.randint(2, 18)))
        if chance.random() < 0.03:
            text += f" +972-54-{chance.randint(1000000, 9999999)}"
        yield f"{moment:%d/%m/%Y, %H:%M} - {chance.choice(members)}: {text}\n"


def _mails(file: int, count: int, people: list[str], chance: random.Random, words: Words) -> Iterator[str]:
    months = _YEARS * 365 * 86_400
    for number in range(count):
        sender, to = chance.sample(people, 2)
        mail = {
            "id": f"m{file:03}-{number:05}",
            "type": "email",
            "text": ". ".join(" ".join(words.draw(12)).capitalize() for _ in range(chance.randint(2, 12))),
            "subject": " ".join(words.draw(5)).capitalize(),
            "from": sender,
            "to": [to],
            "ts": int(_FIRST.timestamp()) + chance.randrange(months),
            "thread_id": f"t{file:03}-{number // 3:05}",
        }
        yield json.dumps(mail) + "\n"


class Words:
    """Words with the frequencies of text."""

    def __init__(self, seed: int) -> None:
        self._chance, self._words = random.Random(seed), corpus.vocabulary()
        self._weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(self._words))))

    def draw(self, count: int) -> list[str]:
        """That many words."""
        return self._chance.choices(self._words, cum_weights=self._weights, k=count)


if __name__ == "__main__":
    print(write(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 1.0))
