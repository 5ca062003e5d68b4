"""How likely each candidate answers the question, and whether the best of them is worth showing.

A logistic regression over the figures of `evidence`, once over all candidates and, where questions are compared by
meaning, once more over the most likely with the similarity of their sentences. A second one turns what is known of the
best candidate and of the next into the probability that it is right. `confidence.json`, beside this file, holds their
weights, a threshold, and how well they did on questions of archives that they were not made from; `make tune` writes
it from the labelled questions in tuning/.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_query.answering import evidence
from relrag_query.answering.candidates import Candidate
from relrag_query.retrieval.search import QueryContext

_MARGIN = 3.0
"""by which the best candidate stands before the next at most, as a difference of logits"""
COMPARED = 12
"""candidates whose sentences are compared by meaning: each takes some milliseconds"""
FILE = Path(__file__).with_name("confidence.json")


@dataclass(frozen=True)
class Regression:
    """A logistic regression over named figures."""

    weights: Vectors
    bias: float

    @classmethod
    def of(cls, found: dict[str, Any], names: Sequence[str]) -> Regression:
        """As it is written in `confidence.json`."""
        return cls(np.asarray([found["weights"].get(name, 0.0) for name in names], np.float32), found["bias"])

    def probability(self, rows: Vectors) -> Vectors:
        """Of each row, 0 to 1."""
        made: Vectors = 1 / (1 + np.exp(-(rows @ self.weights + np.float32(self.bias))))
        return made


@dataclass(frozen=True)
class Model:
    """What is in `confidence.json` for archives with dense vectors, or for those without."""

    first: Regression
    """over all candidates"""
    second: Regression
    """over those that were compared by meaning"""
    best: Regression
    """over `best_row`: whether the best candidate is right"""
    unsure: float
    """probability from which the best candidate is shown"""


@functools.cache
def load(by_meaning: bool) -> Model:
    """The model for archives that are searched by meaning too, or for the others."""
    found = orjson.loads(FILE.read_bytes())["by_meaning" if by_meaning else "by_words"]
    names = list(evidence.FEATURES)
    first, second = (Regression.of(found[part], names) for part in ("first", "second"))
    return Model(first, second, Regression.of(found["best"], BEST), found["unsure"])


@dataclass
class Judgement:
    """What is known of the candidates."""

    probabilities: Vectors
    """that each answers"""
    right: float = 0.0
    """probability that the best is right"""
    by_meaning: bool = False
    """whether sentences were compared by meaning: words alone tell too little to doubt what they find"""
    worth_showing: bool = False
    """whether the best is likely enough to be shown"""


BEST = ("logit", "margin", "second", "said", "missing_near", "asked", "similarity")
"""names of what `best_row` holds"""


def judge(found: Sequence[Candidate], context: QueryContext) -> Judgement:
    """How likely each candidate answers, and whether the best does."""
    if not found:
        return Judgement(np.empty(0, np.float32))
    by_meaning = context.similarities is not None
    model = load(by_meaning)
    rows = evidence.rows(found, context)
    likely = model.first.probability(rows)
    if context.similarities is not None:
        first = np.argsort(-likely, kind="stable")[:COMPARED].tolist()
        rows = evidence.compare(rows, first, context.similarities([found[one].embedded for one in first]))
        again, seen = model.second.probability(rows), np.isin(np.arange(len(found)), first)
        likely = np.where(seen, again, np.minimum(likely, again[seen].min()))
    right = float(model.best.probability(best_row(likely, rows)[None])[0])
    return Judgement(likely, right, by_meaning, right >= model.unsure)


def best_row(likely: Vectors, rows: Vectors) -> Vectors:
    """What is known of the best candidate and of the next, in the order of BEST."""
    names = list(evidence.FEATURES)
    first, *others = np.argsort(-likely, kind="stable")[:2]
    best, second = (_logit(float(likely[place])) for place in (first, *(others or [first])))
    margin = min(best - second, _MARGIN) if others else _MARGIN
    own = [rows[first][names.index(name)] for name in ("said_near", "missing_near", "asked", "sentence_similarity")]
    return np.asarray([best, margin, second if others else best - _MARGIN, *own], np.float32)


def _logit(likely: float) -> float:
    kept = min(max(likely, 1e-6), 1 - 1e-6)
    return math.log(kept / (1 - kept))
