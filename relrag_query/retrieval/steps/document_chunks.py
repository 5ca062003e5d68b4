"""Step 4, document chunks: adds the other passages of each hit's record, shown or hidden together with the hit."""

from __future__ import annotations

from dataclasses import replace

from relrag_pipelines.records import Chunk
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit

_SIBLINGS_FACTOR = 4
"""largest number of hits and siblings together, as a multiple of the limit"""


def add_siblings(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits, each followed by the other passages of its record, in the order of the text."""
    return expand_document_chunks(hits, context, max_total=context.limit * _SIBLINGS_FACTOR)


def expand_document_chunks(hits: list[Hit], context: QueryContext, max_total: int) -> list[Hit]:
    """Adds passages of the hits' groups (chunk_group_id); each shares the decision on the hit that brought it in.

    Of a long record only those nearest to the hit, so that all hits get some.
    """
    owners = {hit.chunk.chunk_group_id: hit for hit in reversed(hits) if hit.chunk.chunk_count > 1}
    present = {hit.chunk.chunk_id for hit in hits}
    room = max(0, max_total - len(hits)) // max(1, len(owners))
    groups = catalog_reader.group_chunks(context.connection, list(owners)) if owners else []
    added: dict[str, list[Hit]] = {}
    for chunk in _nearest([chunk for chunk in groups if chunk.chunk_id not in present], owners):
        owner = owners[chunk.chunk_group_id]
        siblings = added.setdefault(owner.chunk.chunk_id, [])
        if len(siblings) < room:
            siblings.append(_sibling(chunk, owner))
    context.note("siblings", f"{sum(map(len, added.values()))} passages of the same records added")
    ordered = {owner: sorted(siblings, key=lambda hit: hit.chunk.chunk_index) for owner, siblings in added.items()}
    return [passage for hit in hits for passage in (hit, *ordered.get(hit.chunk.chunk_id, ()))]


def _sibling(chunk: Chunk, owner: Hit) -> Hit:
    shared = Hit(chunk, owner.score, owner.display_score, owner.role, owner.promoted, owner.chunk.chunk_id)
    return replace(shared, in_time=owner.in_time, weight=owner.weight, why="passage of the same record")


def _nearest(chunks: list[Chunk], owners: dict[str, Hit]) -> list[Chunk]:
    def distance(chunk: Chunk) -> tuple[int, str]:
        return abs(chunk.chunk_index - owners[chunk.chunk_group_id].chunk.chunk_index), chunk.chunk_id

    return sorted(chunks, key=distance)
