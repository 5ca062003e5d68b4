"""Keyed hashes of words, runs of words, lines, and the pieces of lines that mail programs leave.

A rule keeps the hashes of all of these in one sorted array. What each stands for is told by a number that is added to
it, so that a kind of hash can be added without changing how rules are stored: rules made before simply have none.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

RUN = 6
"""words; of fewer, an everyday phrase would be taken for a quotation"""
PIECES = (3, 4, 5)
"""words of a piece; of a longer one all pieces of 5 words are looked for"""
_LETTERS = 2
"""of a word that was cut in the middle, by which it is told"""
WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f\u0591-\u05c7])*")
"""with the marks that stand on a letter by themselves"""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_LINE = np.uint64(0xD1B54A32D192ED03)
_PIECE = np.uint64(0x8CB92BA72F3D8DD7)
_SHARED = np.uint64(0xAEF17502108EF2D9)
_HEAD = np.uint64(0xF1357AEA2E62A9C5)
_TAIL = np.uint64(0xC13FA9A902A6328F)
_MEMORY = 200_000

Hashes = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]


class WordHasher:
    """Keyed hashes of words; those that were seen are remembered, as they come again and again."""

    def __init__(self, id_hash: Callable[[str], str]) -> None:
        self._hash = id_hash
        self._seen: dict[str, int] = {}

    def __reduce__(self) -> tuple[type[WordHasher], tuple[Callable[[str], str]]]:
        return WordHasher, (self._hash,)  # what was seen does not travel between processes

    def of(self, *texts: str) -> Hashes:
        """The hash of each word of a text, in order; upper and lower case are alike. Between two texts stands a 0."""
        words: list[str] = []
        for number, text in enumerate(texts):
            words += [""] if number else []
            words += WORD.findall(text)
        return self._hashes(words)

    def edges(self, text: str) -> tuple[Hashes, Hashes]:
        """The hashes of the first letters of each word of a text, and of the last."""
        words = [_plain(word) for word in WORD.findall(text)]
        return self._hashes([word[:_LETTERS] for word in words]), self._hashes([word[-_LETTERS:] for word in words])

    def _hashes(self, words: Sequence[str]) -> Hashes:
        seen = self._seen
        if len(seen) > _MEMORY:
            seen.clear()
        for word in set(words).difference(seen):
            seen[word] = int(self._hash(f"forget\0said\0{_plain(word)}"), 16) if word else 0
        return np.fromiter(map(seen.__getitem__, words), np.uint64, len(words))


def _plain(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()


def encode(hashes: Hashes) -> str:
    """Hashes as a rule stores them: sorted, each once, little-endian, in base64."""
    return base64.b64encode(np.unique(hashes).astype("<u8").tobytes()).decode()


def decode(stored: Iterable[str]) -> Hashes:
    """What `packed` made, of all rules together, sorted."""
    return np.unique(np.frombuffer(b"".join(map(base64.b64decode, stored)), "<u8").astype(np.uint64))


def runs_of(words: Hashes) -> Hashes:
    """The hash of every RUN words that follow each other."""
    return _runs_of(words, RUN)


def line_of(words: Hashes) -> Hashes:
    """The hash of all words together; none of none."""
    return _fold(list(words.reshape(-1, 1))) + _LINE if len(words) else empty()


def pieces_of(words: Hashes, sizes: Sequence[int] = PIECES) -> Hashes:
    """The hash of every few words that follow each other."""
    return np.concatenate([_runs_of(words, size) for size in sizes]) + _PIECE


def mark_shared(pieces: Hashes) -> Hashes:
    """Pieces that others say as well: they are looked for only where the answered mail itself is quoted."""
    return pieces + _SHARED


def heads_of(words: Hashes, heads: Hashes) -> Hashes:
    """The hash of every two words with the first letters of the word that follows them; none of the first two words."""
    return _fold([words[:-2], words[1:-1], heads[2:]]) + _HEAD if len(words) > 2 else empty()


def tails_of(words: Hashes, tails: Hashes) -> Hashes:
    """The hash of every two words with the last letters of the word before them; none of the last two words."""
    return _fold([tails[:-2], words[1:-1], words[2:]]) + _TAIL if len(words) > 2 else empty()


def _runs_of(words: Hashes, size: int) -> Hashes:
    count = len(words) - size + 1
    return _fold([words[place : place + count] for place in range(size)]) if count > 0 else empty()


def _fold(columns: Sequence[Hashes]) -> Hashes:
    total = np.zeros_like(columns[0])
    for column in columns:
        total = total * _FACTOR + column
    return total


def contains(hashes: Hashes, stored: Hashes) -> Mask:
    """Which hashes are stored; those are sorted."""
    if not len(stored):
        return np.zeros(len(hashes), dtype=bool)
    places = np.searchsorted(stored, hashes)
    found: Mask = stored[np.minimum(places, len(stored) - 1)] == hashes
    return found


def matches_run(text: str, forgotten: Hashes, words: WordHasher) -> bool:
    """Whether a run of a forgotten mail stands in a text."""
    return bool(contains(runs_of(words.of(text)), forgotten).any())


def stretches(mask: Mask) -> list[tuple[int, int]]:
    """Where True follows True: the first place and the one behind the last."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]


def longest_stretch(mask: Mask) -> int:
    """How many are True in a row at most."""
    return max(end - begin for begin, end in stretches(mask))


def empty() -> Hashes:
    """No hashes."""
    return np.empty(0, np.uint64)
