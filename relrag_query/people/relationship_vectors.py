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

MOST = 20
"""relationships that a search returns at most"""
_ENTITY = "person:"


@dataclass
class RelationshipSearchResult:
    """A relationship that was found."""

    from_entity_key: str
    to_entity_key: str
    relationship_type: str
    description: str | None
    attitude: int | None
    proximity: int | None
    similarity: float
    """cosine of its meaning to that of the query, 0 to 1 for what is alike"""
    properties: dict[str, Any]
    """all that is known of it: notes, validity, confidence, who says so"""

    @property
    def ends(self) -> tuple[int, int]:
        """The ids of both people."""
        return person_of(self.from_entity_key), person_of(self.to_entity_key)


def entity_key(person_id: int) -> str:
    """The name of a person among nodes."""
    return f"{_ENTITY}{person_id}"


def person_of(key: str) -> int:
    """The person whom a key names."""
    return int(key.removeprefix(_ENTITY))


class RelationshipVectors:
    """The vectors of a generation's relationships, by the hash of their text."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, model: str, means: centring.Means) -> None:
        rows = connection.execute(
            "SELECT text_hash, relationship_embedding FROM relationship_embeddings WHERE model = $model ORDER BY 1",
            {"model": model},
        ).fetchall()
        self._means = means
        self._rows = {key: place for place, (key, _) in enumerate(rows)}
        self._matrix = (
            centring.comparable(np.asarray([vector for _, vector in rows], np.float32), means) if rows else None
        )

    def similarities(
        self, meaning: Vectors, hashes: Sequence[str], further: Mapping[str, Vectors]
    ) -> list[float | None]:
        """Cosine of each text to a question's meaning; None where it has no vector. `further` vectors count too."""
        cosines = self._matrix @ meaning if self._matrix is not None else ()
        extra = {
            key: float(centring.comparable(vector[None], self._means)[0] @ meaning) for key, vector in further.items()
        }
        return [float(cosines[self._rows[key]]) if key in self._rows else extra.get(key) for key in hashes]


def visible(
    rows: Sequence[PersonRelationship], user_id: str, types: Collection[str] | None
) -> list[PersonRelationship]:
    """The relationships that a user may see: the owner (an empty id) all, a client what its own records say."""
    return [
        row
        for row in rows
        if (not user_id or row.client_id == user_id)
        and (types is None or is_of_type(row.relationship_type, types) or _describes(row, types))
    ]


def _describes(row: PersonRelationship, types: Collection[str]) -> bool:
    return any(one in (row.description or "").casefold().split() for one in types)


def share_of_words(rows: Sequence[PersonRelationship], names: Mapping[int, str], terms: Sequence[Term]) -> list[float]:
    """Share of a question's words that each relationship holds, in whatever language its type has a word; 0 to 1."""
    return [
        term_coverage(
            terms,
            tokens(
                "\n".join(
                    [
                        embedded_text(row).replace("_", " "),
                        type_words(row.relationship_type),
                        *(names.get(one, "") for one in key_of(row)[:2]),
                    ]
                )
            ),
        )
        for row in rows
    ]


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
