"""How likely each candidate answers the question, and how sure an answer is.

Figures of `evidence` are weighed three times. A conditional logit (McFadden 1974: the share of each among its rivals)
over all candidates chooses the best of each passage; of the likeliest of these the sentences are compared by meaning,
where the archive has vectors, and another one says which answers best. A logistic regression turns what is known of
that one and of the next into the probability that what would be quoted is right.
`confidence.json`, beside this file, holds their weights, the thresholds, and how well they did on questions of archives
that they were not made from; `make tune` writes it from the labelled questions in tuning/.
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
from relrag_query.retrieval.context import QueryContext
from relrag_query.understanding.intent import QueryIntent

_MARGIN = 3.0
"""by which what is quoted stands before the next at most, as a difference of scores"""
COMPARED = 8
"""candidates, of one passage each, whose sentences are compared by meaning: each takes some milliseconds. With twelve
the right one was first as often. Two of a passage, learned and judged by archive: of sixteen one among the first three
is right one time in a hundred more, yet of the hard questions 61.1 % were shown the answer and 47.6 % would quote it;
with one of a passage 61.4 % and 49.2 %; passages of 900 characters showed .2 % more, several of one record fewer"""
NEXT = 0.3
"""a second candidate whose share is at least this of the best one's is quoted with it"""
FILE = Path(__file__).with_name("confidence.json")


@dataclass(frozen=True)
class Regression:
    """A linear score over named figures."""

    weights: Vectors
    bias: float

    @classmethod
    def of(cls, found: dict[str, Any], names: Sequence[str]) -> Regression:
        """As it is written in `confidence.json`."""
        return cls(np.asarray([found["weights"].get(name, 0.0) for name in names], np.float32), found["bias"])

    def score(self, rows: Vectors) -> Vectors:
        """Of each row, without bounds."""
        found: Vectors = (rows @ self.weights + np.float32(self.bias)).astype(np.float32)
        return found

    def probability(self, rows: Vectors) -> Vectors:
        """Of each row, 0 to 1."""
        made: Vectors = (1 / (1 + np.exp(-self.score(rows)))).astype(np.float32)
        return made


@dataclass(frozen=True)
class Model:
    """What is in `confidence.json` for archives with dense vectors, or for those without."""

    first: Regression
    """over all candidates"""
    second: Regression
    """over the best of each passage"""
    best: Regression
    """over `best_row`: whether what is quoted is right"""
    sure: float
    """probability from which it is an answer"""
    unsure: float
    """probability from which it is shown"""


@functools.cache
def load(by_meaning: bool) -> Model:
    """The model for archives that are searched by meaning too, or for the others."""
    found = orjson.loads(FILE.read_bytes())["by_meaning" if by_meaning else "by_words"]
    names = list(evidence.FEATURES)
    first, second = (Regression.of(found[part], names) for part in ("first", "second"))
    return Model(first, second, Regression.of(found["best"], BEST), found["sure"], found["unsure"])


@dataclass
class Judgement:
    """What is known of the candidates."""

    shares: Vectors
    """how likely each answers, compared with the others; 0 where another of its passage is likelier"""
    right: float = 0.0
    """probability that the best is right, or the next if it comes near"""
    by_meaning: bool = False
    """whether sentences were compared by meaning: words alone tell too little to doubt what they find"""
    sure: bool = False
    """whether the best is likely enough to be an answer"""
    worth_showing: bool = False
    """whether the best is likely enough to be shown"""


_OF_BEST = (
    *("said_near", "said_around", "missing_near", "missing_around", "same_unmatched", "same_language", "asked"),
    *("all_said_asked", "sentence_similarity", "asks", "bulk", "promotes", "replaced", "corroborated"),
    *("token_similarity", "token_mean", "token_least", "token_asked", "token_same", "similar_same"),
)
"""figures of the best candidate"""
BEST = (
    *("best_score", "best_share", "margin", "quoted_share", "passage", "word_unknown", "words_unknown", "two_quoted"),
    *_OF_BEST,
)
"""names of what `best_row` holds"""


def judge(found: Sequence[Candidate], context: QueryContext, missing: int = 0) -> Judgement:
    """How likely each candidate answers, and whether the best does; `missing` words are held by no passage."""
    if not found:
        return Judgement(np.empty(0, np.float32))
    by_meaning = context.similarities is not None
    model = load(by_meaning)
    rows = evidence.rows(found, context)
    places = best_of_passages(found, model.first.score(rows))
    if context.similarities is not None:
        rows = evidence.compare(rows, places, context.similarities([found[one].embedded_text for one in places]))
    scores = model.second.score(rows[places])
    shares = np.zeros(len(found), np.float32)
    shares[places] = share(scores)
    passage = found[places[int(np.argmax(scores))]].unit.hit.score
    across = QueryIntent.CROSS_CHANNEL in context.intents
    known = best_row(scores, rows[places], passage, missing, across=across)
    right = float(model.best.probability(known[None])[0])
    return Judgement(shares, right, by_meaning, right >= model.sure, right >= model.unsure)


def best_of_passages(found: Sequence[Candidate], scores: Vectors) -> list[int]:
    """Places of the best candidate of each passage, the best first, as many as are compared."""
    chosen: dict[int, int] = {}
    for place in np.argsort(-scores, kind="stable").tolist():
        chosen.setdefault(id(found[place].unit.hit), place)
        if len(chosen) == COMPARED:
            break
    return list(chosen.values())


def share(scores: Vectors) -> Vectors:
    """The share of each among its rivals, together 1."""
    raised = np.exp(scores - scores.max())
    found: Vectors = (raised / raised.sum()).astype(np.float32)
    return found


def best_row(scores: Vectors, rows: Vectors, passage: float, missing: int, *, across: bool = False) -> Vectors:
    """What is known of the best of these candidates and of the next, in the order of BEST.

    `passage` is the score of its passage in the search, `missing` how many words of the question no passage holds. A
    question that goes `across` channels is answered by what each says: they share its answer, and all are quoted.
    """
    shares, order = share(scores), np.argsort(-scores, kind="stable")
    first = order[0]
    quoted = 2 if len(order) > 1 and shares[order[1]] >= NEXT * shares[first] else 1
    quoted = len(order) if across else quoted
    beyond = float(scores[order[quoted - 1]] - scores[order[quoted]]) if len(order) > quoted else _MARGIN
    known = [scores[first], math.log(shares[first]), min(beyond, _MARGIN), float(shares[order[:quoted]].sum())]
    known += [passage, missing > 0, min(3, missing), quoted > 1]
    own = [rows[first][evidence.FEATURES.index(name)] for name in _OF_BEST]
    return np.asarray([*known, *own], np.float32)
