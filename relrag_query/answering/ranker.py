"""Ranks the candidates of a question, and says how likely the best one answers it.

Two linear scores over the features of `features`: the first chooses the best candidate of each passage, the second,
which also knows what the sentences mean where the archive has dense vectors, orders these. Both are conditional logits
(McFadden 1974): the exponentials of the scores are the shares of the candidates. A logistic regression over
`confidence_features` gives the probability that the best candidate answers.
`weights.json`, beside this file, holds their weights, the thresholds, and how well they did on archives that they were
not learned from; `make tune` writes it from the labelled questions in tuning/.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from relrag_pipelines.stores.vectors.protocol import Vectors
from relrag_query.answering import features
from relrag_query.answering.candidates import Candidate
from relrag_query.retrieval.context import QueryContext

BY_SCORE, BY_SEARCH = 6, 2
"""passages whose sentences are compared by meaning: the best by the first score, and the first others by search"""
SENTENCES = 2
"""candidates of each passage that are compared; each takes some milliseconds"""
LISTED = 24
"""candidates that are compared for a list: those of any question, and the best others, several of a passage"""
MAX_MARGIN = 3.0
"""by which the best candidate leads the next at most, as a difference of scores"""
BULK_PENALTY = 1.0
"""by which the score of what was sent to many is lower: no labelled archive holds such mails, so it is not learned"""
MATTER_BONUS = 1.0
"""by which the score is higher of what an earlier question led to: the labelled questions follow none. Like the
penalty, it orders candidates and does not say how likely they answer"""
FILE = Path(__file__).with_name("weights.json")
_BEST_FEATURES = (
    *("near_coverage", "coverage_by_likeness", "holds_asked", "quoted_section", "asks"),
    *("token_similarity", "token_least", "sentence_similarity"),
)
CONFIDENCE_FEATURES = ("score", "share", "margin", "search_score", "absent_terms", *_BEST_FEATURES)
"""names of what `confidence_features` holds"""


@dataclass(frozen=True)
class Regression:
    """A linear score over named features."""

    weights: Vectors
    bias: float

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], names: Sequence[str]) -> Regression:
        """The regression as `weights.json` holds it; a name without a weight counts nothing."""
        return cls(np.asarray([stored["weights"].get(name, 0.0) for name in names], np.float32), stored["bias"])

    def score(self, rows: Vectors) -> Vectors:
        """The score of each row, without bounds."""
        scores: Vectors = (rows @ self.weights + np.float32(self.bias)).astype(np.float32)
        return scores

    def probability(self, rows: Vectors) -> Vectors:
        """The probability of each row, 0 to 1."""
        probabilities: Vectors = (1 / (1 + np.exp(-self.score(rows)))).astype(np.float32)
        return probabilities


@dataclass(frozen=True)
class Model:
    """The weights for archives with dense vectors, or for those without."""

    first: Regression
    """over all candidates"""
    second: Regression
    """over the best candidate of each passage"""
    confidence: Regression
    """over `confidence_features`"""
    strong: float
    """probability from which the best candidate is a strong match"""
    close: float
    """probability below which nothing comes close"""


@dataclass(frozen=True, eq=False)
class RankedCandidate:
    """The best candidate of a passage."""

    candidate: Candidate
    score: float
    share: float
    """of all that were ranked, together 1"""
    row: Vectors
    """its features"""
    vector: Vectors | None = None
    """what it means, centred, of length 1; None by words alone"""

    @property
    def coverage(self) -> float:
        """The share of the question that it holds, with its sender and subject or with what stands around it."""
        return max(float(self.row[features.column(name)]) for name in ("described_coverage", "near_coverage"))


@dataclass(frozen=True)
class Ranking:
    """The candidates that were compared, best first."""

    ranked: Sequence[RankedCandidate]
    """the best of each passage; for a list, all"""
    by_passage: Sequence[RankedCandidate] = ()
    """the best of each passage"""
    probability: float = 0.0
    """that the first one answers"""
    is_strong: bool = False
    is_close: bool = False


@functools.cache
def load(by_meaning: bool) -> Model:
    """The model for archives that are searched by meaning too, or for the others."""
    stored = orjson.loads(FILE.read_bytes())["by_meaning" if by_meaning else "by_words"]
    first, second = (Regression.from_json(stored[part], features.FEATURES) for part in ("first", "second"))
    confidence = Regression.from_json(stored["confidence"], CONFIDENCE_FEATURES)
    return Model(first, second, confidence, stored["strong"], stored["close"])


def rank(
    candidates: Sequence[Candidate], context: QueryContext, absent_terms: int = 0, *, each: bool = False
) -> Ranking:
    """The candidates, the best of each passage; with `each`, all of them, for a list.

    `absent_terms` is how many words of the question no passage holds.
    """
    if not candidates:
        return Ranking([])
    model = load(context.similarities is not None)
    rows = features.feature_rows(candidates, context)
    scores = model.first.score(rows)
    best = compared_candidates(candidates, scores, each=each)
    compared, vectors = [candidates[position] for position in best], None
    if context.similarities is not None:
        similarities, vectors = context.similarities([candidate.embedded_text for candidate in compared])
        rows = features.with_meaning(rows, best, similarities)
    by_passage = order(compared, rows[best], model.second, vectors)
    ranked = order(compared, rows[best], model.second, vectors, each=True) if each else by_passage
    confident = confidence_features(by_passage, model.second, absent_terms)
    probability = float(model.confidence.probability(confident[None])[0])
    return Ranking(ranked, by_passage, probability, probability >= model.strong, probability >= model.close)


def compared_candidates(candidates: Sequence[Candidate], scores: Vectors, *, each: bool = False) -> list[int]:
    """Positions of those that are compared by meaning: the best of the first passages; with `each`, others too."""
    best_first = np.argsort(-scores, kind="stable").tolist()
    by_passage: dict[int, list[int]] = {}
    for position in best_first:
        by_passage.setdefault(id(candidates[position].unit.hit), []).append(position)
    passages = list(by_passage.values())
    others = sorted(passages[BY_SCORE:], key=lambda positions: candidates[positions[0]].rank)
    chosen = [*passages[:BY_SCORE], *others[:BY_SEARCH]]
    compared = [position for positions in chosen for position in positions[:SENTENCES]]
    return list(dict.fromkeys([*compared, *best_first]))[:LISTED] if each else compared


def order(
    parts: Sequence[Candidate], rows: Vectors, second: Regression, vectors: Vectors | None = None, *, each: bool = False
) -> list[RankedCandidate]:
    """The best candidate of each passage by the second score, best first; with `each`, all candidates."""
    hits = [candidate.unit.hit for candidate in parts]
    bonuses = [MATTER_BONUS * hit.of_matter - BULK_PENALTY * hit.is_bulk for hit in hits]
    scores = second.score(rows) + np.asarray(bonuses, np.float32)
    best: dict[int, int] = {}
    for position in np.argsort(-scores, kind="stable").tolist():
        best.setdefault(position if each else id(parts[position].unit.hit), position)
    positions = list(best.values())
    shares = softmax(scores[positions])
    return [
        RankedCandidate(parts[at], float(scores[at]), float(share), rows[at], None if vectors is None else vectors[at])
        for at, share in zip(positions, shares, strict=True)
    ]


def softmax(scores: Vectors) -> Vectors:
    """The share of each among all, together 1."""
    raised = np.exp(scores - scores.max())
    shares: Vectors = (raised / raised.sum()).astype(np.float32)
    return shares


def confidence_features(by_passage: Sequence[RankedCandidate], second: Regression, absent_terms: int) -> Vectors:
    """What tells whether the first candidate answers, in the order of CONFIDENCE_FEATURES.

    Scores are those of the regression alone: what bonuses lift is no likelier to answer.
    """
    first, scores = by_passage[0], second.score(np.stack([option.row for option in by_passage]))
    margin = min(MAX_MARGIN, float(scores[0] - scores[1:].max())) if len(scores) > 1 else MAX_MARGIN
    general = [scores[0], softmax(scores)[0], margin, first.candidate.unit.hit.score, min(3, absent_terms)]
    return np.asarray([*general, *(first.row[features.column(name)] for name in _BEST_FEATURES)], np.float32)
