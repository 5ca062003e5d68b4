"""Step 2, rerank: reorders the hits by metadata, and by a reranking service if one is set."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from relrag_query.retrieval.context import QueryContext, RerankError
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.steps.mail import bulk_hits
from relrag_query.retrieval.term_coverage import PART, passage_tokens, query_terms, term_coverage
from relrag_query.understanding.time_expressions import TimeRange, mentions

_BULK_WEIGHT = 0.75
"""weight of bulk mail relative to personal mail"""


def rerank(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits in the order of the reranking service; unchanged if none is set or it fails.

    The service is sent the redacted question and the passages.
    """
    if context.rank is None or not hits:
        return hits
    try:
        scores, model = context.rank(context.redacted_text, [hit.text for hit in hits])
    except RerankError as error:
        context.note("rerank", f"{error}; the order stays")
        return hits
    context.note("rerank", f"{len(hits)} passages scored by {model}")
    scored = [replace(hit, score=score, rerank_score=score) for hit, score in zip(hits, scores, strict=True)]
    return sorted(scored, key=lambda hit: -hit.score)


def demote_bulk(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Lowers the scores of bulk mail and its attachments by `_BULK_WEIGHT`."""
    bulk = {hit.chunk.chunk_id for hit in bulk_hits(hits, context)}
    if not bulk:
        return hits
    context.note("bulk", f"{len(bulk)} of {len(hits)} hits were sent to many and count less")
    weighed = [
        replace(hit, weight=_BULK_WEIGHT, score=hit.score * _BULK_WEIGHT) if hit.chunk.chunk_id in bulk else hit
        for hit in hits
    ]
    return sorted(weighed, key=lambda hit: -hit.score)


def boost_time(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Puts hits first that lie within the time of the question, or mention it.

    The time of a file, which may be that of a copy, counts only if no other hit matches the time.
    """
    when = context.question.time
    if when is None:
        return hits
    zone = ZoneInfo(context.settings.timezone)
    timed_hits = [replace(hit, in_time=_is_of(hit, when) or _mentions_time(hit, when, zone)) for hit in hits]
    if not any(hit.in_time for hit in timed_hits):
        timed_hits = [replace(hit, in_time=when.holds(hit.chunk.ts, hit.chunk.last_ts)) for hit in hits]
    count = sum(hit.in_time for hit in timed_hits)
    context.note("time", f'"{when.phrase}": {count} of {len(hits)} hits lie within it')
    return sorted(timed_hits, key=lambda hit: not hit.in_time)


def boost_channel(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Puts hits of the channel that the question names first, among those within its time and among the others."""
    if not context.question.channels:
        return hits
    count = sum(hit.chunk.rag_source_type in context.question.channels for hit in hits)
    context.note("channel", f"{count} of {len(hits)} hits are of the channel that is named")
    return sorted(hits, key=lambda hit: (not hit.in_time, hit.chunk.rag_source_type not in context.question.channels))


def score_coverage(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Sets the display score of each hit: the share of the question that it covers, times its weight.

    In a search by words alone, hits with none of them are dropped, except those added by a name: sparse search also
    matches words with the same beginning.
    """
    scored = [
        replace(hit, display_score=hit.weight * term_coverage(context.question.terms, passage_tokens(hit.chunk)))
        for hit in hits
    ]
    return scored if context.meaning is not None else [hit for hit in scored if hit.display_score > 0 or hit.by_name]


def _is_of(hit: Hit, when: TimeRange) -> bool:
    return not hit.dated_by_file and when.holds(*hit.span)


def _mentions_time(hit: Hit, when: TimeRange, zone: ZoneInfo) -> bool:
    """Whether a passage of another time mentions the time asked for: by its words, a month or year, or a date."""
    chunk = hit.chunk
    words = [] if when.relative else query_terms(when.phrase, {})
    tokens = passage_tokens(chunk)
    if words and all(word.match(tokens) > PART for word in words):
        return True
    written = None if chunk.ts is None or hit.dated_by_file else datetime.fromtimestamp(chunk.ts, zone)
    return mentions(chunk.text, when, written, zone)
