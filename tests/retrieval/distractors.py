"""Records that lie near the answers of an evaluation set and answer nothing: sentence patterns filled by chance.

A language is a folder: `records.jsonl` with one answer for each of `questions.jsonl`, `patterns.txt` and `slots.txt`.
Both of the last are sections, `= heading` and its lines. A section of patterns is a topic and its heading the subjects
of its mails; a section of slots holds the words of one place, one a line, their inflected forms in a fixed order with
`/` between, so that `{man[2]}` is the third form and agrees because the pattern asks for it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LANGUAGES = ("czech", "hebrew")
COUNT = 4_000
"""distractors of a language"""
SEVERAL = (1, 2, 2, 3)
"""sentences of a record, for a harder set"""

_FIRST, _LAST = 1672531200, 1751328000
"""the seconds between which the records lie: 2023-01-01 and 2025-07-01, UTC"""


def distractors(language: str, sentences: Sequence[int] = (1,), seed: int = 1) -> list[dict[str, Any]]:
    """4,000 records with the fields of a jsonl source, no two with the same text.

    Each is of one topic, and of so many sentences as is drawn of `sentences`. What a record of several holds of a
    question's words is spread over them, so that by words alone it may be nearer than the answer.
    """
    chance = random.Random(f"{language} {seed}")
    topics, slots = list(_sections(language, "patterns.txt").items()), _slots(language)
    made: dict[str, dict[str, Any]] = {}
    while len(made) < COUNT:
        subjects, patterns = chance.choice(topics)
        told = chance.sample(patterns, chance.choice(sentences))
        text = " ".join(_filled(pattern, slots, chance) for pattern in told)
        record = {"id": f"d{len(made):04}", "text": text, "ts": chance.randrange(_FIRST, _LAST)}
        if chance.random() < 0.4:
            subject = _filled(chance.choice(subjects.split(" | ")), slots, chance)
            record |= {"from": chance.choice(slots["sender"]), "subject": subject}
        made.setdefault(text, record)
    return list(made.values())


def read(language: str, name: str) -> list[dict[str, Any]]:
    """Lines of `records.jsonl` or `questions.jsonl`."""
    return [json.loads(line) for line in (HERE / language / name).read_text(encoding="utf-8").splitlines()]


def write_source(language: str, path: Path, sentences: Sequence[int] = (1,)) -> None:
    """Writes the answers and the distractors of a language as one jsonl source, in an order of its own."""
    made = read(language, "records.jsonl") + distractors(language, sentences)
    random.Random(language).shuffle(made)
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in made), encoding="utf-8")


def _filled(pattern: str, slots: dict[str, list[Any]], chance: random.Random) -> str:
    """The sentence with a word in every slot, the same one where a slot is named twice, and capitals where it starts
    anew."""
    sentence = pattern.format_map({name: chance.choice(words) for name, words in slots.items()})
    return re.sub(r"(^|\? )(\w)", lambda start: start[1] + start[2].upper(), sentence)


def _slots(language: str) -> dict[str, list[Any]]:
    """Words of each slot: text where a word has one form, a list of its forms otherwise."""
    sections = _sections(language, "slots.txt")
    return {name: [word.split("/") if "/" in word else word for word in words] for name, words in sections.items()}


def _sections(language: str, name: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (HERE / language / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            heading = line.removeprefix("= ")
            found[heading] = []
        else:
            found[heading].append(line)
    return found
