"""How fast names of known people are found in texts: 10,000 aliases, 100 MB of chats and mails in three languages.

In processor time of the one thread that does it.
"""

from __future__ import annotations

import itertools
import random
import time

from bench import redaction
from bench.measurement import Figure
from relrag_pipelines.identity.mentions import MentionFinder
from relrag_pipelines.text.names import tables

ALIASES, BYTES = 10_000, 100_000_000
_TEXTS = 20_000


def measure(size: int = BYTES) -> list[Figure]:
    """The figures."""
    names = aliases()
    begun = time.process_time()
    finder = MentionFinder({number: [name] for number, name in enumerate(names)})
    made = time.process_time() - begun
    texts = list(with_names(names))
    length = sum(len(text.encode()) for text in texts)
    begun, read, found = time.process_time(), 0, 0
    for text in itertools.cycle(texts):
        found += len(finder.find(text))
        read += 1
        if read % len(texts) == 0 and read // len(texts) * length >= size:
            break
    seconds = time.process_time() - begun
    read_bytes = read // len(texts) * length
    return [
        Figure(
            f"finding {ALIASES:,} names in {read_bytes / 1e6:.0f} MB, {found / (read_bytes / 1000):.1f} a kB",
            read_bytes / 1e6 / seconds,
            "MB/s",
            at_least=20.0,
        ),
        Figure("what finds them is made in", made),
    ]


def aliases() -> list[str]:
    """Full and single names, in Latin, Hebrew and Cyrillic letters; some given names are borne by many."""
    chance = random.Random(3)
    given = {
        "latin": [form.title() for form in sorted(tables.short_forms()) if form.isascii() and len(form) > 2],
        "hebrew": [form for form in sorted(tables.short_forms()) if "א" <= form[0] <= "ת"],
    }
    letters = {
        "latin": ("bdgklmnprstvz", "aeiou", ("ová", "", "ek", "a", "man")),
        "hebrew": ("בגדהזחטכלמנספצקרשת", "וי", ("",)),
    }
    found = []
    for _ in range(ALIASES):
        script = chance.choice(["latin", "latin", "hebrew"])
        consonants, vowels, ends = letters[script]
        family = "".join(chance.choice(consonants) + chance.choice(vowels) for _ in range(chance.randint(1, 3)))
        family = (family + chance.choice(consonants) + chance.choice(ends)).capitalize()
        found.append(f"{chance.choice(given[script])} {family}")
    return found


def with_names(names: list[str]) -> list[str]:
    """Chats and mails; every fourth chat and each mail names somebody, by the whole name or the first."""
    chance = random.Random(4)
    texts = redaction.chat_texts(_TEXTS, seed=5) + redaction.mail_texts(_TEXTS // 5, seed=6)
    made = []
    for text in texts:
        if chance.random() < (0.25 if len(text) < 200 else 1.0):
            name = chance.choice(names)
            where = text.find(" ", chance.randrange(max(1, len(text) - 20)))
            text = f"{text[:where]} {name if chance.random() < 0.5 else name.split()[0]}{text[where:]}"
        made.append(text)
    return made
