"""Whether an issuer gives cards with a number's first digits and length; card_ranges.tsv lists them."""

from __future__ import annotations

import functools
from pathlib import Path

_TABLE = Path(__file__).with_name("card_ranges.tsv")
_PREFIX = 4
"""digits of the longest range"""


def is_issued(digits: str) -> bool:
    """Whether the number lies in a range of cards with its length."""
    return len(digits) in _lengths().get(digits[:_PREFIX], frozenset())


@functools.cache
def _lengths() -> dict[str, frozenset[int]]:
    """Lengths of cards by their first four digits."""
    lengths: dict[str, frozenset[int]] = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        first, last, sizes, _ = line.split("\t")
        for prefix in range(int(first.ljust(_PREFIX, "0")), int(last.ljust(_PREFIX, "9")) + 1):
            key = str(prefix)
            lengths[key] = lengths.get(key, frozenset()) | _sizes(sizes)
    return lengths


def _sizes(text: str) -> frozenset[int]:
    bounds = (part.partition("-") for part in text.split(","))
    return frozenset(size for first, _, last in bounds for size in range(int(first), int(last or first) + 1))
