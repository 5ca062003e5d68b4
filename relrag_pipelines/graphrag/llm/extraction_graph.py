"""Builds the tables of entities and relationships from what a language model extracted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

_LONGEST = 1000
"""characters of a description, which joins those of all text units"""
Describe = Callable[[str, Sequence[str], Sequence[str]], str]
"""given what is described, its descriptions, and the texts that these are from: one description; empty: it cannot"""


class _Statement(NamedTuple):
    """A relationship as one text unit states it."""

    unit: int
    strength: int
    description: str


class _Edge(NamedTuple):
    source: int
    """row of entities"""
    target: int
    said: list[_Statement]

    @property
    def weight(self) -> float:
        return float(sum(one.strength for one in self.said))


def graph_of_extractions(
    texts: Sequence[str],
    unit_ids: Sequence[str],
    extractions: Mapping[str, Extraction],
    known: KnownPeople,
    describe: Describe | None = None,
) -> Graph:
    """The graph of extractions, which are given by text. An entity that nothing relates is left out.

    `describe` makes one description of several; without it they are joined.

    An entity that bears the name of a known person is that person. The weight of a relationship is the sum of the
    strengths that the model gave it.
    """
    found = [extractions.get(text) or Extraction(entities=[], relationships=[]) for text in texts]
    keys = [{one.name.lower(): known.key(one.name) or fold(one.name) for one in some.entities} for some in found]
    stated = _statements(found, keys)
    related = {end for ends in stated for end in ends}
    mentions = [one for one in _mentions(found, keys, texts) if one.key in related]
    titles = entity_titles(mentions, known.titles)
    ordered = sorted(titles, key=lambda key: (titles[key], key))
    rows = {key: row for row, key in enumerate(ordered)}
    edges = sorted(_edges(stated, rows))
    said = [
        split_sentences(text, inside, rows)
        for text, inside in zip(texts, group_by_unit(mentions, len(texts)), strict=True)
    ]
    descriptions = [
        _merge_descriptions(titles[key], said, describe, texts)
        for key, said in zip(ordered, _descriptions(found, keys, rows), strict=True)
    ]
    entities = _entities(ordered, titles, mentions, descriptions, edges, unit_ids)
    relationships = _relationships(ordered, entities, edges, unit_ids)
    return Graph(entities, relationships, [(one.source, one.target, one.weight) for one in edges], ordered, said)


def _statements(
    found: Sequence[Extraction], keys: Sequence[Mapping[str, str]]
) -> dict[tuple[str, str], list[_Statement]]:
    """What relates two keys, whichever of them the model called source."""
    stated: dict[tuple[str, str], list[_Statement]] = defaultdict(list)
    for unit, some in enumerate(found):
        for one in some.relationships:
            first, second = sorted((keys[unit][one.source.lower()], keys[unit][one.target.lower()]))
            if first != second:
                stated[first, second].append(_Statement(unit, one.strength, one.description.strip()))
    return stated


def _mentions(
    found: Sequence[Extraction], keys: Sequence[Mapping[str, str]], texts: Sequence[str]
) -> Iterator[Mention]:
    """Every place where an entity stands by the name that the model gave it; -1 where it stands in another form."""
    for unit, some in enumerate(found):
        lower = texts[unit].lower()
        for one in some.entities:
            name = one.name.lower()
            for start in _places(name, lower):
                yield Mention(unit, keys[unit][name], one.type, one.name, start)


def _places(name: str, text: str) -> Iterator[int]:
    start = text.find(name)
    yield start
    while start >= 0 and (start := text.find(name, start + len(name))) >= 0:
        yield start


def _edges(stated: Mapping[tuple[str, str], list[_Statement]], rows: Mapping[str, int]) -> Iterator[_Edge]:
    for (one, other), said in stated.items():
        source, target = sorted((rows[one], rows[other]))
        yield _Edge(source, target, said)


def _descriptions(
    found: Sequence[Extraction], keys: Sequence[Mapping[str, str]], rows: Mapping[str, int]
) -> list[list[tuple[int, str]]]:
    """Of each entity the text units that describe it, and how."""
    said: list[list[tuple[int, str]]] = [[] for _ in rows]
    for unit, some in enumerate(found):
        for one in some.entities:
            if (key := keys[unit][one.name.lower()]) in rows:
                said[rows[key]].append((unit, one.description.strip()))
    return said


def _merge_descriptions(
    title: str, said: Sequence[tuple[int, str]], describe: Describe | None, texts: Sequence[str]
) -> str:
    different = list(dict.fromkeys(one for _, one in said if one))
    if describe is None or len(" ".join(different)) <= _LONGEST:
        return _join(different)
    return describe(title, different, [texts[unit] for unit, _ in said]) or _join(different)


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
    for one in mentions:
        units[one.key][one.unit] = None
        types.setdefault(one.key, one.type)
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
    units = [sorted({one.unit for one in edge.said}) for edge in edges]
    return frame(
        "relationships",
        {
            "id": [stable_id("edge", *sorted((keys[edge.source], keys[edge.target]))) for edge in edges],
            "human_readable_id": range(len(edges)),
            "source": [titles[edge.source] for edge in edges],
            "target": [titles[edge.target] for edge in edges],
            "description": [_join(one.description for one in edge.said) for edge in edges],
            "weight": [edge.weight for edge in edges],
            "combined_degree": [degrees[edge.source] + degrees[edge.target] for edge in edges],
            "text_unit_ids": [[unit_ids[unit] for unit in of] for of in units],
        },
    )


def covariates(
    built: Graph,
    texts: Sequence[str],
    unit_ids: Sequence[str],
    extractions: Mapping[str, Extraction],
    known: KnownPeople,
) -> pd.DataFrame:
    """The claims about entities of the graph, in the order of text units, each once."""
    titles = dict(zip(built.keys, built.entities["title"], strict=True))
    rows: dict[str, dict[str, str]] = {}
    for text, unit_id in zip(texts, unit_ids, strict=True):
        for one in extractions[text].claims if text in extractions else ():
            subject, object_ = (titles.get(known.key(name) or fold(name)) for name in (one.subject, one.object))
            if subject is None:
                continue
            said = {
                "covariate_type": "claim",
                "type": one.type,
                "description": one.description,
                "subject_id": subject,
                "object_id": object_ or NONE,
                "status": one.status,
                "start_date": one.start_date,
                "end_date": one.end_date,
                "source_text": one.source_text,
                "text_unit_id": unit_id,
            }
            rows[stable_id("claim", *said.values())] = said
    columns = OPTIONAL["covariates"].names[2:]
    return frame(
        "covariates",
        {"id": list(rows), "human_readable_id": range(len(rows))}
        | {name: [row[name] for row in rows.values()] for name in columns},
    )


def _join(descriptions: Iterable[str]) -> str:
    """Different descriptions in their order, as one text."""
    return shorten(" ".join(dict.fromkeys(filter(None, descriptions))), _LONGEST)
