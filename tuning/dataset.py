"""Candidates of answers to labelled questions, with their figures and whether they answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_query.answering import evidence
from relrag_query.answering.candidates import Candidate, candidates
from relrag_query.answering.reply_expansion import attach_replies
from relrag_query.archive import Archive
from relrag_query.evaluation.answer_sets import SAME, LabelledQuestion, Place, words
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.question import Filters
from relrag_query.retrieval.search import SEARCH, run
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
    decoy: list[bool]
    rows: Vectors
    gold_rank: int | None
    """rank of the first hit that holds evidence, from 0"""


def collect(name: str, work: Path, embedder: str = "e5", most: int = 24) -> list[Asked]:
    """All questions of an archive, asked."""
    with archives.opened(name, work, embedder) as archive:
        return [_ask(archive, name, one, most) for one in archives.questions(name)]


def _ask(archive: Archive, name: str, one: LabelledQuestion, most: int) -> Asked:
    with archive._reading() as connection:
        context = archive._context(connection, one.question, Filters(), most)
        hits = run((*SEARCH, attach_replies), context)
        found = candidates(hits)
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
        ranks = [found[place].rank for place, yes in enumerate(right) if yes]
        decoy = [any(holds(place, candidate) for place in one.decoys) for candidate in found]
        rows = evidence.rows(found, context)
        return Asked(name, one, found, right, decoy, rows, min(ranks, default=None))


def embed(asked: list[Asked], order: list[np.ndarray], most: int) -> None:
    """Adds the similarity of sentences to the figures of the first candidates of each question."""
    from relrag_pipelines.embedders import centring, e5

    model = e5.E5(e5.weights())
    cache: dict[str, Vectors] = {}
    passages, questions = (centring.model_means(e5.MEANS, of) for of in ("passages", "questions"))
    for one, places in zip(asked, order, strict=True):
        first = [int(place) for place in places[:most]]
        new = [text for place in first if (text := one.candidates[place].embedded) not in cache]
        if new:
            made, _ = model.documents(new)
            cache |= zip(new, centring.centre(made, passages), strict=True)
        vector = centring.centre(model.query(one.question.question)[None], questions)[0]
        one.rows = evidence.compare(
            one.rows, first, [cache[one.candidates[place].embedded] @ vector for place in first]
        )
