"""Chat windows that a step adds as context: those that hold messages which no hit shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from relrag_pipelines.records import Chunk
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit


def added_windows(
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
