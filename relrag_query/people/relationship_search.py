"""Search over relationships: by the vector of each, and by its words in any language."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from relrag_pipelines.embedders import Vectors
from relrag_pipelines.identity import statement_overlay
from relrag_pipelines.identity.statement_overlay import embedded_text, key_of
from relrag_pipelines.people import profiles
from relrag_pipelines.records import PersonRelationship
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import vector_cache
from relrag_pipelines.text.analyzer import document_tokens
from relrag_query.people.kin_words import type_words
from relrag_query.people.people import People
from relrag_query.people.relations import LEAST_SIMILARITY, is_of_type
from relrag_query.people.relationship_index import RelationshipIndex
from relrag_query.retrieval.term_coverage import Term, term_coverage

MAX_RESULTS = 20
"""maximum number of relationships that a search returns"""
_CANDIDATES = 24
"""relationships that are compared word by word"""
_WORD_WEIGHT, _MEANING_WEIGHT = 0.5, 0.5
"""weights of words and meaning in the rank of a relationship"""
_MIN_SHARE_OF_BEST = 0.6
"""share of the best rank below which a relationship is left out as unrelated"""
_MIN_RANK = 0.3
"""if the best rank is below this, no relationship is returned, unless one comes near by meaning alone"""
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

    @property
    def key(self) -> statement_overlay.Key:
        """The key of the relationship."""
        return *self.ends, self.relationship_type


def _ranks(shares: Sequence[float], similarities: Sequence[float]) -> list[float]:
    """The rank of each relationship by its share of the query's words and its similarity."""
    pairs = zip(shares, similarities, strict=True)
    return [_WORD_WEIGHT * share + _MEANING_WEIGHT * similarity for share, similarity in pairs]


def entity_key(person_id: int) -> str:
    """The key of a person's node."""
    return f"{_ENTITY}{person_id}"


def person_of(key: str) -> int:
    """The id of the person with a key."""
    return int(key.removeprefix(_ENTITY))


@dataclass(frozen=True)
class RelationshipSearch:
    """A search among the relationships of one generation, with what the owner stated since."""

    people: People
    index: RelationshipIndex
    settings: Settings
    model: str
    """name of the model that embedded the generation"""
    meaning: Vectors | None
    """vector of the query; None: search by words only"""
    user_id: str = ""
    """a client, who sees relationships that its own records state; empty: the owner, who sees all"""
    types: Collection[str] | None = None
    """relationship types to keep, by the type or a word of the description; None keeps all"""
    ends: Collection[int] | None = None
    """people of whom one end must be; None: anybody"""

    def nearest(self, threshold: float = 0.0) -> list[RelationshipSearchResult]:
        """At most 20 relationships with the highest similarity to the query, none below the threshold, best first."""
        if self.meaning is None:
            return []
        count = MAX_RESULTS + len(self.people.statements.entries)  # a row that these change may not be near any more
        rows = self._rows(self.index.nearest(self.meaning, self._matching(), count))
        scored = zip(rows, self._similarities(rows), strict=True)
        near = [(row, similarity) for row, similarity in scored if similarity is not None and similarity >= threshold]
        near.sort(key=lambda pair: (-pair[1], key_of(pair[0])))
        return [result(row, similarity) for row, similarity in near[:MAX_RESULTS]]

    def best(
        self,
        terms: Sequence[Term],
        names: Callable[[Sequence[PersonRelationship]], Mapping[int, str]],
        limit: int,
        threshold: float = 0.0,
    ) -> list[RelationshipSearchResult]:
        """The relationships with the best ranks by words and meaning, best first.

        Unrelated ones are left out, unless they are of `types`, which the query then names. `names` gives the names of
        the people of some relationships, by id; `threshold` is that of `nearest`.
        """
        matching, near = self._matching(), [result.key for result in self.nearest(threshold)]
        likely = self.index.likely(self.meaning, terms, matching, max(_CANDIDATES, 2 * limit))
        rows = self._rows([*likely, *near])
        if not rows:
            return []
        similarities = [max(0.0, similarity or 0.0) for similarity in self._similarities(rows)]
        shares = share_of_words(rows, names(rows), terms)
        ranks = _ranks(shares, similarities)
        is_near = max(ranks) >= _MIN_RANK or max(similarities) >= LEAST_SIMILARITY
        if self.types is None and not is_near:
            return []
        positions = _best_positions(rows, ranks, of_type=self.types is not None)[:limit]
        return [result(rows[row], similarities[row] or shares[row]) for row in positions]

    def _matching(self) -> Any:
        return self.index.matching(self.user_id, self.types, self._ends_in_index())

    def _ends_in_index(self) -> list[int] | None:
        return None if self.ends is None else self.people.ids_in_index(self.ends)

    def _rows(self, keys: Sequence[statement_overlay.Key]) -> list[PersonRelationship]:
        """The relationships with these keys in the generation, and those that the owner stated since, once each."""
        rows, store = self.people.relationships_by_key(keys), self.settings.key_store
        if self.people.statements.entries and store.exists():
            keyed = store.load().content_hash
            rows = [replace(row, text_hash=profiles.text_hash(keyed, row)) for row in rows]
        if self.ends is not None:
            rows = [row for row in rows if not {row.from_person_id, row.to_person_id}.isdisjoint(self.ends)]
        return visible(rows, self.user_id, self.types)

    def _similarities(self, rows: Sequence[PersonRelationship]) -> list[float | None]:
        if self.meaning is None:
            return [None] * len(rows)
        hashes = [row.text_hash for row in rows]
        newer = [row.text_hash for row in rows if row.source_ref.startswith(statement_overlay.JOURNAL) or row.notes]
        further = {}
        if newer and vector_cache.path(self.settings.home_path).exists():
            with vector_cache.open(self.settings.home_path) as cache:
                further = vector_cache.find(cache, self.model, newer)
        return self.index.similarities(self.meaning, hashes, further)


def _best_positions(rows: Sequence[PersonRelationship], ranks: Sequence[float], *, of_type: bool) -> list[int]:
    """Positions of the relationships to return, the best first; all of them if the question names their type."""
    best = max(ranks)
    order = sorted(range(len(rows)), key=lambda position: (-ranks[position], key_of(rows[position])))
    return [position for position in order if of_type or ranks[position] >= _MIN_SHARE_OF_BEST * best]


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
        shares.append(term_coverage(terms, frozenset(document_tokens(text).split())))
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
