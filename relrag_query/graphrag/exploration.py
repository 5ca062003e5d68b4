"""What a question is about, with entities and concepts of the archive's GraphRAG index as nodes of their own kind."""

from __future__ import annotations

from relrag_pipelines.graphrag.candidates import EntityType
from relrag_query import exploration
from relrag_query.archive import Archive
from relrag_query.exploration import Exploration, GraphNode
from relrag_query.graphrag import collections
from relrag_query.graphrag.answer import entities_of, relationships_of
from relrag_query.graphrag.collections import CollectionError
from relrag_query.graphrag.corpus import Corpus
from relrag_query.graphrag.index import IndexMissing
from relrag_query.graphrag.support import Support
from relrag_query.graphrag.terms import plain_title

_CONCEPTS = frozenset({EntityType.TERM, EntityType.QUOTATION, "TOPIC", "CONCEPT"})
"""types of entities that are thoughts rather than things"""
_RELATED = 5
"""relationships that a node tells of"""


def explore(
    archive: Archive,
    query: str,
    corpus: Corpus | None,
    *,
    search_relationships: bool = True,
    person: str = "",
    limit: int = 5,
) -> Exploration:
    """What `relrag_query.exploration.explore` finds for the owner, and behind it `limit` entities and concepts.

    `corpus` is the archive's own index; None where there is none. With a `person` no entities: they are of everybody.
    """
    found = exploration.explore(archive, query, search_relationships=search_relationships, person=person, limit=limit)
    if corpus is not None and not person:
        found.nodes += _nodes(corpus, query, [one.entity_key for one in found.nodes if one.kind == "source"], limit)
    return found


def own_corpus(archive: Archive) -> Corpus | None:
    """The archive's own index of everything, where one is made."""
    try:
        return Corpus(collections.load(archive.settings, "archive")[1])
    except (CollectionError, IndexMissing, FileNotFoundError):
        return None


def _nodes(corpus: Corpus, query: str, records: list[str], limit: int) -> list[GraphNode]:
    """Entities that the question names, then those that the records found share; people are nodes already."""
    index, beside = corpus.index, corpus.index.tables["text_unit_chunks"]
    origins = dict(zip(beside["asset_id"], beside["text_unit_id"], strict=True))
    units = index.rows_of("text_units", "id", [origins[one] for one in records if one in origins])
    rows = [row for row in entities_of(Support(query), units, corpus) if not corpus.is_person(row)][:limit]
    return [_node(row, place, corpus) for place, row in enumerate(rows)]


def _node(row: int, place: int, corpus: Corpus) -> GraphNode:
    entities, links = corpus.index.tables["entities"], corpus.index.tables["relationships"]
    title = corpus.titles[row]
    related = []
    for link in relationships_of([row], corpus, both=False)[:_RELATED]:
        ends = links["source"].iat[link], links["target"].iat[link]
        related.append({"with": plain_title(ends[ends[0] == title]), "description": links["description"].iat[link]})
    data = {
        "type": corpus.types[row],
        "description": entities["description"].iat[row],
        "passages": len(corpus.units_of_entity[row]),
        "related": related,
    }
    kind = "concept" if corpus.types[row] in _CONCEPTS else "entity"
    return GraphNode(f"entity:{entities['id'].iat[row]}", kind, plain_title(title), round(1 / (1 + place), 4), data)
