"""Steps 3 and 6, chats: adds messages sent around a hit, and the newest of its chat, as context for the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from relrag_pipelines.records import Chunk
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import CONTEXT_EXPANSION, RECENCY_SUPPLEMENT, Hit
from relrag_query.retrieval.steps.contents import with_messages

TIME_WINDOW_SCORE = 0.5
"""display score of messages around a hit"""
SECONDS = 1800
"""seconds before the first message of a hit and after its last"""
_MAX_SEEDS = 3
"""largest number of chat windows whose surroundings are added"""
RECENCY_SCORE = 0.35
"""display score of the newest messages of a chat"""
_MAX_CHATS = 3
"""largest number of chats whose newest messages are added"""


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
    added = _added_windows(
        windows, hits, context, score=TIME_WINDOW_SCORE, role=CONTEXT_EXPANSION, why="said around a hit"
    )
    trimmed = (_trim_to_spans(hit, spans) for hit in with_messages(added, context.connection))
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


def supplement_recent(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits, followed by the newest window of each chat of the best hits, unless it is a hit itself."""
    best = (hit.chunk.thread_id for hit in hits if hit.role is None and hit.chunk.members)
    chats = list(dict.fromkeys(best))[:_MAX_CHATS]
    if not chats:
        return hits
    newest = catalog_reader.newest_windows(context.connection, list(filter(None, chats)))
    why = "the newest of its chat"
    added = _added_windows(newest, hits, context, score=RECENCY_SCORE, role=RECENCY_SUPPLEMENT, why=why)
    context.note("recency", f"the newest of {len(added)} of {len(chats)} chats added")
    return [*hits, *with_messages(added, context.connection)]


def _added_windows(
    windows: Iterable[Chunk], hits: Sequence[Hit], context: QueryContext, *, score: float, role: str, why: str
) -> list[Hit]:
    """The windows as hits of a role, each with its messages that neither a hit nor an earlier window has.

    `score` is the display score, and the share of the lowest score of the hits.
    """
    present = {hit.chunk.chunk_id for hit in hits}
    shown_refs = {message.asset_id for hit in hits for message in hit.messages}
    lowest = min((hit.score for hit in hits), default=0.0)
    added = []
    for window in windows:
        new = tuple(ref for ref in window.members if ref not in shown_refs)
        if new and window.chunk_id not in present and context.allows(window):
            present.add(window.chunk_id)
            shown_refs.update(new)
            added.append(Hit(window, lowest * score, score, role, members=new, why=why))
    return added
