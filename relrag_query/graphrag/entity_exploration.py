"""Adds entities and concepts of the archive's GraphRAG index to an exploration."""

from __future__ import annotations

from relrag_pipelines.graphrag.entity_candidates import EntityType
from relrag_pipelines.graphrag.mention_graph import plain_title
from relrag_query import exploration
from relrag_query.archive import Archive
from relrag_query.exploration import Exploration, GraphNode
from relrag_query.graphrag import collections
from relrag_query.graphrag.answer import entities_of, relationships_of
from relrag_query.graphrag.collections import CollectionError
from relrag_query.graphrag.corpus import Corpus
from relrag_query.graphrag.index import IndexMissing
from relrag_query.graphrag.service import nearest
from relrag_query.graphrag.support import Support
from relrag_query.retrieval.question_length import shorten
from relrag_query.retrieval.question_reader import redact_question

_CONCEPTS = frozenset({EntityType.TERM, EntityType.QUOTATION, "TOPIC", "CONCEPT"})
"""types of entities that are thoughts rather than things"""
_MAX_RELATED = 5
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
    """The results of `relrag_query.exploration.explore` for the owner, then `limit` entities and concepts.

    `corpus` is the archive's own index, or None. With a `person`, only what the matching records name is added: other
    entities concern everybody.
    """
    query = shorten(query)
    exploration_ = exploration.explore(
        archive, query, search_relationships=search_relationships, person=person, limit=limit
    )
    if corpus is not None:
        records = [node.entity_key for node in exploration_.nodes if node.kind == "source"]
        near = [] if person else nearest(corpus, redact_question(query, archive.settings), archive)[0]
        exploration_.nodes += _nodes(corpus, query, records, limit, near, within=bool(person))
    return exploration_


def own_corpus(archive: Archive) -> Corpus | None:
    """The archive's own index of everything, where one is made."""
    try:
        return Corpus(collections.load(archive.settings, "archive")[1])
    except (CollectionError, IndexMissing, FileNotFoundError):
        return None


def _nodes(
    corpus: Corpus, query: str, records: list[str], limit: int, near: list[int], *, within: bool
) -> list[GraphNode]:
    """Entities that the question names or means, or that the records found share; people are nodes already.

    `within` the records: what they do not name is left out, and so is what other records relate it to.
    """
    index, chunks = corpus.index, corpus.index.tables["text_unit_chunks"]
    record_ids = set(records)
    unit_ids = [
        unit for record, unit in zip(chunks["asset_id"], chunks["text_unit_id"], strict=True) if record in record_ids
    ]
    units = index.rows_of("text_units", "id", unit_ids)
    rows = entities_of(Support(query), units, corpus, near, within=within)
    selected = [row for row in rows if not corpus.is_person(row)][:limit]
    return [_node(row, rank, corpus, frozenset(unit_ids) if within else None) for rank, row in enumerate(selected)]


def _node(row: int, rank: int, corpus: Corpus, units: frozenset[str] | None) -> GraphNode:
    """An entity or concept; with `units` only what these text units say of it: its description is of all."""
    entities, links = corpus.index.tables["entities"], corpus.index.tables["relationships"]
    title = corpus.titles[row]
    related = []
    for link in relationships_of([row], corpus, both=False, units=units)[:_MAX_RELATED]:
        ends = links["source"].iat[link], links["target"].iat[link]
        described = links["description"].iat[link] if units is None else ""
        related.append({"with": plain_title(ends[ends[0] == title]), "description": described})
    ids = corpus.index.tables["text_units"]["id"]
    units_of_entity = [unit for unit in corpus.units_of_entity[row] if units is None or ids.iat[unit] in units]
    data = {
        "type": corpus.types[row],
        "description": entities["description"].iat[row] if units is None else "",
        "passages": len(units_of_entity),
        "related": related,
    }
    kind = "concept" if corpus.types[row] in _CONCEPTS else "entity"
    return GraphNode(f"entity:{entities['id'].iat[row]}", kind, plain_title(title), round(1 / (1 + rank), 4), data)
