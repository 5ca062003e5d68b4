"""Keyed hashes of words, runs of words, lines, and the pieces of lines that mail programs leave.

A rule stores all of these in one sorted array. A constant added to each hash marks its kind, so that new kinds need no
new format: older rules have no hashes of that kind.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

RUN = 6
"""words in a run; fewer would match everyday phrases"""
PIECES = (3, 4, 5)
"""words in a piece; a longer one matches if all its pieces of 5 words do"""
_LETTERS = 2
"""letters by which a word that was cut in the middle is recognised"""
WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f\u0591-\u05c7])*")
"""a word with its combining marks"""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_LINE = np.uint64(0xD1B54A32D192ED03)
_PIECE = np.uint64(0x8CB92BA72F3D8DD7)
_SHARED = np.uint64(0xAEF17502108EF2D9)
_HEAD = np.uint64(0xF1357AEA2E62A9C5)
_TAIL = np.uint64(0xC13FA9A902A6328F)
_MAX_CACHED_WORDS = 200_000

Hashes = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]


class WordHasher:
    """Computes keyed hashes of words and caches them."""

    def __init__(self, id_hash: Callable[[str], str]) -> None:
        self._hash = id_hash
        self._seen: dict[str, int] = {}

    def __reduce__(self) -> tuple[type[WordHasher], tuple[Callable[[str], str]]]:
        return WordHasher, (self._hash,)  # the cache is not sent to other processes

    def hash_words(self, *texts: str) -> Hashes:
        """The hash of each word, in order, ignoring case; a 0 separates two texts."""
        words: list[str] = []
        for number, text in enumerate(texts):
            words += [""] if number else []
            words += WORD.findall(text)
        return self._hashes(words)

    def edges(self, text: str) -> tuple[Hashes, Hashes]:
        """The hashes of the first letters of each word, and those of the last letters."""
        words = [_plain(word) for word in WORD.findall(text)]
        return self._hashes([word[:_LETTERS] for word in words]), self._hashes([word[-_LETTERS:] for word in words])

    def _hashes(self, words: Sequence[str]) -> Hashes:
        cache = self._seen
        if len(cache) > _MAX_CACHED_WORDS:
            cache.clear()
        for word in set(words).difference(cache):
            cache[word] = int(self._hash(f"forget\0said\0{_plain(word)}"), 16) if word else 0
        return np.fromiter(map(cache.__getitem__, words), np.uint64, len(words))


def _plain(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()


def encode(hashes: Hashes) -> str:
    """Hashes as a rule stores them: sorted, unique, little-endian, in base64."""
    return base64.b64encode(np.unique(hashes).astype("<u8").tobytes()).decode()


def decode(stored: Iterable[str]) -> Hashes:
    """The hashes of all rules together, sorted; the inverse of `encode`."""
    return np.unique(np.frombuffer(b"".join(map(base64.b64decode, stored)), "<u8").astype(np.uint64))


def runs_of(words: Hashes) -> Hashes:
    """The hash of every RUN consecutive words."""
    return _runs_of(words, RUN)


def line_of(words: Hashes) -> Hashes:
    """Hashes all the words together; returns an empty array without words."""
    return _fold(list(words.reshape(-1, 1))) + _LINE if len(words) else empty()


def pieces_of(words: Hashes, sizes: Sequence[int] = PIECES) -> Hashes:
    """The hashes of all consecutive words of these sizes."""
    return np.concatenate([_runs_of(words, size) for size in sizes]) + _PIECE


def mark_shared(pieces: Hashes) -> Hashes:
    """Marks pieces that other mails contain too: they match only where the answered mail itself is quoted."""
    return pieces + _SHARED


def heads_of(words: Hashes, heads: Hashes) -> Hashes:
    """The hash of every two words with the first letters of the word that follows them; none of the first two words."""
    return _fold([words[:-2], words[1:-1], heads[2:]]) + _HEAD if len(words) > 2 else empty()


def tails_of(words: Hashes, tails: Hashes) -> Hashes:
    """The hash of every two words with the last letters of the word before them; none of the last two words."""
    return _fold([tails[:-2], words[1:-1], words[2:]]) + _TAIL if len(words) > 2 else empty()


def _runs_of(words: Hashes, size: int) -> Hashes:
    count = len(words) - size + 1
    return _fold([words[start : start + count] for start in range(size)]) if count > 0 else empty()


def _fold(columns: Sequence[Hashes]) -> Hashes:
    total = np.zeros_like(columns[0])
    for column in columns:
        total = total * _FACTOR + column
    return total


def contains(hashes: Hashes, stored: Hashes) -> Mask:
    """Which hashes are in `stored`, which is sorted."""
    if not len(stored):
        return np.zeros(len(hashes), dtype=bool)
    positions = np.searchsorted(stored, hashes)
    matches: Mask = stored[np.minimum(positions, len(stored) - 1)] == hashes
    return matches


def matches_run(text: str, stored: Hashes, words: WordHasher) -> bool:
    """Whether a text contains a run of a forgotten mail."""
    return bool(contains(runs_of(words.hash_words(text)), stored).any())


def stretches(mask: Mask) -> list[tuple[int, int]]:
    """The stretches of True, as start and end (exclusive)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]


def longest_stretch(mask: Mask) -> int:
    """Length of the longest stretch of True."""
    return max(end - begin for begin, end in stretches(mask))


def empty() -> Hashes:
    """No hashes."""
    return np.empty(0, np.uint64)
