"""An opened index, prepared for queries: text units with their time, document and entities, by row number."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pandas as pd

from relrag_pipelines.stores.generations import Generation
from relrag_pipelines.text.analyzer import fold
from relrag_query.graphrag.index import Index, ids
from relrag_query.graphrag.vectors import IndexVectors

PERSON = "PERSON"
_SHORT = 3
"""letters of a name that an inflected one has more than"""


class Word(NamedTuple):
    """How a word is used in the texts of an index."""

    key: str
    """what its forms share"""
    noun: float
    """how likely it is a noun"""
    units: int
    """text units that hold it in any form"""


class Claim(NamedTuple):
    """A claim of a text unit about an entity."""

    row: int
    """of covariates"""
    number: int
    """by which it is cited"""
    unit: int
    subject: str
    """title of the entity"""
    text: str
    words: str
    """those of the text unit, without line ends"""


class Corpus:
    """The tables of an index by rows; made once for all questions."""

    def __init__(self, index: Index) -> None:
        self.index = index
        tables = index.tables
        self.texts: list[str] = [_text(value) for value in tables["text_units"]["text"]]
        self.titles: list[str] = [_text(value) for value in tables["entities"]["title"]]
        self.types: list[str] = [_text(value).upper() for value in tables["entities"]["type"]]
        self.entity_numbers: list[int] = tables["entities"]["human_readable_id"].tolist()
        self.units_of_entity = _rows_of(index, "entities")
        self.units_of_community = self._units_of_communities()
        self.entities_of_community = [
            index.rows_of("entities", "id", ids(value)) for value in tables["communities"]["entity_ids"]
        ]
        self.levels: list[int] = [0 if pd.isna(level) else int(level) for level in tables["communities"]["level"]]
        self.communities: list[int] = tables["communities"]["community"].tolist()
        self.entities_of_unit: list[list[int]] = [[] for _ in self.texts]
        for entity, units in enumerate(self.units_of_entity):
            for unit in units:
                self.entities_of_unit[unit].append(entity)
        self._vectors: tuple[int, IndexVectors] | None = None

    @property
    def has_vectors(self) -> bool:
        """Whether entities have vectors."""
        return len(self.index.tables["text_vectors"]) > 0

    def vectors(self, generation: Generation) -> IndexVectors:
        """The vectors of entities and relationships, comparable with questions to a generation."""
        cached = self._vectors
        if cached is None or cached[0] != generation.number:
            cached = self._vectors = generation.number, IndexVectors(self.index, generation.manifest)
        return cached[1]

    @functools.cached_property
    def folded_texts(self) -> list[str]:
        """The texts, folded for comparison."""
        return [fold(text) for text in self.texts]

    @functools.cached_property
    def documents(self) -> list[str]:
        """The title of each text unit's document."""
        titles = dict(zip(self.index.tables["documents"]["id"], self.index.tables["documents"]["title"], strict=True))
        return [_text(titles.get((ids(value) or [""])[0])) for value in self.index.tables["text_units"]["document_id"]]

    @functools.cached_property
    def times(self) -> list[tuple[int | None, int | None]]:
        """Start and end of each text unit, seconds in UTC; Microsoft's indexes have only days of documents."""
        tables = self.index.tables
        chunks = tables["text_unit_chunks"]
        if len(chunks):
            spans = zip(chunks["text_unit_id"], chunks["ts"], chunks["last_ts"], strict=True)
            times = {unit: (_number(first), _number(last)) for unit, first, last in spans}
            return [times.get(unit, (None, None)) for unit in tables["text_units"]["id"]]
        days = dict(zip(tables["documents"]["id"], map(_seconds, tables["documents"]["creation_date"]), strict=True))
        document_ids = [(ids(value) or [""])[0] for value in tables["text_units"]["document_id"]]
        return [(days.get(document_id), days.get(document_id)) for document_id in document_ids]

    @functools.cached_property
    def claims(self) -> list[Claim]:
        """The claims of the index, by rows of covariates, those without a text unit left out."""
        table = self.index.tables["covariates"]
        if "subject_id" not in table:
            return []
        columns = (table[name] for name in ("human_readable_id", "text_unit_id", "subject_id", "description"))
        rows = zip(*columns, table["source_text"], strict=True)
        units = {unit: row for row, unit in enumerate(self.index.tables["text_units"]["id"])}
        return [
            Claim(row, int(number), units[unit], _text(subject), _text(description), " ".join(_text(words).split()))
            for row, (number, unit, subject, description, words) in enumerate(rows)
            if unit in units
        ]

    def entities_of_person(self, person_id: int) -> list[int]:
        """The rows of the entities that stand for a person of the archive."""
        return self._people.get(person_id, [])

    @functools.cached_property
    def vocabulary(self) -> dict[str, Word]:
        """How words are used, by how they are compared; nothing in an index of Microsoft's."""
        table = self.index.tables["vocabulary"]
        columns = (table[name] for name in ("key", "noun", "text_units"))
        return dict(zip(table["word"], map(Word, *columns), strict=True)) if len(table) else {}

    @functools.cached_property
    def units_of_key(self) -> dict[str, int]:
        """Number of text units with the words of each key."""
        return {word.key: word.units for word in self.vocabulary.values()}

    @functools.cached_property
    def _people(self) -> dict[int, list[int]]:
        people = self.index.tables["entity_people"]
        rows_by_person: dict[int, list[int]] = {}
        for entity, person in zip(people["entity_id"], people["person_id"], strict=True):
            rows_by_person.setdefault(int(person), []).extend(self.index.rows_of("entities", "id", [entity]))
        return rows_by_person

    def day(self, unit: int, *, last: bool = False) -> str:
        """ISO 8601; empty where it is not known."""
        first, end = self.times[unit]
        moment = end if last and end is not None else first
        return "" if moment is None else datetime.fromtimestamp(moment, UTC).date().isoformat()

    def span(self, units: Sequence[int]) -> tuple[str, str]:
        """First and last day of text units; empty where none is known."""
        first = min(filter(None, (self.day(unit) for unit in units)), default="")
        return first, max(filter(None, (self.day(unit, last=True) for unit in units)), default=first)

    def is_person(self, entity: int) -> bool:
        """Whether an entity is a person, or is called by words of people's names only."""
        return self.types[entity] == PERSON or all(map(self.is_name, self.titles[entity].split()))

    def is_name(self, word: str) -> bool:
        """Whether people are called so; a name may be inflected."""
        folded = fold(word)
        shorter = (folded[:size] for size in range(len(folded) - 1, max(_SHORT, len(folded) - 3), -1))
        return folded in self._names or any(part in self._names for part in shorter)

    @functools.cached_property
    def _names(self) -> set[str]:
        titles = zip(self.titles, self.types, strict=True)
        return {word for title, kind in titles if kind == PERSON for word in fold(title).split() if len(word) > 1}

    def community_of(self, entities: Sequence[int]) -> int:
        """The number of the smallest community with most of these entities; -1 without any."""
        entity_rows = set(entities)
        shared = {
            community: len(entity_rows.intersection(rows)) for community, rows in enumerate(self.entities_of_community)
        }
        best = min(
            (community for community, count in shared.items() if count),
            key=lambda community: (-shared[community], len(self.entities_of_community[community]), community),
            default=None,
        )
        return -1 if best is None else self.communities[best]

    def _units_of_communities(self) -> list[list[int]]:
        """The text units that each community lists; else those of its entities."""
        unit_lists = []
        communities = self.index.tables["communities"]
        for unit_ids, members in zip(communities["text_unit_ids"], communities["entity_ids"], strict=True):
            units = sorted(self.index.rows_of("text_units", "id", ids(unit_ids)))
            if not units:  # before 1.0 communities did not list them
                rows = self.index.rows_of("entities", "id", ids(members))
                units = sorted({unit for row in rows for unit in self.units_of_entity[row]})
            unit_lists.append(units)
        return unit_lists


def _rows_of(index: Index, table: str) -> list[list[int]]:
    return [
        sorted(set(index.rows_of("text_units", "id", ids(value)))) for value in index.tables[table]["text_unit_ids"]
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def _seconds(day: object) -> int | None:
    try:
        moment = datetime.fromisoformat(_text(day))
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
