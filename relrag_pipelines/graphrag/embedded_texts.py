"""The texts of entities and relationships that are embedded."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from relrag_pipelines.graphrag.schema import Tables
from relrag_pipelines.identity.relationship_text import relationship_text

RELATED = "related"
"""the type of every relationship: neither statistics nor Microsoft's prompts distinguish types"""
_CLOSER = (2, 3, 5, 10)
"""common text units from which the ends of a relationship are acquainted, familiar, close and very close"""


def entity_text(title: str, description: str) -> str:
    """Title and description, as Microsoft's tool embeds them."""
    return f"{title}: {description}" if description else title


def edge_text(description: str, text_units: int) -> str:
    """The unified text of a relationship; its closeness follows from the number of text units that name both ends."""
    return relationship_text(description, RELATED, proximity=1 + bisect_right(_CLOSER, text_units))


def embedded_texts(tables: Tables) -> Iterator[tuple[str, str]]:
    """(id, text) of every entity and relationship."""
    entities, links = tables["entities"], tables["relationships"]
    for id_, title, description in zip(entities["id"], entities["title"], entities["description"], strict=True):
        yield id_, entity_text(title, description)
    for id_, description, units in zip(links["id"], links["description"], links["text_unit_ids"], strict=True):
        yield id_, edge_text(description, len(units))
