"""The items of a list: `which suppliers`, `list the invoices`. One line each, from as many records as hold one.

A row of a table and a line with a bullet are items by themselves; of other records it is the sentence that fits best.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from relrag_query.answering.candidates import Candidate
from relrag_query.answering.excerpts import Excerpt, Excerpts, says_same
from relrag_query.answering.features import column
from relrag_query.answering.ranker import RankedCandidate, Ranking
from relrag_query.answering.sentences import QuotableSpan, bullets, is_row

MAX_ITEMS = 10
_MAX_CHARACTERS = 200
"""of an item"""
_MAX_SCORE_GAP = 3.5
"""by which an item's score is below that of the first at most, as of excerpts"""
_MIN_SHARE = 0.6
"""of what the best of them covers of the question, an item of the same matter covers at least so much"""


def choose_items(ranking: Ranking, candidates: Sequence[Candidate], limit: int) -> Excerpts:
    """The items of a list, at most `limit`: by record, the best first, and in a record in their order."""
    if not ranking.is_close:
        return Excerpts([], "none")
    positions = {id(candidate): position for position, candidate in enumerate(candidates)}
    about = _about_the_matter(ranking.ranked)
    chosen: list[Excerpt] = []
    for record in _by_record(about):
        for option in sorted(record, key=lambda option: positions[id(option.candidate)]):
            chosen += [item for item in _items(option) if not any(says_same(item.unit, other.unit) for other in chosen)]
    near = frozenset(option.candidate.unit.hit.chunk.chunk_group_id for option in about)
    return Excerpts(chosen[: min(limit, MAX_ITEMS)], "unsure", near)


def _about_the_matter(ranked: Sequence[RankedCandidate]) -> list[RankedCandidate]:
    """The candidates that come near the first, by their score and by how much of the question they hold."""
    near = [option for option in ranked if option.score >= ranked[0].score - _MAX_SCORE_GAP]
    best = max(map(_coverage, near))
    return [option for option in near if _coverage(option) >= _MIN_SHARE * best]


def _coverage(option: RankedCandidate) -> float:
    return max(float(option.row[column(name)]) for name in ("described_coverage", "near_coverage"))


def _by_record(ranked: Sequence[RankedCandidate]) -> Iterator[list[RankedCandidate]]:
    """The candidates of each record that are items, the record of the best first."""
    records: dict[str, list[RankedCandidate]] = {}
    for option in ranked:
        records.setdefault(option.candidate.unit.asset_id, []).append(option)
    for options in records.values():
        rows = [option for option in options if is_row(option.candidate.unit.text)]
        yield rows if is_row(options[0].candidate.unit.text) else options[:1]


def _items(option: RankedCandidate) -> list[Excerpt]:
    """The lines with bullets of a candidate, else the candidate."""
    unit = option.candidate.unit
    return [_item(unit, text, option.share) for text in bullets(unit.text) or [unit.text]]


def _item(unit: QuotableSpan, text: str, share: float) -> Excerpt:
    line = textwrap.shorten(text, _MAX_CHARACTERS, placeholder=" …")
    return Excerpt(replace(unit, text=line), line, share)
