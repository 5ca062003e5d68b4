"""What `weights.json` holds, and how well it does on archives that it was not made from.

Everything that is told of how well it does is of archives that neither the regressions nor the thresholds have seen:
each archive is judged by a model that was made, thresholds and all, from the others. Hard questions and plain ones each
count as half of what is asked, whatever their numbers are; about a third of either has no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relrag_pipelines.stores.vectors.protocol import Vectors
from relrag_query.answering import features, ranker
from relrag_query.answering.ranker import Regression
from tuning.dataset import Asked, Nearness
from tuning.regressions import conditional, regression

_SHOWN = 0.995
"""share of the answerable questions for which something is shown; of those of archives by strangers .98 are

How likely an answer is hardly tells whether there is one: at a threshold that loses 1.5 % of the questions with an
answer, 2 % of those without get none. One that catches 8 % of them refuses 5 % of the hard questions that have one.
"""
_RIGHT, _REFUSED = 0.95, 0.9
"""shares, at least: of sure answers to questions that have one those that are right; of the others those not sure

Archives by strangers are answered worse than those that the weights are learned from: with .92 here, .90 there.
"""
_FEWEST = 20
"""sure answers of which a share is taken"""


@dataclass
class _Ranking:
    """The two regressions that choose what is quoted."""

    first: Regression
    second: Regression
    nearness: Nearness | None
    """None where nothing is compared by meaning"""

    def compared(self, one: Asked) -> tuple[list[int], Vectors]:
        """Places of the candidates that are compared, and their figures."""
        places = ranker.compared_candidates(one.candidates, self.first.score(one.rows))
        return places, (self.nearness.rows(one, places) if self.nearness else one.rows)[places]


@dataclass
class _Quoted:
    """What would be quoted for a question."""

    row: Vectors
    """what the third regression is given"""
    right: bool
    """whether it answers"""
    order: list[bool]
    """whether each candidate that was compared answers, the best first"""


@dataclass
class _Model:
    ranking: _Ranking
    best: Regression
    sure: float
    unsure: float


@dataclass
class _Judged:
    """How a question did that the model has not seen."""

    one: Asked
    quoted: _Quoted
    likely: float
    sure: bool
    shown: bool


def model(asked: Sequence[Asked], *, by_meaning: bool) -> dict[str, Any]:
    """What `confidence.json` says of archives with dense vectors, or of those without, and how well it did."""
    held = [one for one in asked if one.candidates]
    nearness = Nearness() if by_meaning else None
    made = _learn(held, nearness)
    return {
        "first": _written(made.ranking.first, features.FEATURES),
        "second": _written(made.ranking.second, features.FEATURES),
        "confidence": _written(made.best, ranker.CONFIDENCE_FEATURES),
        "strong": round(made.sure, 4),
        "close": round(made.unsure, 4),
        "measured": _measured([one for name in _archives(held) for one in _judge(held, name, nearness)]),
    }


def _archives(asked: Sequence[Asked]) -> list[str]:
    return sorted({one.archive for one in asked})


def _apart(asked: Sequence[Asked], name: str) -> tuple[list[Asked], list[Asked]]:
    """The questions of all other archives, and those of this one."""
    return [one for one in asked if one.archive != name], [one for one in asked if one.archive == name]


def _rank(asked: Sequence[Asked], nearness: Nearness | None) -> _Ranking:
    """The regressions; by words alone the second is the first.

    Fitted to the best of each passage alone, without further features, it had the right one first for 33.5 % of the
    hard questions; the first for 34.5 %.
    """
    first = _best_of([(one.rows, np.asarray(one.right)) for one in asked])
    ranking = _Ranking(first, first, nearness)
    if nearness is None:
        return ranking
    compared = [(one, *ranking.compared(one)) for one in asked]
    ranking.second = _best_of([(rows, np.asarray(one.right)[places]) for one, places, rows in compared])
    return ranking


def _best_of(tables: Sequence[tuple[Vectors, Any]]) -> Regression:
    """Fitted to the questions that have a right candidate."""
    kept = [(rows, right) for rows, right in tables if right.any()]
    rows, right = (np.concatenate([one[part] for one in kept]) for part in (0, 1))
    return conditional(rows, right.astype(float), [len(one) for _, one in kept])


def _quote(ranking: _Ranking, one: Asked) -> _Quoted:
    positions, rows = ranking.compared(one)
    ranked = ranker.order([one.candidates[position] for position in positions], rows, ranking.second)
    right = {id(candidate): answers for candidate, answers in zip(one.candidates, one.right, strict=True)}
    order = [right[id(each.candidate)] for each in ranked]
    return _Quoted(ranker.confidence_features(ranked, ranking.second, one.missing), order[0], order)


def _learn(asked: Sequence[Asked], nearness: Nearness | None) -> _Model:
    """The regressions, and thresholds by what each archive's questions get from the others."""
    names = np.array([one.archive for one in asked])
    quoted: dict[int, _Quoted] = {}
    for name in _archives(asked):
        others, own = _apart(asked, name)
        ranking = _rank(others, nearness)
        quoted |= {id(one): _quote(ranking, one) for one in own}
    rows = np.array([quoted[id(one)].row for one in asked])
    right = np.array([quoted[id(one)].right for one in asked])
    counts, likely = _counts(asked), np.zeros(len(asked))
    for name in _archives(asked):
        apart = regression(rows[names != name], right[names != name].astype(float), counts[names != name])
        likely[names == name] = apart.probability(rows[names == name])
    answerable = np.array([one.question.answerable for one in asked])
    unsure = float(np.quantile(likely[answerable], 1 - _SHOWN))
    best = regression(rows, right.astype(float), counts)
    return _Model(_rank(asked, nearness), best, _least(likely, right, answerable, counts), unsure)


def _counts(asked: Sequence[Asked]) -> Vectors:
    """As how many each question counts, so that the plain ones count as much as the hard ones."""
    plain = np.array([one.question.kind == "plain" for one in asked])
    return np.where(plain, (~plain).sum() / max(1, plain.sum()), 1.0)


def _judge(asked: Sequence[Asked], name: str, nearness: Nearness | None) -> list[_Judged]:
    """The questions of an archive, judged by what is learned from the others."""
    others, own = _apart(asked, name)
    made = _learn(others, nearness)
    judged = []
    for one in own:
        quoted = _quote(made.ranking, one)
        likely = float(made.best.probability(quoted.row[None])[0])
        judged.append(_Judged(one, quoted, likely, likely >= made.sure, likely >= made.unsure))
    return judged


def _least(likely: Any, right: Any, answerable: Any, counts: Any) -> float:
    """The least probability from which both shares are what they must be; 1 where they never are."""
    order = np.argsort(-likely)
    right, has, counts = right[order], answerable[order], counts[order]
    told = np.cumsum(counts * right * has) / np.maximum(np.cumsum(counts * has), 1.0)
    refused = 1 - np.cumsum(counts * ~has) / (counts * ~has).sum()
    enough = np.flatnonzero((told >= _RIGHT) & (refused >= _REFUSED))
    return float(likely[order][enough.max()]) if len(enough) and enough.max() + 1 >= _FEWEST else 1.0


def _measured(judged: Sequence[_Judged]) -> dict[str, Any]:
    """How well they did: of questions that are hard, of plain ones, and how many sure answers are right of all."""
    measured: dict[str, Any] = {}
    for kind, is_plain in (("hard", False), ("plain", True)):
        some = [one for one in judged if (one.one.question.kind == "plain") == is_plain]
        can = [one for one in some if one.one.question.answerable]
        not_ = [one for one in some if not one.one.question.answerable]
        shares = {
            **{f"right_in_{depth}": _share([any(one.quoted.order[:depth]) for one in can]) for depth in (1, 3, 8)},
            "sure": _share([one.sure for one in can]),
            "sure_and_right": _share([one.quoted.right for one in can if one.sure]),
            "none": _share([not one.shown for one in can]),
            "unanswerable_not_sure": _share([not one.sure for one in not_]),
        }
        measured[kind] = {"questions": len(some), "answerable": len(can), **shares}
    counts = _counts([one.one for one in judged]) * [one.sure for one in judged]
    right = np.array([one.quoted.right for one in judged])
    measured["right_of_sure"] = round(float((counts * right).sum() / max(1.0, counts.sum())), 3)
    ordered = sorted(judged, key=lambda one: one.likely)
    bins = np.array_split(np.array([(one.likely, one.quoted.right) for one in ordered], float), 8)
    measured["calibration"] = [[round(float(value), 3) for value in some.mean(axis=0)] for some in bins if len(some)]
    return measured


def _share(held: Sequence[bool]) -> float:
    return round(float(np.mean(held)), 3) if held else 0.0


def _written(found: Regression, names: Sequence[str]) -> dict[str, Any]:
    pairs = zip(names, found.weights, strict=True)
    return {"weights": {name: round(float(weight), 5) for name, weight in pairs}, "bias": round(found.bias, 5)}
