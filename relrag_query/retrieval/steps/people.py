"""Step 7, people: adds facts about the people that a question is about, and passages about them."""

from __future__ import annotations

from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import ENTITY_STORE, Hit


def add_people(hits: list[Hit], context: QueryContext) -> list[Hit]:
    """The hits, followed by the facts (score 1.0, source `entity_store`) and the passages (0.85)."""
    if context.people_hits:
        facts = sum(hit.source == ENTITY_STORE for hit in context.people_hits)
        context.note("people", f"{facts} people and {len(context.people_hits) - facts} passages about them")
    return [*hits, *context.people_hits]
