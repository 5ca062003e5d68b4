"""How long a first sync takes and how much disk its index needs, roughly: from sizes, before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

START_SECONDS = 6.0
"""start of a sync that has something to do, and its end"""
FIXED_BYTES = 2 * 115 * 2**20
"""two generations of the vector store, which preallocates its files"""

_SECONDS_PER_FILE = 0.02
_SECONDS_PER_MB = 3.0
"""a core reads, redacts, cuts and indexes about 350 kB of text a second"""
_INDEX_PER_TEXT = 8.0
"""bytes of private records, lake and two generations for each byte of text"""

_TEXT_SHARE = {".pdf": 0.1, ".docx": 0.2, ".zip": 0.1, ".html": 0.6, ".htm": 0.6}
"""bytes of text for each byte of a file; the others are text themselves"""


@dataclass(frozen=True)
class Estimate:
    """What a first sync of some files takes."""

    seconds: float
    bytes: int
    """disk for what is derived from them"""


def estimate(files: int, bytes_by_suffix: Mapping[str, int]) -> Estimate:
    """For so many files, by the bytes of each suffix; without START_SECONDS and FIXED_BYTES, which a sync has once."""
    text = sum(size * _TEXT_SHARE.get(suffix, 1.0) for suffix, size in bytes_by_suffix.items())
    return Estimate(files * _SECONDS_PER_FILE + text / 1e6 * _SECONDS_PER_MB, int(text * _INDEX_PER_TEXT))
