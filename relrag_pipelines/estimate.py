"""How long a first sync takes and how much disk its index needs, roughly: from sizes, before anything is read.

The figures are those of two shared cores, rounded up. 60,000 chat messages of 80 bytes took 16 s of processor time and
80 MB; 20,000 JSON lines of 600 bytes 9 s and 35 MB; 1,000 Markdown files of 5 kB 7 s and 15 MB; 4 s of each are the
start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from relrag_pipelines.sources import AUDIO

START_SECONDS = 10.0
"""start of a sync that has something to do, its runs for each range of months, and its end"""
FIXED_BYTES = 2 * 120 * 2**20
"""two generations of the vector store, which preallocates its files"""


@dataclass(frozen=True)
class Estimate:
    """What a first sync of some files takes."""

    seconds: float
    bytes: int
    """disk for what is derived from them"""


_SECONDS_PER_FILE = 0.01
_PER_TEXT = {"document": (1.5, 8.0), "jsonl": (1.5, 8.0), "gmail": (1.5, 8.0)}
"""seconds for each MB of text, and bytes of private records, lake and two generations for each byte of it"""
_PER_TEXT_OF_OTHERS = (4.0, 24.0)
"""many short records, as in a chat"""
_BYTES_A_PASSAGE, _BYTES_A_NUMBER = 500, 19
_TEXT_SHARE = {
    ".pdf": 0.1,
    ".docx": 0.2,
    ".zip": 0.1,
    ".html": 0.6,
    ".htm": 0.6,
    ".mbox": 0.3,
    ".eml": 0.3,
    ".msg": 0.3,
}
_TEXT_SHARE.update(dict.fromkeys(AUDIO, 0.0))
"""bytes of text for each byte of a file; the others are text themselves"""


def estimate(kind: str, files: int, bytes_by_suffix: Mapping[str, int]) -> Estimate:
    """For so many files of a kind, by the bytes of each suffix.

    Without START_SECONDS and FIXED_BYTES, which a sync has once.
    """
    text = text_bytes(bytes_by_suffix)
    seconds, index = _PER_TEXT.get(kind, _PER_TEXT_OF_OTHERS)
    return Estimate(files * _SECONDS_PER_FILE + text / 1e6 * seconds, int(text * index))


def vector_bytes(text: float, dimension: int) -> int:
    """Disk for the dense vectors of so many bytes of text, where every passage gets one; 0 for no dimension.

    6,100 passages of 490 bytes took 2.3 kB each in the cache, 1.6 in the lake, 0.8 in each of two generations, and 1.5
    beside the catalog while they are put into the store.
    """
    return int(text / _BYTES_A_PASSAGE * _BYTES_A_NUMBER * dimension)


def text_bytes(bytes_by_suffix: Mapping[str, int]) -> float:
    """How much text files of these sizes hold."""
    return sum(size * _TEXT_SHARE.get(suffix, 1.0) for suffix, size in bytes_by_suffix.items())
