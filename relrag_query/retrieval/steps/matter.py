"""Step 1, matter: a follow-up stays with the records and threads that its earlier question leads to."""

from __future__ import annotations

from dataclasses import replace

from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit

MOST = 2
"""hits of the earlier question whose records and threads are the matter"""
_NEAR = 86_400
"""seconds from a chat window within which another one of its chat is of the same matter"""


def keep_matter(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """Marks the hits of the matter, and adds those of the earlier question that are missing, behind all others."""
    if not context.matter:
        return hits
    present = {hit.chunk.chunk_id for hit in hits}
    least = min((hit.score for hit in hits), default=0.0)
    missing = [replace(hit, score=least) for hit in context.matter if hit.chunk.chunk_id not in present]
    marked = [replace(hit, of_matter=_is_of_matter(hit, context.matter)) for hit in [*hits, *missing]]
    context.note("matter", f"{sum(hit.of_matter for hit in marked)} hits are of the matter of the earlier question")
    return marked


def _is_of_matter(hit: Hit, matter: tuple[Hit, ...]) -> bool:
    return any(_is_same_matter(hit, other) for other in matter)


def _is_same_matter(hit: Hit, other: Hit) -> bool:
    """Whether two passages are of one record or thread; a chat goes over many matters, a day of it over few."""
    if hit.chunk.asset_id == other.chunk.asset_id:
        return True
    if hit.chunk.thread_id is None or hit.chunk.thread_id != other.chunk.thread_id:
        return False
    return not hit.chunk.members or abs((hit.chunk.ts or 0) - (other.chunk.ts or 0)) <= _NEAR
