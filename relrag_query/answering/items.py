"""The items of a list: `which suppliers`, `list the invoices`. One line each, from as many records as hold one.

A row of a table and a line with a bullet are items by themselves; of other records it is the sentence that fits best.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from relrag_query.answering.candidates import Candidate
from relrag_query.answering.excerpts import (
    Excerpt,
    Excerpts,
    answering_span,
    plain_tokens,
    spans_of,
    telling_spans,
)
from relrag_query.answering.features import SentenceScorer, tokens_of
from relrag_query.answering.ranker import RankedCandidate, Ranking
from relrag_query.answering.sentences import QuotableSpan, bullets, is_row, table_rows
from relrag_query.retrieval.term_coverage import term_coverage

MAX_ITEMS = 10
_MAX_CHARACTERS = 200
"""of an item"""
_MAX_SCORE_GAP = 3.5
"""by which an item's score is below that of the first at most, as of excerpts"""
_MIN_SHARE = 0.6
"""of what the best of them covers of the question, an item of the same matter covers at least so much"""
_MIN_SHARE_OF_ROW = 0.8
"""the same of the rows of one table"""


def choose_items(ranking: Ranking, candidates: Sequence[Candidate], question: SentenceScorer, limit: int) -> Excerpts:
    """The items of a list, at most `limit`: by record, the best first, and in a record in their order."""
    if not ranking.is_close:
        return Excerpts([], "none")
    about = _about_the_matter(ranking.ranked)
    positions = {id(candidate): position for position, candidate in enumerate(candidates)}
    chosen: dict[frozenset[str], Excerpt] = {}
    for record in _by_record(about):
        for option in sorted(record, key=lambda option: positions[id(option.candidate)]):
            for item in _items(option, candidates, question):
                _add(item, chosen, min(limit, MAX_ITEMS))
    near = frozenset(option.candidate.unit.hit.chunk.chunk_group_id for option in about)
    return Excerpts(list(chosen.values()), "unsure", near)


def _about_the_matter(ranked: Sequence[RankedCandidate]) -> list[RankedCandidate]:
    """The candidates that come near the first, by their score and by how much of the question they hold."""
    near = [option for option in ranked if option.score >= ranked[0].score - _MAX_SCORE_GAP]
    least = _MIN_SHARE * max(option.coverage for option in near)
    return [option for option in near if option.coverage >= least]


def _by_record(ranked: Sequence[RankedCandidate]) -> Iterator[list[RankedCandidate]]:
    """The candidates of each record that hold its items, the record of the best first.

    Of a table it is one, which leads to all rows; else all that have bullets, or the best.
    """
    records: dict[str, list[RankedCandidate]] = {}
    for option in ranked:
        records.setdefault(option.candidate.unit.asset_id, []).append(option)
    for options in records.values():
        rows = [option for option in options if is_row(option.candidate.unit.text)]
        yield rows[:1] or [option for option in options if bullets(option.candidate.unit.text)] or options[:1]


def _add(item: Excerpt, chosen: dict[frozenset[str], Excerpt], limit: int) -> None:
    """Adds an item; one of the same words is a further source of the first."""
    words = frozenset(plain_tokens(item.text))
    if words in chosen:
        if all(item.unit.asset_id != unit.asset_id for unit in (chosen[words].unit, *chosen[words].also)):
            chosen[words].also.append(item.unit)
    elif len(chosen) < limit:
        chosen[words] = item


def _items(option: RankedCandidate, candidates: Sequence[Candidate], question: SentenceScorer) -> list[Excerpt]:
    """The rows of a table, the lines with bullets of a candidate, or else the span of it that answers best."""
    candidate = option.candidate
    if is_row(candidate.unit.text):
        return [_item(row, row.text, option.share) for row in _rows(candidate, candidates, question)]
    spans = spans_of(candidate, [other.unit for other in candidates if other.unit.hit is candidate.unit.hit])
    listed = [(span, text) for span in telling_spans(spans) for text in bullets(span.text)]
    unit = answering_span(spans, question)
    return [_item(span, text, option.share) for span, text in listed or [(unit, unit.text)]]


def _rows(candidate: Candidate, candidates: Sequence[Candidate], question: SentenceScorer) -> list[QuotableSpan]:
    """The rows of its table that hold as much of the question as any, with the names of table and columns."""
    record = candidate.unit.asset_id
    rows = [other for other in candidates if other.unit.asset_id == record and is_row(other.unit.text)]
    shares = [term_coverage(question.terms, tokens_of(row).described) for row in rows]
    least = _MIN_SHARE_OF_ROW * max(shares)
    fitting = [row.unit for row, share in zip(rows, shares, strict=True) if share >= least]
    return [replace(row, text=text) for row in fitting for text in table_rows(row.text) or [row.text]]


def _item(unit: QuotableSpan, text: str, share: float) -> Excerpt:
    line = textwrap.shorten(text, _MAX_CHARACTERS, placeholder=" …")
    return Excerpt(replace(unit, text=line), line, share)
