"""Step 3, time window: what was said in a chat right before and behind a hit. It is for whoever reads the context."""

from __future__ import annotations

from dataclasses import replace

from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import CONTEXT_EXPANSION, Hit
from relrag_query.retrieval.steps.contents import with_messages

SCORE = 0.5
"""display score of what is added"""
SECONDS = 1800
"""before the first message of a hit and behind its last"""
_SEEDS = 3
"""chat windows, the best, around which is looked"""


def expand_context(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits, and behind them the messages of their chats that were sent within half an hour of one of the best.

    Each message comes once; none that a hit holds.
    """
    seeds = [hit for hit in hits if hit.role is None and hit.messages and hit.chunk.thread_id][:_SEEDS]
    if not seeds:
        return hits
    spans = [
        (str(hit.chunk.thread_id), (hit.messages[0].ts or 0) - SECONDS, (hit.messages[-1].ts or 0) + SECONDS)
        for hit in seeds
    ]
    known = {message.asset_id for hit in hits for message in hit.messages}
    present = {hit.chunk.chunk_id for hit in hits}
    lowest = min(hit.score for hit in hits)
    added: list[Hit] = []
    for chunk in catalog_reader.overlapping_windows(context.connection, spans):
        new = tuple(ref for ref in chunk.members if ref not in known)
        if new and chunk.chunk_id not in present and context.allows(chunk):
            known |= set(new)
            present.add(chunk.chunk_id)
            added.append(Hit(chunk, lowest * SCORE, SCORE, CONTEXT_EXPANSION, members=new, why="said around a hit"))
    found = [_trim_to_spans(hit, spans) for hit in with_messages(added, context)]
    found = [hit for hit in found if hit.messages]
    context.note("time window", f"{sum(len(hit.messages) for hit in found)} messages around {len(seeds)} hits added")
    return [*hits, *found]


def _trim_to_spans(hit: Hit, spans: list[tuple[str, int, int]]) -> Hit:
    """The hit with those of its messages that lie within a span of its chat."""
    own = [(first, last) for thread, first, last in spans if thread == hit.chunk.thread_id]
    kept = tuple(one for one in hit.messages if any(first <= (one.ts or 0) <= last for first, last in own))
    return replace(hit, messages=kept, members=tuple(one.asset_id for one in kept))
