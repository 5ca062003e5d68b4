"""Step 3, time window: adds the messages sent shortly before and after a hit in its chat, as context."""

from __future__ import annotations

from dataclasses import replace

from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import CONTEXT_EXPANSION, Hit
from relrag_query.retrieval.steps.added_windows import added_windows
from relrag_query.retrieval.steps.contents import with_messages

SCORE = 0.5
"""display score of what is added"""
SECONDS = 1800
"""seconds before the first message of a hit and after its last"""
_MAX_SEEDS = 3
"""largest number of chat windows whose surroundings are added"""


def _is_seed(hit: Hit) -> bool:
    """Whether a hit is a window of a chat that was itself searched for."""
    return hit.role is None and bool(hit.messages and hit.chunk.thread_id)


def _span_around(hit: Hit) -> tuple[str, int, int]:
    """The chat of a window, with the first and last second of the time around it."""
    first, last = hit.messages[0].ts or 0, hit.messages[-1].ts or 0
    return str(hit.chunk.thread_id), first - SECONDS, last + SECONDS


def expand_context(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits, followed by the messages sent within half an hour of one of the best in its chat.

    Each message is added once, and only if no hit contains it.
    """
    seeds = list(filter(_is_seed, hits))[:_MAX_SEEDS]
    if not seeds:
        return hits
    spans = list(map(_span_around, seeds))
    windows = catalog_reader.overlapping_windows(context.connection, spans)
    added = added_windows(windows, hits, context, score=SCORE, role=CONTEXT_EXPANSION, why="said around a hit")
    trimmed = (_trim_to_spans(hit, spans) for hit in with_messages(added, context))
    context_hits = [hit for hit in trimmed if hit.messages]
    count = sum(len(hit.messages) for hit in context_hits)
    context.note("time window", f"{count} messages around {len(seeds)} hits added")
    return [*hits, *context_hits]


def _trim_to_spans(hit: Hit, spans: list[tuple[str, int, int]]) -> Hit:
    """The hit, limited to the messages within a span of its chat."""
    chat_spans = [(first, last) for thread, first, last in spans if thread == hit.chunk.thread_id]
    messages = tuple(
        message for message in hit.messages if any(first <= (message.ts or 0) <= last for first, last in chat_spans)
    )
    return replace(hit, messages=messages, members=tuple(message.asset_id for message in messages))
