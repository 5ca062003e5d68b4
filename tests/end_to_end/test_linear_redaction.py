"""What looking for personal data costs grows with the text, whatever it consists of.

RELRAG_LINEAR_MB=1 looks at texts of that size instead of small ones, and prints the seconds for each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import chain, islice

import pytest
import regex

from relrag_pipelines.pii import PIIRedactor, normalized_text, phones
from relrag_pipelines.pii.entities import ENTITIES, FURTHER, EntityType
from relrag_pipelines.pii.patterns import FLAGS
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import POLICIES, Policy
from tests.pii.repeated import PATTERNS, repeated

SIZE = 5_000
TOO_SHORT = 0.004
"""seconds; what takes less cannot be compared"""
MOST_SECONDS_PER_MB = 2.0
"""of a recogniser's processor time on the machine of reference"""
TRIES = 10
"""where a recogniser seems slow: a shared machine may be slower by half for seconds"""
MOST_SECONDS_PER_MB_IN_ALL = 20.0
"""of the redactor's; far above what is measured, far below what grows with the square"""


def by_patterns(entity: EntityType) -> Callable[[str], object]:
    """All that the entity's patterns find."""
    patterns = [regex.compile(one["regex"], FLAGS) for entry in entity.patterns for one in entry.config["patterns"]]
    return lambda text: [list(pattern.finditer(text)) for pattern in patterns]


# beneath what is remembered of the latest texts
FINDERS: dict[str, Callable[[str], object]] = {
    name: getattr(one.find, "__wrapped__", None) or by_patterns(one) for name, one in (ENTITIES | FURTHER).items()
}


def seconds(find: Callable[[str], object], text: str) -> float:
    """Processor time, with nothing remembered."""
    phones.clear_cache()
    normalized_text.normalize_text.cache_clear()
    begun = time.process_time()
    find(text)
    return time.process_time() - begun


def measurements(find: Callable[[str], object], text: str, longer: str) -> Iterator[tuple[float, float]]:
    """Processor time of a text and of a longer one, as often as it is asked for."""
    while True:
        yield seconds(find, text), seconds(find, longer)


def slowness() -> float:
    """How much slower this machine is now than the one of reference, by the processor time of `import dagster`."""
    script = "import time, dagster; print(time.process_time())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return max(1.0, float(done.stdout) / 0.66)


def is_slow(spent: float, most: float) -> bool:
    """Whether seconds a megabyte are too many; others use the machine too, so its speed is measured again then."""
    return spent > most and spent > most * slowness()


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FINDERS))
def test_each_recogniser_is_linear(name: str) -> None:
    find = FINDERS[name]
    slow = {}
    for pattern in PATTERNS:
        text, longer = repeated(pattern, SIZE), repeated(pattern, 4 * SIZE)
        if (short := seconds(find, text)) < TOO_SHORT:
            continue
        first = (short, seconds(find, longer))
        # one measurement may be disturbed, three hardly; four times the text, six times the time
        more = chain([first], measurements(find, text, longer))
        if all(much > 6 * little for little, much in islice(more, 3)):
            slow[pattern] = "grows faster than the text"
        # of the characters that the longer text has more, so that it does not count what a call costs at any length
        more = chain([first], measurements(find, text, longer))
        if all(
            is_slow((much - little) / (3 * SIZE) * 1e6, MOST_SECONDS_PER_MB) for little, much in islice(more, TRIES)
        ):
            slow[pattern] = "too many seconds a megabyte"
    assert slow == {}


@pytest.mark.slow
def test_the_redactor_is_linear() -> None:
    policies = {name: Policy.model_validate(policy) for name, policy in POLICIES.items()}
    redactor = PIIRedactor(policies, Keys(b"i" * 32, b"p" * 32, "k1"))
    redactor.redact("052-1234567", "default")  # imports Presidio
    slow = {}
    size = 30_000
    for pattern in PATTERNS[::4]:
        spent = seconds(lambda text: redactor.redact(text, "default"), repeated(pattern, size)) / size * 1e6
        if is_slow(spent, MOST_SECONDS_PER_MB_IN_ALL):
            slow[pattern] = round(spent, 1)
    assert slow == {}


@pytest.mark.skipif("RELRAG_LINEAR_MB" not in os.environ, reason="takes minutes; RELRAG_LINEAR_MB=1 runs it")
def test_a_megabyte_of_each() -> None:
    size = int(float(os.environ["RELRAG_LINEAR_MB"]) * 1_000_000)
    policies = {name: Policy.model_validate(policy) for name, policy in POLICIES.items()}
    redactor = PIIRedactor(policies, Keys(b"i" * 32, b"p" * 32, "k1"))
    every = {**FINDERS, "redactor": lambda text: redactor.redact(text, "default")}
    slower = slowness()
    spent = {
        (name, pattern): seconds(find, repeated(pattern, size)) / size * 1e6 / slower
        for pattern in PATTERNS
        for name, find in every.items()
    }
    for (name, pattern), one in sorted(spent.items(), key=lambda item: -item[1])[:40]:
        print(f"{one:7.2f} s/MB {name} {pattern!r}")
    assert max(one for (name, _), one in spent.items() if name != "redactor") < MOST_SECONDS_PER_MB
    assert max(spent.values()) < MOST_SECONDS_PER_MB_IN_ALL
