"""The people of a question: their passages, beside the hybrid search (step 1), and facts about them (step 7)."""

from __future__ import annotations

import itertools
from dataclasses import replace

from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.fusion import FusedHit
from relrag_query.retrieval.fusion import hybrid_search as fused_search
from relrag_query.retrieval.hit import ENTITY_STORE, Hit
from relrag_query.retrieval.steps.hybrid_search import drop_overlapping_windows, existing_hits

_MAX_PASSAGES = 6
"""passages of the people in a question that are added to those that the whole archive gave"""
_OVERFETCH_FACTOR = 4
"""passages fetched, as a multiple: most are among the hits, or overlap with these"""


def search_people(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits, followed by the best passages that people in the question wrote, received, or are named in.

    Where the question is about a family, the relatives of these people count too.
    """
    people = context.question.people
    if not people.in_index or context.limits.person_ids:
        return hits
    where = replace(context.limits_in_time, person_ids=(*people.in_index, *people.relatives_in_index))
    limit = _MAX_PASSAGES * _OVERFETCH_FACTOR
    results = fused_search(context.vectors, context.search_text, context.meaning, limit, where, context.translated)
    present = {hit.chunk.chunk_id for hit in hits}
    scoped = existing_hits(_comparable(results, hits), frozenset(), context)
    added = (hit for hit in scoped if hit.chunk.chunk_id not in present)
    members = {hit.chunk.chunk_id: list(hit.members) for hit in hits}
    distinct = drop_overlapping_windows(itertools.chain(hits, added), members)
    chosen = list(itertools.islice(distinct, len(hits) + _MAX_PASSAGES))
    context.note("person search", f"{len(results)} passages have to do with people in the question")
    return [replace(hit, members=tuple(members[hit.chunk.chunk_id])) for hit in chosen]


def _comparable(results: list[FusedHit], hits: list[Hit]) -> list[FusedHit]:
    """The results with scores on the scale of the hits: a score is relative to the nearest passage of its search."""
    nearest = max((result.similarity or 0.0 for result in results), default=0.0)
    nearest_hit = max((hit.similarity or 0.0 for hit in hits), default=0.0)
    if not (nearest and nearest_hit):
        return results
    return [result._replace(score=result.score * nearest / nearest_hit) for result in results]


def add_people(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits, followed by the facts (score 1.0, source `entity_store`) and the passages (0.85)."""
    if context.people_hits:
        facts = sum(hit.source == ENTITY_STORE for hit in context.people_hits)
        context.note("people", f"{facts} people and {len(context.people_hits) - facts} passages about them")
    return [*hits, *context.people_hits]
