"""How fast a million mails are threaded, and with how much memory; `python -m bench.threads` prints the figures.

The floor gives the ids numbers and joins them in one pass: no names for threads, no parents, no say for Gmail.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from bench.clock import medians, most_memory
from relrag_pipelines.sources.mail.threads import ThreadedMail, thread

MAILS = 1_000_000
RUNS = 3


def mails(count: int = MAILS) -> Iterator[ThreadedMail]:
    """Mails of which three in four answer a recent one; one in ten is missing, one in ten has Gmail's thread id."""
    rng = random.Random(7)
    recent: list[tuple[str, tuple[str, ...]]] = []
    written = 0
    while written < count:
        name, above = f"{rng.getrandbits(80):020x}@mail{rng.randrange(99)}.example.org", ()
        if recent and rng.random() < 0.75:
            answered, further = rng.choice(recent)
            above = (*further, answered)[-20:]
        recent.append((name, above))
        if len(recent) > 5000:
            recent[rng.randrange(5000)] = recent.pop()
        if rng.random() < 0.9:
            written += 1
            first = above[0] if above else name
            gmail = str(int(first[:12], 16)) if first[0] in "01" and rng.random() < 0.8 else None
            yield ThreadedMail(name, above, above[-1] if above else None, gmail)


def floor(given: list[ThreadedMail]) -> int:
    """The number of threads by the plainest union-find."""
    numbers: dict[str, int] = {}
    joined: list[int] = []
    for mail in given:
        roots = []
        for name in (mail.message_id, *mail.references):
            number = numbers.setdefault(name, len(joined))
            if number == len(joined):
                joined.append(number)
            while joined[number] != number:
                joined[number] = joined[joined[number]]
                number = joined[number]
            roots.append(number)
        for root in roots[1:]:
            joined[root] = roots[0]
        joined[roots[0]] = roots[0]
    return sum(number == above for number, above in enumerate(joined))


def measure() -> dict[str, float]:
    """Seconds for a million mails, those of the floor, and GiB at the peak with the mails themselves."""
    given = list(mails())
    took = medians(RUNS, ours=lambda: _seconds(thread, given), floor=lambda: _seconds(floor, given))
    return {
        "mails": len(given),
        "references_a_mail": sum(len(mail.references) for mail in given) / len(given),
        "seconds": took["ours"],
        "floor_seconds": took["floor"],
        "ratio": took["ours"] / took["floor"],
        "peak_gib": most_memory() / 2**30,
    }


def _seconds(work: object, given: list[ThreadedMail]) -> float:
    assert callable(work)
    begun = time.perf_counter()
    work(given)
    return time.perf_counter() - begun


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:24} {value:,.2f}")
