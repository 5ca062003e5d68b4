"""Index of a generation's relationships, held in columns: few of ten thousand are candidates of a question.

Rows are chosen by columns alone, by vectors and by parts of words. Only the chosen ones are read and compared word by
word, which takes a millisecond each.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.embedders import Vectors, centring
from relrag_pipelines.identity.statement_overlay import Key
from relrag_query.people.kin_words import type_words
from relrag_query.people.relations import is_of_type
from relrag_query.retrieval.term_coverage import Term, tokens

Flags = npt.NDArray[np.bool_]
"""for each relationship whether something is so"""
Scores = npt.NDArray[np.float64]
_COLUMNS = """
    SELECT from_person_id, to_person_id, relationship_type, coalesce(client_id, '') AS client_id, text_hash,
        lower(coalesce(description, '')) AS description,
        strip_accents(lower(concat_ws(' ', description, array_to_string(notes, ' '), one.name, other.name))) AS text
    FROM person_relationships
    LEFT JOIN persons AS one ON one.person_id = from_person_id
    LEFT JOIN persons AS other ON other.person_id = to_person_id
    ORDER BY from_person_id, to_person_id, relationship_type
"""
_VECTORS = "SELECT text_hash, relationship_embedding AS vector FROM relationship_embeddings WHERE model = $model"
_PARTS = ((0.5, 0.5), (0.9, 1.0))
"""least confidence of the parts of a word that are looked for -> what a row with one of them counts, at most"""
_WORD_WEIGHT, _MEANING_WEIGHT = 0.5, 0.5


class RelationshipIndex:
    """The relationships of a generation and their vectors, read once."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, model: str, means: centring.Means) -> None:
        self._means = means
        vectors = connection.sql(_VECTORS, params={"model": model}).to_arrow_table()
        self._matrix = _matrix(vectors, means)
        self._vector_rows = {key: row for row, key in enumerate(vectors["text_hash"].to_pylist())}
        self._table = connection.sql(_COLUMNS).to_arrow_table()
        hashes = self._table["text_hash"].to_pylist()
        self._positions = np.asarray([self._vector_rows.get(key, -1) for key in hashes], np.int64)
        self._types = self._table["relationship_type"].combine_chunks().dictionary_encode()

    def similarities(
        self, meaning: Vectors, hashes: Sequence[str], further: Mapping[str, Vectors]
    ) -> list[float | None]:
        """Cosine similarity of each text to a question; None for a text without a vector here or in `further`."""
        rows = [self._vector_rows.get(key, -1) for key in hashes]
        cosines = self._matrix[rows] @ meaning if self._matrix is not None else np.zeros(len(rows))
        extra = {
            key: float(centring.comparable(vector[None], self._means)[0] @ meaning) for key, vector in further.items()
        }
        return [
            float(cosine) if row >= 0 else extra.get(key)
            for key, row, cosine in zip(hashes, rows, cosines, strict=True)
        ]

    def matching(self, user_id: str, types: Collection[str] | None, ends: Collection[int] | None) -> Flags:
        """For each row whether a user may see it, and it is of one of these types and of one of these people."""
        chosen = np.ones(self._table.num_rows, bool)
        if user_id:
            chosen &= _flags(pc.equal(self._table["client_id"], user_id))
        if types is not None:
            chosen &= self._of_types(types)
        if ends is not None:
            values = pa.array(sorted(ends), pa.int64())
            chosen &= _flags(pc.is_in(self._table["from_person_id"].cast(pa.int64()), values)) | _flags(
                pc.is_in(self._table["to_person_id"].cast(pa.int64()), values)
            )
        return chosen

    def _of_types(self, types: Collection[str]) -> Flags:
        """Rows whose type is one of these, a former one, or whose description has the word of one."""
        fitting = np.asarray([is_of_type(type_, types) for type_ in self._types.dictionary.to_pylist()], bool)
        of_type = fitting[self._types.indices.to_numpy(zero_copy_only=False)] if len(fitting) else np.zeros(0, bool)
        if not types:
            return of_type
        words = rf"(^|\s)({'|'.join(re.escape(type_) for type_ in sorted(types))})(\s|$)"
        return of_type | _flags(pc.match_substring_regex(self._table["description"], words))

    def nearest(self, meaning: Vectors | None, among: Flags, count: int) -> list[Key]:
        """The keys of the rows with the highest similarity to a question, best first."""
        if meaning is None or self._matrix is None:
            return []
        return self._best(self._cosines(meaning), among & (self._positions >= 0), count)

    def likely(
        self,
        meaning: Vectors | None,
        terms: Sequence[Term],
        among: Flags,
        count: int,
    ) -> list[Key]:
        """The keys of the rows that are likeliest to rank first by words and meaning together."""
        scores = _WORD_WEIGHT * self._word_scores(terms)
        if meaning is not None and self._matrix is not None:
            scores += _MEANING_WEIGHT * np.maximum(self._cosines(meaning), 0.0)
        return self._best(scores, among, count)

    def _cosines(self, meaning: Vectors) -> Scores:
        """The similarity of each row to a question, 0 of a row without a vector."""
        if self._matrix is None or not len(self._positions):
            return np.zeros(len(self._positions))
        return np.where(self._positions >= 0, (self._matrix @ meaning)[self._positions], 0.0)

    def _word_scores(self, terms: Sequence[Term]) -> Scores:
        """Share of the weight of the terms, 0 to 1, of which a row has a part or its type is a word."""
        scores = np.zeros(self._table.num_rows)
        total = sum(term.weight for term in terms) or 1.0
        types = [tokens(type_words(type_)) for type_ in self._types.dictionary.to_pylist()]
        for term in terms:
            present = np.zeros(len(scores))
            for least, counts in _PARTS:
                present = np.maximum(present, counts * self._with_part(term, least))
            if types:
                of_type = np.asarray([term.match(words) for words in types])
                present = np.maximum(present, of_type[self._types.indices.to_numpy(zero_copy_only=False)])
            scores += present * (term.weight / total)
        return scores

    def _with_part(self, term: Term, least: float) -> Flags:
        """Rows that hold a part of a word, of those with at least this confidence."""
        parts = {part.lstrip("~+") for part, sure in term.tokens.items() if sure >= least}
        pattern = "|".join(re.escape(part) for part in sorted(parts) if part) or "$^"
        return _flags(pc.match_substring_regex(self._table["text"], pattern))

    def _best(
        self,
        scores: Scores,
        among: Flags,
        count: int,
    ) -> list[Key]:
        """The keys of the rows with the highest scores; of equal ones the first."""
        (rows,) = np.nonzero(among)
        order = rows[np.argsort(-scores[rows], kind="stable")[:count]]
        columns = ("from_person_id", "to_person_id", "relationship_type")
        chosen = self._table.select(columns).take(pa.array(order, pa.int64())).to_pylist()
        return [(row["from_person_id"], row["to_person_id"], row["relationship_type"]) for row in chosen]


def _matrix(table: pa.Table, means: centring.Means) -> Vectors | None:
    if not table.num_rows:
        return None
    flat = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    vectors: Vectors = centring.comparable(flat.reshape(table.num_rows, -1).astype(np.float32), means)
    return vectors


def _flags(column: pa.ChunkedArray) -> Flags:
    flags: Flags = column.to_numpy().astype(bool)
    return flags
