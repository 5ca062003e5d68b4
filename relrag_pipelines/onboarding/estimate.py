"""Estimates the duration of a first sync and the disk space of its index, from file sizes and samples.

Measured on two shared cores, rounded up; 4 s of each are the start. Disk space includes private records, lake and
two generations: 200,000 JSON lines of 57 bytes took 36 s of processor time and 536 MB, 60,000 chat messages of 80
bytes 16 s and 169 MB, 20,000 JSON lines of 526 bytes 15 s and 107 MB, 800 Markdown files of 4.7 kB 7 s and 13 MB.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.sources import AUDIO, KINDS

START_SECONDS = 10.0
"""fixed time of a sync that has something to do"""
FIXED_BYTES = 2 * 120 * 2**20
"""two generations of the vector store, which preallocates its files"""


@dataclass(frozen=True)
class Estimate:
    """Time and disk space of a first sync."""

    seconds: float
    bytes: int
    """disk space of the derived files"""


_SECONDS_A_FILE, _SECONDS_A_RECORD, _SECONDS_A_MEGABYTE = 0.005, 0.000_15, 1.0
_BYTES_A_RECORD, _BYTES_A_BYTE = 2_400, 5.5
"""bytes of private records, lake and two generations, per record and per byte of text"""
_SINGLE_RECORD_SUFFIXES = (".eml", ".emlx", ".msg")
_SINGLE_OR_PACKED_SUFFIXES = (*_SINGLE_RECORD_SUFFIXES, ".zip")
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
"""bytes of text per byte of a file, by suffix; other files are all text"""


def estimate(files: int, records: int, text: float) -> Estimate:
    """The estimate for a number of files and records, with `text` bytes of text in all.

    It does not include START_SECONDS and FIXED_BYTES, which occur once per sync.
    """
    seconds = files * _SECONDS_A_FILE + records * _SECONDS_A_RECORD + text / 1e6 * _SECONDS_A_MEGABYTE
    return Estimate(seconds, int(records * _BYTES_A_RECORD + text * _BYTES_A_BYTE))


SECONDS_A_MONTH = 0.34
"""per month of a source: tables of each stage, Dagster's events, checks"""


def record_count(kind: str, files: Iterable[tuple[Path, int]]) -> int:
    """An estimate of the records in files of a kind; `files` are (path, size in bytes).

    It counts the kind's record marks at the beginnings of the largest files.
    """
    sized_files, mark, bytes_each = list(files), KINDS[kind].record_mark, KINDS[kind].record_bytes
    multi_record_files = [
        (file, size) for file, size in sized_files if mark and file.suffix.lower() not in _SINGLE_OR_PACKED_SUFFIXES
    ]
    multi_record_files.sort(key=lambda sized_file: -sized_file[1])
    samples = [_sample(file) for file, _ in multi_record_files[:_SAMPLED_FILES]]
    marks, sampled_bytes = sum(data.count(mark) for data in samples if mark), sum(map(len, samples))
    total: float = (
        sum(size for _, size in multi_record_files) * marks / sampled_bytes if marks else len(multi_record_files)
    )
    for file, size in set(sized_files) - set(multi_record_files):
        usual = 0 if file.suffix.lower() in _SINGLE_RECORD_SUFFIXES else bytes_each
        total += text_bytes({file.suffix.lower(): size}) / usual if usual else 1
    return round(total)


def _sample(file: Path) -> bytes:
    try:
        with open_plain(file) as stream:
            return stream.read(_SAMPLED_BYTES)
    except OSError:
        return b""


def passage_count(kind: str, records: int, text: float) -> float:
    """An estimate of the passages; short chat messages share a passage. `text` is in bytes."""
    return max(text / _BYTES_A_PASSAGE, records / _MESSAGES_A_PASSAGE if KINDS[kind].chat else records)


def vector_bytes(passages: float, numbers: float) -> int:
    """Bytes on disk of the dense vectors, with `numbers` numbers per passage.

    6,100 passages of 490 bytes took 2.3 kB each in the cache, 1.6 in the lake, 0.8 in each of two generations, and 1.5
    beside the catalog while the store is filled.
    """
    return int(passages * _BYTES_A_NUMBER * numbers)


def text_bytes(bytes_by_suffix: Mapping[str, int]) -> float:
    """Estimated bytes of text in files with these total sizes by suffix."""
    return sum(size * _TEXT_SHARE.get(suffix, 1.0) for suffix, size in bytes_by_suffix.items())
