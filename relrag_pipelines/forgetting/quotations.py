"""The words of forgotten mails where other mails quote them: known by keyed hashes, and cut out of the quotation.

What is kept of a forgotten mail are hashes of every RUN words that follow each other in its text, wherever lines end
and whatever marks stand between, and of its lines as a whole. Runs are looked for in what any mail quotes or passes on;
lines, which may be everyday words, only in a mail that answers the forgotten one. A mail's own words are never cut.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from relrag_pipelines import numbers
from relrag_pipelines.records import Record
from relrag_pipelines.sources.mail import quoted

RUN = 6
"""words; of fewer, an everyday phrase would be taken for a quotation"""
_OTHERS = ("quoted", "forwarded")
"""the parts of a mail that somebody else wrote"""
_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f\u0591-\u05c7])*")
"""with the marks that stand on a letter by themselves"""
_ADDRESS = re.compile(
    r"<[^<>\s]*>|\[[^\[\]\s:@]{0,200}[:@][^\[\]\s]*\]|(?:https?://|www\.|mailto:)\S+|[^\s@]{1,64}@[^\s@]+"
)
"""what mail programs put behind a name, a link or a picture"""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_LINE = np.uint64(0xD1B54A32D192ED03)
"""added to the hash of a line, which is no run"""
_MEMORY = 200_000

Hashes = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]


class Words:
    """Keyed hashes of words; those that were seen are remembered, as they come again and again."""

    def __init__(self, id_hash: Callable[[str], str]) -> None:
        self._hash = id_hash
        self._seen: dict[str, int] = {}

    def __reduce__(self) -> tuple[type[Words], tuple[Callable[[str], str]]]:
        return Words, (self._hash,)  # what was seen does not travel between processes

    def of(self, text: str) -> Hashes:
        """The hash of each word of a text, in order; upper and lower case are alike."""
        seen, words = self._seen, _WORD.findall(text)
        if len(seen) > _MEMORY:
            seen.clear()
        for word in set(words).difference(seen):
            plain = unicodedata.normalize("NFKC", word).casefold()
            seen[word] = int(self._hash(f"forget\0said\0{plain}"), 16)
        return np.fromiter(map(seen.__getitem__, words), np.uint64, len(words))


def packed(hashes: Hashes) -> str:
    """Hashes as a rule stores them: sorted, each once, little-endian, in base64."""
    return base64.b64encode(np.unique(hashes).astype("<u8").tobytes()).decode()


def unpacked(stored: Iterable[str]) -> Hashes:
    """What `packed` made, of all rules together, sorted."""
    return np.unique(np.frombuffer(b"".join(map(base64.b64decode, stored)), "<u8").astype(np.uint64))


def holds(text: str, forgotten: Hashes, words: Words) -> bool:
    """Whether a run of a forgotten mail stands in a text."""
    return bool(among(runs_of(words.of(text)), forgotten).any())


def texts_apart(extra: Mapping[str, Any]) -> dict[str, str]:
    """The parts of a mail that stand beside its own text; none where a source means something else by the word."""
    parts = extra.get("apart")
    return {name: text for name, text in parts.items() if isinstance(text, str)} if isinstance(parts, dict) else {}


def leave_out(record: Record, forgotten: Hashes, words: Words, *, answers: bool) -> bool:
    """Cuts what forgotten mails say out of what a mail quotes, and out of what follows from it; whether there was any.

    `answers` says that it answers one of them.
    """
    parts = texts_apart(record.extra)
    left = {name: cut(parts[name], forgotten, words, answers=answers) for name in _OTHERS if name in parts}
    if all(parts[name] == text for name, text in left.items()):
        return False
    kept = {name: text for name, text in (parts | left).items() if text}
    passed_on = quoted.split(parts.get("forwarded", "")).only("fresh")  # no signature below, nor what it quotes itself
    if "forwarded" not in kept or (passed_on and not cut(passed_on, forgotten, words, answers=answers)):
        kept.pop("forward_headers", None)
    record.extra = {**record.extra, "apart": kept}
    if not kept:
        del record.extra["apart"]
    still = set(numbers.find("\n".join([record.subject or "", record.text, *kept.values()])))
    record.numbers = [number for number in record.numbers if number in still]
    return True


def cut(text: str, forgotten: Hashes, words: Words, *, answers: bool) -> str:
    """A quotation without what forgotten mails say; who wrote it goes with the last of its words."""
    while (left := _cut_once(text, forgotten, words, answers)) != text:
        text = left  # what is now beside each other may be a run as well
    return text


def _cut_once(text: str, forgotten: Hashes, words: Words, answers: bool) -> str:
    hashes = words.of(text)
    gone = np.zeros(len(hashes), dtype=bool)
    for place in np.flatnonzero(among(runs_of(hashes), forgotten)):
        gone[place : place + RUN] = True
    if not answers and not gone.any():
        return text
    spans = [found.span() for found in _WORD.finditer(text)]
    lines = list(_lines(text, spans))
    for _, _, first, last in lines:
        if answers and among(line_of(hashes[first:last]), forgotten).any():
            gone[first:last] = True
        stretches = _stretches(gone[first:last])
        for (_, end), (begin, _) in pairwise(stretches):
            between = text[spans[first + end - 1][1] : spans[first + begin][0]]
            if not _WORD.search(_ADDRESS.sub("", between)):
                gone[first + end : first + begin] = True
    if not gone.any():
        return text
    _drop_introductions(text, spans, gone)
    return _without(text, spans, lines, gone)


def _drop_introductions(text: str, spans: Sequence[tuple[int, int]], gone: Mask) -> None:
    starts = [start for start, _ in spans]
    places = [np.searchsorted(starts, one).tolist() for one in quoted.introductions(text)]
    for (begin, end), (following, _) in pairwise([*places, [len(spans), len(spans)]]):
        if end < following and gone[end:following].all():
            gone[begin:end] = True


def _without(
    text: str, spans: Sequence[tuple[int, int]], lines: Iterable[tuple[int, int, int, int]], gone: Mask
) -> str:
    kept: list[str] = []
    empty = True
    for start, end, first, last in lines:
        if first == last:
            if not empty:
                kept.append(text[start:end])
            empty = True
            continue
        if gone[first:last].all():
            continue
        empty = False
        if not gone[first:last].any():
            kept.append(text[start:end])
            continue
        pieces = [text[start : spans[first][0]]]
        for begin, behind in _stretches(~gone[first:last]):
            until = spans[first + behind][0] if first + behind < last else end
            pieces.append(("… " if begin else "") + text[spans[first + begin][0] : until].rstrip() + " ")
        kept.append("".join(pieces).rstrip() + ("" if not gone[last - 1] else " …"))
    return "\n".join(kept).strip() if _WORD.search("".join(kept)) else ""


def _lines(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Each line: where it begins and ends in the text, its first word and the one behind its last."""
    start = word = 0
    for line in text.split("\n"):
        end, first = start + len(line), word
        while word < len(spans) and spans[word][0] < end:
            word += 1
        yield start, end, first, word
        start = end + 1


def _stretches(mask: Mask) -> list[tuple[int, int]]:
    """Where True follows True: the first place and the one behind the last."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return [(int(begin), int(end)) for begin, end in edges.reshape(-1, 2)]


def longest(mask: Mask) -> int:
    return max(end - begin for begin, end in _stretches(mask))


def runs_of(words: Hashes) -> Hashes:
    """The hash of every RUN words that follow each other."""
    count = len(words) - RUN + 1
    return _folded([words[place : place + count] for place in range(RUN)]) if count > 0 else none()


def line_of(words: Hashes) -> Hashes:
    """The hash of all words together; none of none."""
    return _folded(list(words.reshape(-1, 1))) + _LINE if len(words) else none()


def _folded(columns: Sequence[Hashes]) -> Hashes:
    total = np.zeros_like(columns[0])
    for column in columns:
        total = total * _FACTOR + column
    return total


def among(hashes: Hashes, stored: Hashes) -> Mask:
    """Which hashes are stored; those are sorted."""
    if not len(stored):
        return np.zeros(len(hashes), dtype=bool)
    places = np.searchsorted(stored, hashes)
    found: Mask = stored[np.minimum(places, len(stored) - 1)] == hashes
    return found


def none() -> Hashes:
    """No hashes."""
    return np.empty(0, np.uint64)
