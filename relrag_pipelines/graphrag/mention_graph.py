"""Builds the tables of entities and relationships from mentions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
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
_LOOKED_AT = 5
"""text units in which a description is looked for"""
_LONGEST = 300
"""characters of a description"""
COOCCURRENCE = " are named together."
"""how the description of a relationship ends that no sentence states"""


class Sentence(NamedTuple):
    """A sentence or line of a text unit."""

    text: str
    """without line ends"""
    entities: tuple[int, ...]
    """rows of entities that it names, in order"""


class Graph(NamedTuple):
    """Entities, what relates them, and where they are named."""

    entities: pd.DataFrame
    relationships: pd.DataFrame
    edges: list[tuple[int, int, float]]
    """of each relationship the rows of its entities, and its weight"""
    keys: list[str]
    """of each entity the key of its mentions"""
    sentences: list[list[Sentence]]
    """of each text unit"""


def graph(
    texts: Sequence[str],
    unit_ids: Sequence[str],
    mentions: Sequence[Mention],
    titles: Mapping[str, str],
    min_weight_percentile: float,
) -> Graph:
    """The graph of what the text units name. An entity without a relation is left out, as Microsoft's pruning does.

    `titles` gives the title of an entity by its key, where it is not that of its most frequent form.
    """
    titled = entity_titles(mentions, titles)
    keys = sorted(titled, key=lambda key: (titled[key], key))
    rows = {key: row for row, key in enumerate(keys)}
    named = np.array(sorted({(one.unit, rows[one.key]) for one in mentions}), np.int64).reshape(-1, 2)
    relations = relate(named[:, 0], named[:, 1], len(texts), min_weight_percentile)
    kept = np.union1d(relations.source, relations.target)
    keys = [keys[row] for row in kept]
    rows = {key: row for row, key in enumerate(keys)}
    said = [
        split_sentences(text, inside, rows)
        for text, inside in zip(texts, group_by_unit(mentions, len(texts)), strict=True)
    ]
    source, target = np.searchsorted(kept, relations.source), np.searchsorted(kept, relations.target)
    relations = Relations(source, target, relations.weight, relations.units)
    entities = _entities(keys, titled, mentions, relations, unit_ids, said)
    edges = list(zip(source.tolist(), target.tolist(), relations.weight.tolist(), strict=True))
    return Graph(entities, _relationships(keys, entities, relations, unit_ids, said), edges, keys, said)


def stable_id(*parts: str) -> str:
    """An id that is the same in every run."""
    return str(uuid5(_NAMESPACE, "\0".join(parts)))


def entity_titles(mentions: Sequence[Mention], titles: Mapping[str, str]) -> dict[str, str]:
    """A title for each key, no two the same."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    types: dict[str, str] = {}
    for one in mentions:
        forms[one.key][" ".join(one.text.split())] += 1
        types[one.key] = one.type
    wanted = {key: titles.get(key) or min(found, key=lambda form: (-found[form], form)) for key, found in forms.items()}
    holders = Counter(wanted.values())
    told = {key: title if holders[title] == 1 else f"{title} ({types[key].lower()})" for key, title in wanted.items()}
    holders = Counter(told.values())
    return {key: title if holders[title] == 1 else f"{title}: {key}" for key, title in told.items()}


def plain_title(title: str) -> str:
    """The title of an entity without what tells it from others of its name, or is left of an address behind it."""
    return _EMPTY_ADDRESS.sub("", _SUFFIX.sub("", title))


def group_by_unit(mentions: Sequence[Mention], count: int) -> list[list[Mention]]:
    """The mentions of each text unit."""
    found: list[list[Mention]] = [[] for _ in range(count)]
    for one in mentions:
        found[one.unit].append(one)
    return found


def split_sentences(text: str, mentions: list[Mention], rows: Mapping[str, int]) -> list[Sentence]:
    """The sentences of a text unit, with the entities that they name; `rows` has the row of each key."""
    places = spans(sentences(text))
    starts = [start for start, _ in places]
    named: list[dict[int, None]] = [{} for _ in places]
    for one in mentions:
        if one.start >= 0 and one.key in rows:
            named[bisect_right(starts, one.start) - 1][rows[one.key]] = None
    return [
        Sentence(" ".join(text[start:end].split()), tuple(sorted(inside)))
        for (start, end), inside in zip(places, named, strict=True)
    ]


def _entities(
    keys: list[str],
    titled: Mapping[str, str],
    mentions: Sequence[Mention],
    relations: Relations,
    unit_ids: Sequence[str],
    said: list[list[Sentence]],
) -> pd.DataFrame:
    rows = {key: row for row, key in enumerate(keys)}
    units: list[dict[int, None]] = [{} for _ in keys]
    types = [""] * len(keys)
    for one in mentions:
        if one.key in rows:
            units[rows[one.key]][one.unit] = None
            types[rows[one.key]] = one.type
    degrees = np.bincount(np.concatenate([relations.source, relations.target]), minlength=len(keys))
    return frame(
        "entities",
        {
            "id": [stable_id("entity", key) for key in keys],
            "human_readable_id": range(len(keys)),
            "title": [titled[key] for key in keys],
            "type": [str(one) for one in types],
            "description": [_description([row], list(of), said) for row, of in enumerate(units)],
            "text_unit_ids": [[unit_ids[unit] for unit in of] for of in units],
            "frequency": [len(of) for of in units],
            "degree": degrees.tolist(),
        },
    )


def _relationships(
    keys: list[str],
    entities: pd.DataFrame,
    relations: Relations,
    unit_ids: Sequence[str],
    said: list[list[Sentence]],
) -> pd.DataFrame:
    titles, degrees = entities["title"].tolist(), entities["degree"].tolist()
    ends = list(zip(relations.source.tolist(), relations.target.tolist(), strict=True))
    units = [of.tolist() for of in relations.units]
    return frame(
        "relationships",
        {
            "id": [stable_id("edge", *sorted((keys[one], keys[other]))) for one, other in ends],
            "human_readable_id": range(len(ends)),
            "source": [titles[one] for one, _ in ends],
            "target": [titles[other] for _, other in ends],
            "description": [
                _description([one, other], of, said) or f"{titles[one]} and {titles[other]}{COOCCURRENCE}"
                for (one, other), of in zip(ends, units, strict=True)
            ],
            "weight": relations.weight.tolist(),
            "combined_degree": [degrees[one] + degrees[other] for one, other in ends],
            "text_unit_ids": [[unit_ids[unit] for unit in of] for of in units],
        },
    )


def _description(wanted: list[int], units: list[int], said: list[list[Sentence]]) -> str:
    """The sentence that names all wanted entities and the most others; empty where none of the first text units has."""
    # a sentence names few entities, so that looking through them is faster than making a set
    found = [one for unit in units[:_LOOKED_AT] for one in said[unit] if all(map(one.entities.__contains__, wanted))]
    best = max(found, key=lambda one: (len(one.entities), -len(one.text)), default=None)
    return shorten(best.text, _LONGEST) if best else ""


def shorten(text: str, most: int) -> str:
    """At most so many characters, cut between words."""
    if len(text) <= most:
        return text
    end = text.rfind(" ", most // 2, most - 1)
    return f"{text[: end if end > 0 else most - 2].rstrip()} …"
