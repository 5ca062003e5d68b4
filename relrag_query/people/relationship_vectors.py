"""Search over relationships: by the vector of each, and by its words in any language."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import duckdb
import numpy as np

from relrag_pipelines.embedders import Vectors, centring
from relrag_pipelines.identity.statement_overlay import embedded_text, key_of
from relrag_pipelines.records import PersonRelationship
from relrag_query.people.kin_words import type_words
from relrag_query.people.relations import is_of_type
from relrag_query.retrieval.term_coverage import Term, term_coverage, tokens

MAX_RESULTS = 20
"""maximum number of relationships that a search returns"""
_ENTITY = "person:"


@dataclass
class RelationshipSearchResult:
    """A relationship that matches a search."""

    from_entity_key: str
    to_entity_key: str
    relationship_type: str
    description: str | None
    attitude: int | None
    proximity: int | None
    similarity: float
    """cosine similarity to the query"""
    properties: dict[str, Any]
    """all fields of the relationship: notes, validity, confidence, source"""

    @property
    def ends(self) -> tuple[int, int]:
        """The ids of both people."""
        return person_of(self.from_entity_key), person_of(self.to_entity_key)


def entity_key(person_id: int) -> str:
    """The key of a person's node."""
    return f"{_ENTITY}{person_id}"


def person_of(key: str) -> int:
    """The id of the person with a key."""
    return int(key.removeprefix(_ENTITY))


class RelationshipVectors:
    """The vectors of a generation's relationships, by the hash of their text."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, model: str, means: centring.Means) -> None:
        rows = connection.execute(
            "SELECT text_hash, relationship_embedding FROM relationship_embeddings WHERE model = $model ORDER BY 1",
            {"model": model},
        ).fetchall()
        self._means = means
        self._rows = {key: row for row, (key, _) in enumerate(rows)}
        self._matrix = (
            centring.comparable(np.asarray([vector for _, vector in rows], np.float32), means) if rows else None
        )

    def similarities(
        self, meaning: Vectors, hashes: Sequence[str], further: Mapping[str, Vectors]
    ) -> list[float | None]:
        """Cosine similarity of each text to a question; None for a text without a vector here or in `further`."""
        cosines = self._matrix @ meaning if self._matrix is not None else ()
        extra = {
            key: float(centring.comparable(vector[None], self._means)[0] @ meaning) for key, vector in further.items()
        }
        return [float(cosines[self._rows[key]]) if key in self._rows else extra.get(key) for key in hashes]


def visible(
    rows: Sequence[PersonRelationship], user_id: str, types: Collection[str] | None
) -> list[PersonRelationship]:
    """The relationships that a user may see: the owner (an empty id) all, a client those of its own records."""
    if user_id:
        rows = [row for row in rows if row.client_id == user_id]
    if types is None:
        return list(rows)
    return [row for row in rows if is_of_type(row.relationship_type, types) or _describes(row, types)]


def _describes(row: PersonRelationship, types: Collection[str]) -> bool:
    words = (row.description or "").casefold().split()
    return any(type_ in words for type_ in types)


def share_of_words(rows: Sequence[PersonRelationship], names: Mapping[int, str], terms: Sequence[Term]) -> list[float]:
    """For each relationship the share of a question's terms, 0 to 1, that its text, type words and names contain."""
    shares = []
    for row in rows:
        ends = [names.get(person_id, "") for person_id in key_of(row)[:2]]
        text = "\n".join([embedded_text(row).replace("_", " "), type_words(row.relationship_type), *ends])
        shares.append(term_coverage(terms, tokens(text)))
    return shares


def result(row: PersonRelationship, similarity: float) -> RelationshipSearchResult:
    """The relationship as a result."""
    properties = {name: value for name, value in asdict(row).items() if name != "text_hash"}
    return RelationshipSearchResult(
        entity_key(row.from_person_id),
        entity_key(row.to_person_id),
        row.relationship_type,
        row.description,
        row.attitude,
        row.proximity,
        round(similarity, 4),
        properties,
    )
