"""Step 6, recency in chats: the newest of each chat that a hit is of. It is for whoever reads the context."""

from __future__ import annotations

from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import RECENCY_SUPPLEMENT, Hit
from relrag_query.retrieval.steps.contents import with_messages

SCORE = 0.35
"""display score of what is added"""
_CHATS = 3
"""chats, those of the best hits, whose newest messages are added"""


def supplement_recent(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits, and behind them the newest window of each chat that one of the best is of, if it is no hit itself."""
    chats = list(dict.fromkeys(hit.chunk.thread_id for hit in hits if hit.role is None and hit.chunk.members))[:_CHATS]
    newest = catalog_reader.newest_windows(context.connection, [chat for chat in chats if chat]) if chats else []
    present = {hit.chunk.chunk_id for hit in hits}
    known = {message.asset_id for hit in hits for message in hit.messages}
    lowest = min((hit.score for hit in hits), default=0.0)
    added: list[Hit] = []
    for chunk in newest:
        new = tuple(ref for ref in chunk.members if ref not in known)
        if new and chunk.chunk_id not in present and context.allows(chunk):
            why = "the newest of its chat"
            added.append(Hit(chunk, lowest * SCORE, SCORE, RECENCY_SUPPLEMENT, members=new, why=why))
    if chats:
        context.note("recency", f"the newest of {len(added)} of {len(chats)} chats added")
    return [*hits, *with_messages(added, context)]
