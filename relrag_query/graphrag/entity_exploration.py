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
from relrag_query.retrieval.question import redact_question
from relrag_query.retrieval.question_length import shorten

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

    `corpus` is the archive's own index; None where there is none. With a `person` only what the records found name:
    the rest is of everybody.
    """
    query = shorten(query)
    found = exploration.explore(archive, query, search_relationships=search_relationships, person=person, limit=limit)
    if corpus is not None:
        records = [one.entity_key for one in found.nodes if one.kind == "source"]
        near = [] if person else nearest(corpus, redact_question(query, archive.settings), archive)[0]
        found.nodes += _nodes(corpus, query, records, limit, near, within=bool(person))
    return found


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
    index, beside = corpus.index, corpus.index.tables["text_unit_chunks"]
    wanted = set(records)
    of = [unit for record, unit in zip(beside["asset_id"], beside["text_unit_id"], strict=True) if record in wanted]
    units = index.rows_of("text_units", "id", of)
    rows = entities_of(Support(query), units, corpus, near, within=within)
    kept = [row for row in rows if not corpus.is_person(row)][:limit]
    return [_node(row, place, corpus, frozenset(of) if within else None) for place, row in enumerate(kept)]


def _node(row: int, place: int, corpus: Corpus, units: frozenset[str] | None) -> GraphNode:
    """An entity or concept; with `units` only what these text units say of it: its description is of all."""
    entities, links = corpus.index.tables["entities"], corpus.index.tables["relationships"]
    title = corpus.titles[row]
    related = []
    for link in relationships_of([row], corpus, both=False, units=units)[:_RELATED]:
        ends = links["source"].iat[link], links["target"].iat[link]
        described = links["description"].iat[link] if units is None else ""
        related.append({"with": plain_title(ends[ends[0] == title]), "description": described})
    ids = corpus.index.tables["text_units"]["id"]
    named = [one for one in corpus.units_of_entity[row] if units is None or ids.iat[one] in units]
    data = {
        "type": corpus.types[row],
        "description": entities["description"].iat[row] if units is None else "",
        "passages": len(named),
        "related": related,
    }
    kind = "concept" if corpus.types[row] in _CONCEPTS else "entity"
    return GraphNode(f"entity:{entities['id'].iat[row]}", kind, plain_title(title), round(1 / (1 + place), 4), data)
