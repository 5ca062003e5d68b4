"""Step 6, recency in chats: adds the newest window of the chats of the best hits, as context for the answer."""

from __future__ import annotations

from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import RECENCY_SUPPLEMENT, Hit
from relrag_query.retrieval.steps.added_windows import added_windows
from relrag_query.retrieval.steps.contents import with_messages

SCORE = 0.35
"""display score of what is added"""
_MAX_CHATS = 3
"""largest number of chats whose newest messages are added"""


def supplement_recent(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits, followed by the newest window of each chat of the best hits, unless it is a hit itself."""
    best = (hit.chunk.thread_id for hit in hits if hit.role is None and hit.chunk.members)
    chats = list(dict.fromkeys(best))[:_MAX_CHATS]
    if not chats:
        return hits
    newest = catalog_reader.newest_windows(context.connection, list(filter(None, chats)))
    why = "the newest of its chat"
    added = added_windows(newest, hits, context, score=SCORE, role=RECENCY_SUPPLEMENT, why=why)
    context.note("recency", f"the newest of {len(added)} of {len(chats)} chats added")
    return [*hits, *with_messages(added, context)]
