"""Invented documents and questions for measuring: the same for every run, with the word frequencies of real text.

Words are English function words and invented ones, drawn by Zipf's law; one document in eight names a phone number or
an address, half have a sender and a subject, and all lie within two months.
"""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

LENGTH = 500
"""characters of a document"""

_FUNCTION_WORDS = """the of and to in a is that for it was on with as be at by this have from or not are but had you
    which they we an were there been has their will would when who what if can about so out up some into could them"""
_SYLLABLES = """ba ce da fe ga hi jo ka le mi no pa qui ra sa te un va wo xe yo zu bri cla dro fru gle pla pre sta tri
    ner ton ver del mar lin sol"""
_NAMES = ("Dana Levi", "Petr Kolar", "Noa Ben-Ami", "Alex Rubin", "Marie Novak", "Tom Reed", "Ruth Adler", "Jan Horak")
_JANUARY, _MARCH = 1735689600, 1740787200
"""first second of each in 2025, UTC"""


def vocabulary(size: int = 20_000, seed: int = 1) -> list[str]:
    """Different words, the most frequent first."""
    chance, parts = random.Random(seed), _SYLLABLES.split()
    words = dict.fromkeys(_FUNCTION_WORDS.split())
    while len(words) < size:
        syllables = 2 if len(words) < 1_200 else 3
        words["".join(chance.choices(parts, k=syllables))] = None
    return list(words)


def documents(count: int, seed: int = 2) -> list[dict[str, Any]]:
    """Documents with the fields of a jsonl source."""
    chance = random.Random(seed)
    words = vocabulary()
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    made = []
    for number in range(count):
        text = " ".join(_sentences(chance.choices(words, cum_weights=weights, k=120), chance))
        if number % 8 == 0:
            text = f"{_contact(chance)} {text}"
        document = {"id": f"d{number:06}", "text": text[:LENGTH], "ts": chance.randrange(_JANUARY, _MARCH)}
        if number % 2:
            subject = " ".join(chance.choices(words, cum_weights=weights, k=6))
            document |= {"from": chance.choice(_NAMES), "subject": subject}
        made.append(document)
    return made


def questions(asked: list[dict[str, Any]], count: int, seed: int = 3) -> list[str]:
    """Questions of two to five telling words that stand together in one of the documents."""
    chance, empty = random.Random(seed), set(_FUNCTION_WORDS.split())
    found = []
    for document in chance.sample(asked, count):
        words = [word for word in document["text"].split()[:-1] if word.strip(".").lower() not in empty]
        found.append(" ".join(chance.sample(words, chance.randint(2, 5))))
    return found


def write(path: Path, made: list[dict[str, Any]]) -> None:
    """Writes documents as JSON Lines."""
    path.write_text("".join(json.dumps(document) + "\n" for document in made))


def read(path: Path) -> list[dict[str, Any]]:
    """Documents of such a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def _sentences(words: list[str], chance: random.Random) -> list[str]:
    found = []
    while words:
        length = chance.randint(6, 18)
        sentence, words = words[:length], words[length:]
        found.append(" ".join(sentence).capitalize() + ".")
    return found


def _contact(chance: random.Random) -> str:
    digits = "".join(chance.choices("0123456789", k=7))
    return chance.choice(
        (f"Call 052-{digits}.", f"Write to office{digits[:3]}@example.com.", f"See invoice INV-{digits}.")
    )
