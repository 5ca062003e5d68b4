"""Candidates of answers to labelled questions, with their features and whether they answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relrag_pipelines.embedders import e5
from relrag_pipelines.embedders.centring import Means
from relrag_pipelines.stores.vectors.protocol import Vectors
from relrag_query import pipeline
from relrag_query.answering import features
from relrag_query.answering.candidates import Candidate
from relrag_query.archive import Archive
from relrag_query.evaluation.answer_sets import SAME, LabelledQuestion, Place, words
from relrag_query.retrieval import catalog_reader, missing_words, question_vectors
from relrag_query.retrieval.question_reader import Filters
from tuning import archives

_WHOLE = 0.9
"""share of a candidate's words that evidence holds"""


@dataclass
class Asked:
    """A question with its candidates."""

    archive: str
    question: LabelledQuestion
    candidates: list[Candidate]
    right: list[bool]
    rows: Vectors
    missing: int
    """words that no passage holds"""
    asked: str
    """the redacted question"""
    meaning: Vectors | None
    """its vector"""
    means: Means
    """of the archive's passages, by language"""


def collect(name: str, work: Path, embedder: str = "e5", most: int = 24) -> list[Asked]:
    """All questions of an archive, asked."""
    with archives.opened(name, work, embedder) as archive:
        asked = [*archives.questions(name), *archives.plain_questions(name)]
        return [_ask(archive, name, one, most) for one in asked]


def _ask(archive: Archive, name: str, one: LabelledQuestion, most: int) -> Asked:
    with archive._reading() as connection:
        context = archive._context(connection, one.question, Filters(), most, people=archive._people(connection))
        hits = pipeline.answering_hits(context)
        found = pipeline.quotable(hits)
        refs = list({unit.asset_id for hit in hits for unit in hit.messages} | {hit.chunk.asset_id for hit in hits})
        located = catalog_reader.locations(connection, refs)

        def holds(place: Place, candidate: Candidate) -> bool:
            unit = candidate.unit
            where = [*located.get(unit.asset_id, []), unit.hit.chunk.source_uri or ""]
            if unit.hit.chunk.source != place.source or not any(place.file in one for one in where):
                return False
            said, wanted = words(f"{unit.sender or ''} {candidate.text}"), words(place.text)
            return len(said & wanted) >= min(SAME * len(wanted), max(3, _WHOLE * len(words(candidate.text))))

        right = []
        for candidate in found:
            fits = any(holds(place, candidate) for place in one.evidence)
            has = not one.answer_has or any(words(text) <= words(candidate.text) for text in one.answer_has)
            right.append(fits and has)
        means = archive.generation.manifest.get("means", {})
        missing = len(missing_words.unmatched_terms(context, hits))
        return Asked(
            name,
            one,
            found,
            right,
            features.feature_rows(found, context),
            missing,
            context.embedded_text,
            context.meaning,
            means,
        )


class _Remembering(e5.E5):
    """Makes the states of a text once: the same sentences are candidates of many questions."""

    def __init__(self) -> None:
        super().__init__(e5.weights())
        self._made: dict[str, tuple[list[int], Vectors]] = {}

    def states(self, text: str, most: int = e5.MAX_TOKENS) -> tuple[list[int], Vectors]:
        """As E5 makes them, kept with 16 bits."""
        if text not in self._made:
            ids, states = super().states(text, most)
            self._made[text] = (ids, states.astype(np.float16))
        ids, kept = self._made[text]
        return ids, kept.astype(np.float32)


class Nearness:
    """How near candidates are to their questions, each compared once."""

    def __init__(self) -> None:
        self._model = _Remembering()
        self._near: dict[tuple[int, int], Vectors] = {}
        """by the question's identity and the candidate's place"""

    def rows(self, one: Asked, places: Sequence[int]) -> Vectors:
        """The rows of a question with the features of meaning of these candidates, as `rank` makes them."""
        if one.meaning is None or not places:
            return one.rows
        left = [place for place in places if (id(one), place) not in self._near]
        if left:
            texts = [one.candidates[place].embedded_text for place in left]
            found, _ = question_vectors.compare(self._model, one.means, one.asked, one.meaning, texts)
            self._near |= {(id(one), place): near for place, near in zip(left, found, strict=True)}
        return features.with_meaning(one.rows, places, np.array([self._near[id(one), place] for place in places]))
