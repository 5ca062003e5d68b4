"""Finds the words of forgotten mails in mails that quote them, by keyed hashes, and cuts them out.

A rule stores hashes of every RUN consecutive words of a forgotten mail, regardless of line ends and punctuation, of
its whole lines, and of its pieces of a few words. Runs are matched in quotations and forwarded texts of any mail;
pieces only beside a matching run or in a later mail of the thread; lines, which may be everyday words, only in a mail
that answers the forgotten one. A mail's own words are never cut.
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

_QUOTING_PARTS = ("quoted", "forwarded")
"""the parts of a mail with other people's texts"""
_ADDRESS = re.compile(
    r"<[^<>\s]*>|\[[^\[\]\s:@]{0,200}[:@][^\[\]\s]*\]|(?:https?://|www\.|mailto:)\S+|[^\s@]{1,64}@[^\s@]+"
)
"""what mail programs add after a name, a link or a picture"""


def side_texts(extra: Mapping[str, Any]) -> dict[str, str]:
    """The parts of a mail apart from its own text; empty if the source uses the key for something else."""
    parts = extra.get("apart")
    return {name: text for name, text in parts.items() if isinstance(text, str)} if isinstance(parts, dict) else {}


def cut_from_mail(
    record: Record, forgotten: Hashes, words: WordHasher, *, answers: bool = False, follows: bool = False
) -> bool:
    """Cuts forgotten texts out of a mail's quotations and derived fields; returns whether there were any.

    `answers`: the mail answers a forgotten one. `follows`: a forgotten mail precedes it in its thread.
    """
    parts = side_texts(record.extra)
    cut_out = partial(cut_quotes, forgotten=forgotten, words=words, answers=answers, follows=follows)
    cut_parts = {name: cut_out(parts[name]) for name in _QUOTING_PARTS if name in parts}
    if all(parts[name] == text for name, text in cut_parts.items()):
        return False
    remaining = {name: text for name, text in (parts | cut_parts).items() if text}
    forwarded_text = segmentation.segment(parts.get("forwarded", "")).join(
        "fresh"
    )  # no signature below, nor what it quotes itself
    if "forwarded" not in remaining or (forwarded_text and not cut_out(forwarded_text)):
        remaining.pop("forward_headers", None)
    record.extra = {**record.extra, "apart": remaining}
    if not remaining:
        del record.extra["apart"]
    quoted_numbers = set(
        reference_numbers.find_reference_numbers("\n".join([record.subject or "", record.text, *remaining.values()]))
    )
    record.numbers = [number for number in record.numbers if number in quoted_numbers]
    return True


def cut_quotes(text: str, forgotten: Hashes, words: WordHasher, *, answers: bool = False, follows: bool = False) -> str:
    """A quotation without forgotten texts; its introduction is removed with its last word."""
    while (shorter := _cut_once(text, forgotten, words, answers, follows)) != text:
        text = shorter  # words that are now adjacent may form a run
        follows = True  # it has quoted a forgotten mail
    return text


def _cut_once(text: str, forgotten: Hashes, words: WordHasher, answers: bool, follows: bool) -> str:
    hashes = words.hash_words(text)
    removed = np.zeros(len(hashes), dtype=bool)
    for start in np.flatnonzero(contains(runs_of(hashes), forgotten)):
        removed[start : start + RUN] = True
    if not (answers or follows or removed.any()):
        return text
    spans = [match.span() for match in WORD.finditer(text)]
    lines = list(line_fragments.lines_of(text, spans))
    line_fragments.mark_interleaved_runs(lines, hashes, forgotten, removed)
    finder = line_fragments.Finder(text, spans, forgotten, words)
    answered = line_fragments.lines_of_answered_mail(text, lines) if answers else set()
    for number, line in enumerate(lines):
        if answers and contains(line_of(hashes[line.first : line.last]), forgotten).any():
            removed[line.first : line.last] = True
        finder.mark(line, removed, in_answered_mail=number in answered)
        _close_gaps(text, spans, line, removed)
    if not removed.any():
        return text
    _drop_introductions(text, spans, removed)
    return _text_outside(text, spans, lines, removed)


def _close_gaps(text: str, spans: Sequence[tuple[int, int]], line: TextLine, removed: Mask) -> None:
    """Marks what mail programs insert between two removed words of a line, such as an address after a name."""
    for (_, end), (begin, _) in pairwise(stretches(removed[line.first : line.last])):
        between = text[spans[line.first + end - 1][1] : spans[line.first + begin][0]]
        if not WORD.search(_ADDRESS.sub("", between)):
            removed[line.first + end : line.first + begin] = True


def _drop_introductions(text: str, spans: Sequence[tuple[int, int]], removed: Mask) -> None:
    starts = [start for start, _ in spans]
    word_spans = [
        np.searchsorted(starts, introduction).tolist() for introduction in segmentation.attribution_lines(text)
    ]
    for (begin, end), (following, _) in pairwise([*word_spans, [len(spans), len(spans)]]):
        if end < following and removed[end:following].all():
            removed[begin:end] = True


def _text_outside(text: str, spans: Sequence[tuple[int, int]], lines: Iterable[TextLine], removed: Mask) -> str:
    remaining: list[str] = []
    empty = True
    for start, end, first_word, last_word, _ in lines:
        if first_word == last_word:
            if not empty:
                remaining.append(text[start:end])
            empty = True
            continue
        if removed[first_word:last_word].all():
            continue
        empty = False
        if not removed[first_word:last_word].any():
            remaining.append(text[start:end])
            continue
        pieces = [text[start : spans[first_word][0]]]
        for begin, stop in stretches(~removed[first_word:last_word]):
            limit = spans[first_word + stop][0] if first_word + stop < last_word else end
            pieces.append(("… " if begin else "") + text[spans[first_word + begin][0] : limit].rstrip() + " ")
        remaining.append("".join(pieces).rstrip() + ("" if not removed[last_word - 1] else " …"))
    return "\n".join(remaining).strip() if WORD.search("".join(remaining)) else ""
