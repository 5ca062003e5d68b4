"""Builds the tables of entities and relationships from mentions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID, uuid5

import numpy as np
import pandas as pd

from relrag_pipelines.graphrag.cooccurrence import Relations, relate
from relrag_pipelines.graphrag.entity_selection import Mention
from relrag_pipelines.graphrag.schema import frame
from relrag_pipelines.text.sentences import sentences, spans

_SUFFIX = re.compile(r" \([^()]*\)$")
_EMPTY_ADDRESS = re.compile(r" ?<\s*>$")
_NAMESPACE = UUID("6f7a3a9e-1f2b-5d0c-9a44-7c1f6c1b2d10")
_DESCRIBED_UNITS = 5
"""text units that are searched for a description"""
_MAX_CHARS = 300
"""characters of a description"""
COOCCURRENCE = " are named together."
"""end of the description of a relationship that no sentence states"""


class Sentence(NamedTuple):
    """A sentence or line of a text unit."""

    text: str
    """without line ends"""
    entities: tuple[int, ...]
    """rows of entities that it names, in order"""


class Graph(NamedTuple):
    """Entities, the relationships between them, and the sentences that name them."""

    entities: pd.DataFrame
    relationships: pd.DataFrame
    edges: list[tuple[int, int, float]]
    """the rows of the entities and the weight of each relationship"""
    keys: list[str]
    """the key of each entity's mentions"""
    sentences: list[list[Sentence]]
    """by text unit"""


def graph(
    texts: Sequence[str],
    unit_ids: Sequence[str],
    mentions: Sequence[Mention],
    titles: Mapping[str, str],
    min_weight_percentile: float,
) -> Graph:
    """The graph of the entities in text units. One without a relation is left out, as by Microsoft's pruning.

    `titles` gives the title of an entity by its key, if it isn't its most frequent form.
    """
    titled = entity_titles(mentions, titles)
    keys = sorted(titled, key=lambda key: (titled[key], key))
    rows = {key: row for row, key in enumerate(keys)}
    rows_by_unit = np.array(sorted({(mention.unit, rows[mention.key]) for mention in mentions}), np.int64).reshape(
        -1, 2
    )
    relations = relate(rows_by_unit[:, 0], rows_by_unit[:, 1], len(texts), min_weight_percentile)
    related = np.union1d(relations.source, relations.target)
    keys = [keys[row] for row in related]
    rows = {key: row for row, key in enumerate(keys)}
    sentence_lists = [
        split_sentences(text, unit_mentions, rows)
        for text, unit_mentions in zip(texts, group_by_unit(mentions, len(texts)), strict=True)
    ]
    source, target = np.searchsorted(related, relations.source), np.searchsorted(related, relations.target)
    relations = Relations(source, target, relations.weight, relations.units)
    entities = _entities(keys, titled, mentions, relations, unit_ids, sentence_lists)
    edges = list(zip(source.tolist(), target.tolist(), relations.weight.tolist(), strict=True))
    return Graph(
        entities, _relationships(keys, entities, relations, unit_ids, sentence_lists), edges, keys, sentence_lists
    )


def stable_id(*parts: str) -> str:
    """An id that is the same in every run."""
    return str(uuid5(_NAMESPACE, "\0".join(parts)))


def entity_titles(mentions: Sequence[Mention], titles: Mapping[str, str]) -> dict[str, str]:
    """A unique title for each key."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    types: dict[str, str] = {}
    for mention in mentions:
        forms[mention.key][" ".join(mention.text.split())] += 1
        types[mention.key] = mention.type
    unique = {key: titles.get(key) or _most_frequent(counts) for key, counts in forms.items()}
    counts = Counter(unique.values())
    unique = {key: title if counts[title] == 1 else f"{title} ({types[key].lower()})" for key, title in unique.items()}
    counts = Counter(unique.values())
    return {key: title if counts[title] == 1 else f"{title}: {key}" for key, title in unique.items()}


def _most_frequent(counts: Counter[str]) -> str:
    """The most frequent form; of equally frequent ones the first in order."""
    return min(counts, key=lambda form: (-counts[form], form))


def plain_title(title: str) -> str:
    """The title of an entity without its distinguishing suffix, and without an empty address after it."""
    return _EMPTY_ADDRESS.sub("", _SUFFIX.sub("", title))


def group_by_unit(mentions: Sequence[Mention], count: int) -> list[list[Mention]]:
    """The mentions of each text unit."""
    groups: list[list[Mention]] = [[] for _ in range(count)]
    for mention in mentions:
        groups[mention.unit].append(mention)
    return groups


def split_sentences(text: str, mentions: list[Mention], rows: Mapping[str, int]) -> list[Sentence]:
    """The sentences of a text unit, with the entities that they name; `rows` has the row of each key."""
    sentence_spans = spans(sentences(text))
    starts = [start for start, _ in sentence_spans]
    entities: list[set[int]] = [set() for _ in sentence_spans]
    for mention in mentions:
        if mention.start >= 0 and mention.key in rows:
            entities[bisect_right(starts, mention.start) - 1].add(rows[mention.key])
    return [
        Sentence(" ".join(text[start:end].split()), tuple(sorted(named)))
        for (start, end), named in zip(sentence_spans, entities, strict=True)
    ]


def _units_and_types(mentions: Iterable[Mention], rows: Mapping[str, int]) -> tuple[list[dict[int, None]], list[str]]:
    """The text units that mention each entity, and its type, by row."""
    units: list[dict[int, None]] = [{} for _ in rows]
    types = [""] * len(rows)
    for mention in mentions:
        if mention.key in rows:
            units[rows[mention.key]][mention.unit] = None
            types[rows[mention.key]] = str(mention.type)
    return units, types


def _entities(
    keys: list[str],
    titled: Mapping[str, str],
    mentions: Sequence[Mention],
    relations: Relations,
    unit_ids: Sequence[str],
    sentence_lists: list[list[Sentence]],
) -> pd.DataFrame:
    rows = {key: row for row, key in enumerate(keys)}
    units, types = _units_and_types(mentions, rows)
    degrees = np.bincount(np.concatenate([relations.source, relations.target]), minlength=len(keys))
    return frame(
        "entities",
        {
            "id": [stable_id("entity", key) for key in keys],
            "human_readable_id": range(len(keys)),
            "title": [titled[key] for key in keys],
            "type": types,
            "description": [
                _description([row], list(unit_rows), sentence_lists) for row, unit_rows in enumerate(units)
            ],
            "text_unit_ids": [[unit_ids[unit] for unit in unit_rows] for unit_rows in units],
            "frequency": [len(unit_rows) for unit_rows in units],
            "degree": degrees.tolist(),
        },
    )


def _relationships(
    keys: list[str],
    entities: pd.DataFrame,
    relations: Relations,
    unit_ids: Sequence[str],
    sentence_lists: list[list[Sentence]],
) -> pd.DataFrame:
    titles, degrees = entities["title"].tolist(), entities["degree"].tolist()
    ends = list(zip(relations.source.tolist(), relations.target.tolist(), strict=True))
    units = [unit_rows.tolist() for unit_rows in relations.units]
    return frame(
        "relationships",
        {
            "id": [stable_id("edge", *sorted((keys[source_], keys[target_]))) for source_, target_ in ends],
            "human_readable_id": range(len(ends)),
            "source": [titles[source_] for source_, _ in ends],
            "target": [titles[target_] for _, target_ in ends],
            "description": [
                _description([source_, target_], unit_rows, sentence_lists)
                or f"{titles[source_]} and {titles[target_]}{COOCCURRENCE}"
                for (source_, target_), unit_rows in zip(ends, units, strict=True)
            ],
            "weight": relations.weight.tolist(),
            "combined_degree": [degrees[source_] + degrees[target_] for source_, target_ in ends],
            "text_unit_ids": [[unit_ids[unit] for unit in unit_rows] for unit_rows in units],
        },
    )


def _description(entities: list[int], units: list[int], sentence_lists: list[list[Sentence]]) -> str:
    """The sentence that names all these entities and the most others; empty if none of the first text units has one."""
    # a sentence names few entities, so searching its tuple is faster than making a set
    candidates: list[Sentence] = []
    for unit in units[:_DESCRIBED_UNITS]:
        for sentence in sentence_lists[unit]:
            if all(map(sentence.entities.__contains__, entities)):
                candidates.append(sentence)
    best = max(candidates, key=lambda sentence: (len(sentence.entities), -len(sentence.text)), default=None)
    return shorten(best.text, _MAX_CHARS) if best else ""


def shorten(text: str, most: int) -> str:
    """The text cut between words to at most `most` characters."""
    if len(text) <= most:
        return text
    end = text.rfind(" ", most // 2, most - 1)
    return f"{text[: end if end > 0 else most - 2].rstrip()} …"
