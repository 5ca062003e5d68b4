"""What could be quoted as the answer to a question: a sentence, or an exchange of a chat."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from relrag_query.answering.sentences import QuotableSpan, is_row, quotable_spans
from relrag_query.retrieval.hit import Hit

_BEFORE, _BEHIND = 3, 1
"""turns or sentences around a candidate that may say what it is about"""
_TURNS = 2
"""turns that are quoted behind the first of an exchange"""
_QUOTED = 280
"""characters of an exchange"""
_SOON = 1800
"""seconds between turns of an exchange"""


@dataclass
class Candidate:
    """Something that can be quoted, and what stands around it."""

    unit: QuotableSpan
    near: str
    """what is said right before and behind it in its passage; nothing of a row, whose neighbours are about others"""
    rank: int
    """of its hit, from 0"""
    exchange: tuple[QuotableSpan, ...] = ()
    """of a chat: the turns that follow, which are quoted with it"""

    @property
    def text(self) -> str:
        """What is weighed."""
        return _spoken(self.unit, *self.exchange) if self.exchange else self.unit.quote

    @property
    def embedded_text(self) -> str:
        """What its meaning is taken from."""
        subject = self.unit.hit.chunk.subject or ""
        return f"{subject}\n{self.text}" if self.exchange else f"{subject}\n{self.unit.sender or ''}: {self.text}"


def candidates(hits: Sequence[Hit]) -> list[Candidate]:
    """All that can be quoted of the hits, in their order."""
    every = []
    for rank, hit in enumerate(hits):
        units = quotable_spans(hit)
        for position, unit in enumerate(units):
            around = [*units[max(0, position - _BEFORE) : position], *units[position + 1 : position + 1 + _BEHIND]]
            near = "" if is_row(unit.text) else "\n".join(f"{other.sender or ''}: {other.text}" for other in around)
            every.append(Candidate(unit, near, rank, _exchange(units[position:]) if hit.messages else ()))
    return every


def _spoken(*turns: QuotableSpan) -> str:
    return "\n".join(f"{turn.sender or ''}: {turn.text}" for turn in turns)


def _exchange(turns: Sequence[QuotableSpan]) -> tuple[QuotableSpan, ...]:
    """The turns behind the first that belong to it: a few short ones, soon after each other, and its reply."""
    first, size = turns[0], len(turns[0].text)
    follow: list[QuotableSpan] = []
    for last, turn in itertools.islice(itertools.pairwise(turns), _TURNS):
        size += len(turn.text)
        if size > _QUOTED or (turn.ts or 0) - (last.ts or 0) > _SOON:
            break
        follow.append(turn)
    if first.reply and all(turn.asset_id != first.reply.asset_id for turn in follow):
        follow = [first.reply]
    return tuple(follow)
