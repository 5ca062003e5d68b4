"""Step 6, recency in chats: adds the newest window of the chats of the best hits, as context for the answer."""

from __future__ import annotations

from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import RECENCY_SUPPLEMENT, Hit
from relrag_query.retrieval.steps.contents import with_messages

SCORE = 0.35
"""display score of what is added"""
_MAX_CHATS = 3
"""largest number of chats whose newest messages are added"""


def supplement_recent(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits, followed by the newest window of each chat of the best hits, unless it is a hit itself."""
    chats = list(dict.fromkeys(hit.chunk.thread_id for hit in hits if hit.role is None and hit.chunk.members))[
        :_MAX_CHATS
    ]
    newest = catalog_reader.newest_windows(context.connection, [chat for chat in chats if chat]) if chats else []
    present = {hit.chunk.chunk_id for hit in hits}
    shown_refs = {message.asset_id for hit in hits for message in hit.messages}
    lowest = min((hit.score for hit in hits), default=0.0)
    added: list[Hit] = []
    for chunk in newest:
        new = tuple(ref for ref in chunk.members if ref not in shown_refs)
        if new and chunk.chunk_id not in present and context.allows(chunk):
            why = "the newest of its chat"
            added.append(Hit(chunk, lowest * SCORE, SCORE, RECENCY_SUPPLEMENT, members=new, why=why))
    if chats:
        context.note("recency", f"the newest of {len(added)} of {len(chats)} chats added")
    return [*hits, *with_messages(added, context)]
