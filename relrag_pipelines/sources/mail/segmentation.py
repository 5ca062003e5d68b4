"""Splits a mail's text into what its author wrote, quoted history, signature, disclaimer and forwarded mail.

Read line by line, and precise rather than greedy: a line that only looks like a mark stays what the author wrote. Marks
are known in the languages of `phrases`. Every pattern is matched against a bounded piece of one line or a few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from relrag_pipelines.sources.mail import segmentation_phrases
from relrag_pipelines.sources.mail.introductions import (
    LONGEST_INTRODUCTION,
    attribution_size,
    divider_kind,
    introduction_size,
    message_header,
)
from relrag_pipelines.sources.mail.signature import signature_bounds
from relrag_pipelines.sources.mail.text_lines import Line, next_text, text_lines

SegmentKind = Literal["fresh", "quoted", "signature", "disclaimer", "forward_headers", "forwarded"]
"""fresh: the author's own words; quoted: an earlier message with the line that introduces it, answered here;
forward_headers and forwarded: a message that is passed on, its header with the divider above, and its text"""


class Segment(NamedTuple):
    """One part, text[start:end]."""

    kind: SegmentKind
    start: int
    end: int


@dataclass(frozen=True)
class Segments:
    """The parts of one text in order; they cover it without a gap."""

    text: str
    spans: tuple[Segment, ...]

    def join(self, *kinds: SegmentKind) -> str:
        """The text of the parts of these kinds, in order and stripped."""
        return "".join(self.text[span.start : span.end] for span in self.spans if span.kind in kinds).strip()


def segment(text: str, subject: str = "") -> Segments:
    """The parts of a mail's plain text; joined, they are the text.

    Outlook writes the same header above a message that is answered and one that is passed on; the mail's subject
    ("FW: ...") tells which. What is below such a header, or below a line like "On 12 Jan 2024, Dana <...> wrote:" that
    no `>` follows, is all of the old message.
    """
    lines = list(text_lines(text))
    kinds = _mark_history(lines, bool(segmentation_phrases.FORWARD_SUBJECT.match(subject)))
    for kind, begin, end in list(_runs(kinds)):
        if kind == "fresh" and not _is_gap(lines, kinds, begin, end):
            signature, disclaimer = signature_bounds(lines, begin, end)
            kinds[signature:disclaimer] = ["signature"] * (disclaimer - signature)
            kinds[disclaimer:end] = ["disclaimer"] * (end - disclaimer)
        elif kind == "fresh":
            _mark_gap(kinds, begin, end)
    spans = (Segment(kind, lines[begin].start, lines[end - 1].end) for kind, begin, end in _runs(kinds))
    return Segments(text, tuple(spans))


def attribution_lines(text: str) -> list[tuple[int, int]]:
    """Where in quoted text it says who wrote what follows: headers, dividers, lines like "On 12 Jan, Dana wrote:"."""
    lines = list(text_lines(text))
    spans, at = [], 0
    while at < len(lines):
        depth = lines[at].depth
        # as it stood when it was written, before others quoted it again
        around = [line._replace(depth=max(0, line.depth - depth)) for line in lines[at : at + LONGEST_INTRODUCTION]]
        size = attribution_size(around) if lines[at].bare else 0
        if size:
            spans.append((lines[at].start, lines[at + size - 1].end))
        at += size or 1
    return spans


def _runs(kinds: Sequence[SegmentKind]) -> Iterator[tuple[SegmentKind, int, int]]:
    """Runs of equal kinds: the kind, the first line, and the line after the last."""
    begin = 0
    for kind, group in groupby(kinds):
        end = begin + len(list(group))
        yield kind, begin, end
        begin = end


def _is_gap(lines: Sequence[Line], kinds: Sequence[SegmentKind], begin: int, end: int) -> bool:
    """Whether these are empty lines between quoted ones."""
    return (
        begin > 0
        and end < len(kinds)
        and kinds[begin - 1] == kinds[end] == "quoted"
        and not any(line.bare for line in lines[begin:end])
    )


def _mark_history(lines: Sequence[Line], forward: bool) -> list[SegmentKind]:
    """The kind of each line that belongs to quoted messages; the rest is new text."""
    kinds: list[SegmentKind] = ["fresh"] * len(lines)
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.bare and divider_kind(line.bare) == "original" and introduction_size(lines, next_text(lines, at + 1)):
            at = _mark_gap(kinds, at, next_text(lines, at + 1))  # the line that follows says how far it goes
        elif line.bare and (header := message_header(lines, at, forward)):
            passed_on, body = header
            end = region_end(lines, at)
            kinds[at:body] = ["forward_headers" if passed_on else "quoted"] * (body - at)
            kinds[body:end] = ["forwarded" if passed_on else "quoted"] * (end - body)
            at = end
        elif line.depth:
            at = _mark_gap(kinds, at, _quotation_end(lines, at))
        elif line.bare and (size := introduction_size(lines, at)):
            following = next_text(lines, at + size)
            quoted = following < len(lines) and lines[following].depth > 0
            at = _mark_gap(kinds, at, _quotation_end(lines, following) if quoted else len(lines))
        else:
            at += 1
    return kinds


def _mark_gap(kinds: list[SegmentKind], begin: int, end: int) -> int:
    kinds[begin:end] = ["quoted"] * (end - begin)
    return end


def region_end(lines: Sequence[Line], at: int) -> int:
    """Where a message that begins here ends: at the end of the text, or of its quotation."""
    depth, end = lines[at].depth, at
    while end < len(lines) and (lines[end].depth >= depth or not lines[end].bare):
        end += 1
    return end


def _quotation_end(lines: Sequence[Line], at: int) -> int:
    while at < len(lines) and lines[at].depth:
        at += 1
    return at
