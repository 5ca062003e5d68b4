"""Builds the tables of entities and relationships from the extractions of a language model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import pandas as pd

from relrag_pipelines.graphrag.entity_selection import Mention
from relrag_pipelines.graphrag.known_people import KnownPeople
from relrag_pipelines.graphrag.llm.extraction_schema import NONE, Extraction
from relrag_pipelines.graphrag.mention_graph import (
    Graph,
    entity_titles,
    group_by_unit,
    shorten,
    split_sentences,
    stable_id,
)
from relrag_pipelines.graphrag.schema import OPTIONAL, frame
from relrag_pipelines.text.analyzer import fold

_MAX_CHARS = 1000
"""characters of a description, which joins those of all text units"""
Describe = Callable[[str, Sequence[str], Sequence[str]], str]
"""(title, descriptions, texts that they are from) -> one description; empty if it cannot be made"""


class _Statement(NamedTuple):
    """A relationship as one text unit states it."""

    unit: int
    strength: int
    description: str


class _Edge(NamedTuple):
    source: int
    """row of entities"""
    target: int
    statements: list[_Statement]

    @property
    def weight(self) -> float:
        return float(sum(statement.strength for statement in self.statements))


def graph_of_extractions(
    texts: Sequence[str],
    unit_ids: Sequence[str],
    extractions: Mapping[str, Extraction],
    known_people: KnownPeople,
    describe: Describe | None = None,
) -> Graph:
    """The graph of extractions, which are given by text. An entity without a relationship is left out.

    `describe` makes one description of several; without it they are joined.

    An entity with the name of a known person is that person. The weight of a relationship is the sum of the strengths
    that the model gave it.
    """
    by_unit = [extractions.get(text) or Extraction(entities=[], relationships=[]) for text in texts]
    keys = [
        {entity.name.lower(): known_people.key(entity.name) or fold(entity.name) for entity in extraction.entities}
        for extraction in by_unit
    ]
    statements = _statements(by_unit, keys)
    related = set(chain.from_iterable(statements))
    mentions = [mention for mention in _mentions(by_unit, keys, texts) if mention.key in related]
    titles = entity_titles(mentions, known_people.titles)
    ordered = sorted(titles, key=lambda key: (titles[key], key))
    rows = {key: row for row, key in enumerate(ordered)}
    edges = sorted(_edges(statements, rows))
    sentences = [
        split_sentences(text, unit_mentions, rows)
        for text, unit_mentions in zip(texts, group_by_unit(mentions, len(texts)), strict=True)
    ]
    descriptions = [
        _merge_descriptions(titles[key], unit_descriptions, describe, texts)
        for key, unit_descriptions in zip(ordered, _descriptions(by_unit, keys, rows), strict=True)
    ]
    entities = _entities(ordered, titles, mentions, descriptions, edges, unit_ids)
    relationships = _relationships(ordered, entities, edges, unit_ids)
    ends = [(edge.source, edge.target, edge.weight) for edge in edges]
    return Graph(entities, relationships, ends, ordered, sentences)


def _statements(
    by_unit: Sequence[Extraction], keys: Sequence[Mapping[str, str]]
) -> dict[tuple[str, str], list[_Statement]]:
    """Statements of relationships by the keys of their ends, whichever of them the model called source."""
    statements: dict[tuple[str, str], list[_Statement]] = defaultdict(list)
    for unit, extraction in enumerate(by_unit):
        for relationship in extraction.relationships:
            ends = (keys[unit][relationship.source.lower()], keys[unit][relationship.target.lower()])
            first, second = sorted(ends)
            if first != second:
                statement = _Statement(unit, relationship.strength, relationship.description.strip())
                statements[first, second].append(statement)
    return statements


def _mentions(
    by_unit: Sequence[Extraction], keys: Sequence[Mapping[str, str]], texts: Sequence[str]
) -> Iterator[Mention]:
    """Every occurrence of an entity under the name that the model gave it; at -1 if it occurs in another form."""
    for unit, extraction in enumerate(by_unit):
        lower = texts[unit].lower()
        for entity in extraction.entities:
            name = entity.name.lower()
            for start in _offsets(name, lower):
                yield Mention(unit, keys[unit][name], entity.type, entity.name, start)


def _offsets(name: str, text: str) -> Iterator[int]:
    """Offsets of a name in a text; -1 if there is none."""
    start = text.find(name)
    yield start
    while start >= 0 and (start := text.find(name, start + len(name))) >= 0:
        yield start


def _edges(statements: Mapping[tuple[str, str], list[_Statement]], rows: Mapping[str, int]) -> Iterator[_Edge]:
    for (first, second), edge_statements in statements.items():
        source, target = sorted((rows[first], rows[second]))
        yield _Edge(source, target, edge_statements)


def _descriptions(
    by_unit: Sequence[Extraction], keys: Sequence[Mapping[str, str]], rows: Mapping[str, int]
) -> list[list[tuple[int, str]]]:
    """The descriptions of each entity, with the text units that they are from."""
    descriptions: list[list[tuple[int, str]]] = [[] for _ in rows]
    for unit, extraction in enumerate(by_unit):
        for entity in extraction.entities:
            if (key := keys[unit][entity.name.lower()]) in rows:
                descriptions[rows[key]].append((unit, entity.description.strip()))
    return descriptions


def _merge_descriptions(
    title: str, descriptions: Sequence[tuple[int, str]], describe: Describe | None, texts: Sequence[str]
) -> str:
    distinct = list(dict.fromkeys(description for _, description in descriptions if description))
    if describe is None or len(" ".join(distinct)) <= _MAX_CHARS:
        return _join(distinct)
    return describe(title, distinct, [texts[unit] for unit, _ in descriptions]) or _join(distinct)


def _entities(
    keys: Sequence[str],
    titles: Mapping[str, str],
    mentions: Sequence[Mention],
    descriptions: Sequence[str],
    edges: Sequence[_Edge],
    unit_ids: Sequence[str],
) -> pd.DataFrame:
    units: dict[str, dict[int, None]] = {key: {} for key in keys}
    types: dict[str, str] = {}
    for mention in mentions:
        units[mention.key][mention.unit] = None
        types.setdefault(mention.key, mention.type)
    degrees = [0] * len(keys)
    for edge in edges:
        degrees[edge.source] += 1
        degrees[edge.target] += 1
    return frame(
        "entities",
        {
            "id": [stable_id("entity", key) for key in keys],
            "human_readable_id": range(len(keys)),
            "title": [titles[key] for key in keys],
            "type": [types[key] for key in keys],
            "description": list(descriptions),
            "text_unit_ids": [[unit_ids[unit] for unit in units[key]] for key in keys],
            "frequency": [len(units[key]) for key in keys],
            "degree": degrees,
        },
    )


def _relationships(
    keys: Sequence[str], entities: pd.DataFrame, edges: Sequence[_Edge], unit_ids: Sequence[str]
) -> pd.DataFrame:
    titles, degrees = entities["title"].tolist(), entities["degree"].tolist()
    units = [sorted({statement.unit for statement in edge.statements}) for edge in edges]
    return frame(
        "relationships",
        {
            "id": [stable_id("edge", *sorted((keys[edge.source], keys[edge.target]))) for edge in edges],
            "human_readable_id": range(len(edges)),
            "source": [titles[edge.source] for edge in edges],
            "target": [titles[edge.target] for edge in edges],
            "description": [_join(statement.description for statement in edge.statements) for edge in edges],
            "weight": [edge.weight for edge in edges],
            "combined_degree": [degrees[edge.source] + degrees[edge.target] for edge in edges],
            "text_unit_ids": [[unit_ids[unit] for unit in edge_units] for edge_units in units],
        },
    )


def covariates(
    built: Graph,
    texts: Sequence[str],
    unit_ids: Sequence[str],
    extractions: Mapping[str, Extraction],
    known_people: KnownPeople,
) -> pd.DataFrame:
    """The claims about entities of the graph, in the order of text units, without duplicates."""
    titles = dict(zip(built.keys, built.entities["title"], strict=True))
    rows: dict[str, dict[str, str]] = {}
    for text, unit_id in zip(texts, unit_ids, strict=True):
        for claim in extractions[text].claims if text in extractions else ():
            subject, object_ = (
                titles.get(known_people.key(name) or fold(name)) for name in (claim.subject, claim.object)
            )
            if subject is None:
                continue
            values = {
                "covariate_type": "claim",
                "type": claim.type,
                "description": claim.description,
                "subject_id": subject,
                "object_id": object_ or NONE,
                "status": claim.status,
                "start_date": claim.start_date,
                "end_date": claim.end_date,
                "source_text": claim.source_text,
                "text_unit_id": unit_id,
            }
            rows[stable_id("claim", *values.values())] = values
    columns = OPTIONAL["covariates"].names[2:]
    return frame(
        "covariates",
        {"id": list(rows), "human_readable_id": range(len(rows))}
        | {name: [row[name] for row in rows.values()] for name in columns},
    )


def _join(descriptions: Iterable[str]) -> str:
    """The distinct descriptions in order, as one text."""
    return shorten(" ".join(dict.fromkeys(filter(None, descriptions))), _MAX_CHARS)
