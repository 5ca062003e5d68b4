"""Spans of personal data in a text, and the resolution of overlaps."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Span(NamedTuple):
    """A span of text with personal data of one entity."""

    start: int
    """offset of its first character, code points"""
    end: int
    """offset after its last character, code points"""
    score: float
    """confidence, 0 to 1"""


def resolve_overlaps(spans: Iterable[Span], text: str) -> list[Span]:
    """Spans of one entity without overlap, in order: the highest score stays whole, others are cut around it.

    A remainder is kept if it contains a letter or a digit, so that every such character stays covered.
    """
    resolved: list[Span] = []
    for cluster in _clusters(spans):
        if len(cluster) == 1:
            resolved += cluster
            continue
        chosen: list[Span] = []
        for span in sorted(cluster, key=lambda other: (-other.score, other.start - other.end, other.start)):
            # compares neighbours only: in a table of digits thousands overlap
            first = max(0, bisect.bisect_left(chosen, (span.start,)) - 1)
            last = bisect.bisect_left(chosen, (span.end,))
            if not any(near.start <= span.start and span.end <= near.end for near in chosen[first:last]):
                chosen[first:last] = sorted([*chosen[first:last], *_outside(span, chosen[first:last], text)])
        resolved += chosen
    return resolved


def _clusters(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Groups of distinct spans that overlap, directly or through others."""
    cluster: list[Span] = []
    end = 0
    for span in sorted(set(spans)):
        if cluster and span.start >= end:
            yield cluster
            cluster = []
        end = max(end, span.end) if cluster else span.end
        cluster.append(span)
    if cluster:
        yield cluster


def _outside(span: Span, chosen: list[Span], text: str) -> list[Span]:
    parts, start = [], span.start
    for taken in chosen:
        if taken.end <= start or taken.start >= span.end:
            continue
        parts.append((start, taken.start))
        start = taken.end
    parts.append((start, span.end))
    return [Span(a, b, span.score) for a, b in parts if a < b and any(map(str.isalnum, text[a:b]))]
