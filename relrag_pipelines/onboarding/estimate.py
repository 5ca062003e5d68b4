"""How long a first sync takes and how much disk its index needs, roughly: from sizes and a look at some beginnings.

The figures are those of two shared cores, rounded up; 4 s of each are the start. Disk is that of private records, lake
and two generations: 200,000 JSON lines of 57 bytes took 36 s of processor time and 536 MB, 60,000 chat messages of 80
bytes 16 s and 169 MB, 20,000 JSON lines of 526 bytes 15 s and 107 MB, 800 Markdown files of 4.7 kB 7 s and 13 MB.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.sources import AUDIO, KINDS

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


_SECONDS_A_FILE, _SECONDS_A_RECORD, _SECONDS_A_MEGABYTE = 0.005, 0.000_15, 1.0
_BYTES_A_RECORD, _BYTES_A_BYTE = 2_400, 5.5
"""bytes of private records, lake and two generations for each record, and for each byte of its text"""
_ONE_EACH = (".eml", ".emlx", ".msg")
_NO_LINES = (*_ONE_EACH, ".zip")
_SAMPLED_FILES, _SAMPLED_BYTES = 8, 2**17
_BYTES_A_PASSAGE, _MESSAGES_A_PASSAGE, _BYTES_A_NUMBER = 500, 6, 19
_TEXT_SHARE = {
    ".pdf": 0.1,
    ".docx": 0.2,
    ".zip": 0.1,
    ".html": 0.6,
    ".htm": 0.6,
    ".mbox": 0.3,
    ".eml": 0.3,
    ".emlx": 0.3,
    ".msg": 0.3,
}
_TEXT_SHARE.update(dict.fromkeys(AUDIO, 0.0))
"""bytes of text for each byte of a file; the others are text themselves"""


def estimate(files: int, records: int, text: float) -> Estimate:
    """For so many files with so many records that hold so many bytes of text.

    Without START_SECONDS and FIXED_BYTES, which a sync has once.
    """
    seconds = files * _SECONDS_A_FILE + records * _SECONDS_A_RECORD + text / 1e6 * _SECONDS_A_MEGABYTE
    return Estimate(seconds, int(records * _BYTES_A_RECORD + text * _BYTES_A_BYTE))


SECONDS_A_MONTH = 0.34
"""of each month of a source: its tables in each stage, Dagster's events, the checks"""


def record_count(kind: str, files: Iterable[tuple[Path, int]]) -> int:
    """How many records files of a kind hold, roughly; each with its size in bytes.

    A few of the largest are opened, and what begins a record is counted in their beginnings.
    """
    given, mark, bytes_each = list(files), KINDS[kind].record_mark, KINDS[kind].record_bytes
    many = [(file, size) for file, size in given if mark and file.suffix.lower() not in _NO_LINES]
    many.sort(key=lambda one: -one[1])
    seen = [_sample(file) for file, _ in many[:_SAMPLED_FILES]]
    marks, looked_at = sum(data.count(mark) for data in seen if mark), sum(map(len, seen))
    found: float = sum(size for _, size in many) * marks / looked_at if marks else len(many)
    for file, size in set(given) - set(many):
        usual = 0 if file.suffix.lower() in _ONE_EACH else bytes_each
        found += text_bytes({file.suffix.lower(): size}) / usual if usual else 1
    return round(found)


def _sample(file: Path) -> bytes:
    try:
        with open_plain(file) as opened:
            return opened.read(_SAMPLED_BYTES)
    except OSError:
        return b""


def passage_count(kind: str, records: int, text: float) -> float:
    """How many passages so many records with so many bytes of text make; short messages of a chat are one together."""
    return max(text / _BYTES_A_PASSAGE, records / _MESSAGES_A_PASSAGE if KINDS[kind].chat else records)


def vector_bytes(passages: float, numbers: float) -> int:
    """Disk for the dense vectors of so many passages, where those of each have so many numbers.

    6,100 passages of 490 bytes took 2.3 kB each in the cache, 1.6 in the lake, 0.8 in each of two generations, and 1.5
    beside the catalog while they are put into the store.
    """
    return int(passages * _BYTES_A_NUMBER * numbers)


def text_bytes(bytes_by_suffix: Mapping[str, int]) -> float:
    """How much text files of these sizes hold."""
    return sum(size * _TEXT_SHARE.get(suffix, 1.0) for suffix, size in bytes_by_suffix.items())
