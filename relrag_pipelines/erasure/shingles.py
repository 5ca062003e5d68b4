"""Finds the words of forgotten mails in mails that quote them, by keyed hashes, and cuts them out.

What is kept of a forgotten mail are hashes of every RUN words that follow each other in its text, wherever lines end
and whatever marks stand between, of its lines as a whole, and of its pieces of a few words. Runs are looked for in what
any mail quotes or passes on; pieces only where such a run stands or in a mail that follows the forgotten one; lines,
which may be everyday words, only in a mail that answers it. A mail's own words are never cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from relrag_pipelines.erasure import line_fragments
from relrag_pipelines.erasure.line_fragments import TextLine
from relrag_pipelines.erasure.word_hashes import (
    RUN,
    WORD,
    Hashes,
    Mask,
    WordHasher,
    contains,
    line_of,
    runs_of,
    stretches,
)
from relrag_pipelines.records import Record
from relrag_pipelines.sources.mail import segmentation
from relrag_pipelines.text import reference_numbers

_OTHERS = ("quoted", "forwarded")
"""the parts of a mail that somebody else wrote"""
_ADDRESS = re.compile(
    r"<[^<>\s]*>|\[[^\[\]\s:@]{0,200}[:@][^\[\]\s]*\]|(?:https?://|www\.|mailto:)\S+|[^\s@]{1,64}@[^\s@]+"
)
"""what mail programs put behind a name, a link or a picture"""


def side_texts(extra: Mapping[str, Any]) -> dict[str, str]:
    """The parts of a mail that stand beside its own text; none where a source means something else by the word."""
    parts = extra.get("apart")
    return {name: text for name, text in parts.items() if isinstance(text, str)} if isinstance(parts, dict) else {}


def cut_from_mail(
    record: Record, forgotten: Hashes, words: WordHasher, *, answers: bool = False, follows: bool = False
) -> bool:
    """Cuts what forgotten mails say out of what a mail quotes, and out of what follows from it; whether there was any.

    `answers` says that it answers one of them, `follows` that one stands above it in its thread.
    """
    parts = side_texts(record.extra)
    cut_out = partial(cut_quotes, forgotten=forgotten, words=words, answers=answers, follows=follows)
    left = {name: cut_out(parts[name]) for name in _OTHERS if name in parts}
    if all(parts[name] == text for name, text in left.items()):
        return False
    kept = {name: text for name, text in (parts | left).items() if text}
    passed_on = segmentation.segment(parts.get("forwarded", "")).join(
        "fresh"
    )  # no signature below, nor what it quotes itself
    if "forwarded" not in kept or (passed_on and not cut_out(passed_on)):
        kept.pop("forward_headers", None)
    record.extra = {**record.extra, "apart": kept}
    if not kept:
        del record.extra["apart"]
    still = set(
        reference_numbers.find_reference_numbers("\n".join([record.subject or "", record.text, *kept.values()]))
    )
    record.numbers = [number for number in record.numbers if number in still]
    return True


def cut_quotes(text: str, forgotten: Hashes, words: WordHasher, *, answers: bool = False, follows: bool = False) -> str:
    """A quotation without what forgotten mails say; who wrote it goes with the last of its words."""
    while (left := _cut_once(text, forgotten, words, answers, follows)) != text:
        text = left  # what is now beside each other may be a run as well
        follows = True  # it has quoted a forgotten mail
    return text


def _cut_once(text: str, forgotten: Hashes, words: WordHasher, answers: bool, follows: bool) -> str:
    hashes = words.of(text)
    gone = np.zeros(len(hashes), dtype=bool)
    for place in np.flatnonzero(contains(runs_of(hashes), forgotten)):
        gone[place : place + RUN] = True
    if not (answers or follows or gone.any()):
        return text
    spans = [found.span() for found in WORD.finditer(text)]
    lines = list(line_fragments.lines_of(text, spans))
    line_fragments.interleave(lines, hashes, forgotten, gone)
    finder = line_fragments.Finder(text, spans, forgotten, words)
    own = line_fragments.lines_of_answered_mail(text, lines) if answers else set()
    for number, line in enumerate(lines):
        if answers and contains(line_of(hashes[line.first : line.last]), forgotten).any():
            gone[line.first : line.last] = True
        finder.mark(line, gone, own=number in own)
        _close_gaps(text, spans, line, gone)
    if not gone.any():
        return text
    _drop_introductions(text, spans, gone)
    return _text_outside(text, spans, lines, gone)


def _close_gaps(text: str, spans: Sequence[tuple[int, int]], line: TextLine, gone: Mask) -> None:
    """Marks what mail programs put between two words of a line that go: an address behind a name."""
    for (_, end), (begin, _) in pairwise(stretches(gone[line.first : line.last])):
        between = text[spans[line.first + end - 1][1] : spans[line.first + begin][0]]
        if not WORD.search(_ADDRESS.sub("", between)):
            gone[line.first + end : line.first + begin] = True


def _drop_introductions(text: str, spans: Sequence[tuple[int, int]], gone: Mask) -> None:
    starts = [start for start, _ in spans]
    places = [np.searchsorted(starts, one).tolist() for one in segmentation.attribution_lines(text)]
    for (begin, end), (following, _) in pairwise([*places, [len(spans), len(spans)]]):
        if end < following and gone[end:following].all():
            gone[begin:end] = True


def _text_outside(text: str, spans: Sequence[tuple[int, int]], lines: Iterable[TextLine], gone: Mask) -> str:
    kept: list[str] = []
    empty = True
    for start, end, first, last, _ in lines:
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
        for begin, behind in stretches(~gone[first:last]):
            until = spans[first + behind][0] if first + behind < last else end
            pieces.append(("… " if begin else "") + text[spans[first + begin][0] : until].rstrip() + " ")
        kept.append("".join(pieces).rstrip() + ("" if not gone[last - 1] else " …"))
    return "\n".join(kept).strip() if WORD.search("".join(kept)) else ""
