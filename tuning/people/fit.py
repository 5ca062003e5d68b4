"""Fits what each figure of a name near a word for a relative counts: `python -m tuning.people.fit`.

A logistic regression over the names near such words in the archives whose questions may be looked at: of each question
that nothing stated answers, whether a name is one that the answer has to have. Each weight is drawn to 0 (a prior
of the width `reach`), since the questions are few. Prints the weights for `passage_candidates._WEIGHTS`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import numpy.typing as npt

from relrag_query.people import passage_candidates
from relrag_query.people.kin_words import KinWord
from relrag_query.people.passage_candidates import NameNear
from relrag_query.people.people import People
from relrag_query.retrieval.context import QueryContext
from tuning.people.measure import NOBODY, Question, opened, questions

Rows = npt.NDArray[np.float64]
_STEPS = 50


def rows(asked: list[Question], work: Path) -> Iterator[tuple[dict[str, float], float]]:
    """The figures of each name near a word that a question is about, and 1 where it is right, else 0."""
    seen: list[NameNear] = []
    every = passage_candidates.every_name

    def listen(of: int, word: KinWord, people: People, context: QueryContext) -> Iterator[NameNear]:
        for one in every(of, word, people, context):
            called = people.by_id([one.person_id])[one.person_id].name if one.person_id is not None else ""
            seen.append(one._replace(name=f"{one.name} {called}"))
            yield one

    for archive in sorted({one.archive for one in asked}):
        with opened(archive, work) as found, mock.patch.object(passage_candidates, "every_name", listen):
            for one in (one for one in asked if one.archive == archive):
                seen.clear()
                found.ask(one.question)
                right = [name.casefold() for some in one.right if some != NOBODY for name in some.split("|")]
                for near in seen:
                    yield near.figures, float(any(name in near.name.casefold() for name in right))


def fit(table: Rows, right: Rows, reach: float) -> Rows:
    """Weights that tell right rows from others, each within about `reach` of 0: Newton's method."""
    weights = np.zeros(table.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (chance - right) + weights / reach**2
        curve = (table.T * (chance * (1 - chance))) @ table + np.eye(len(weights)) / reach**2
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def main() -> None:
    """Prints the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reach", type=float, default=1.0)
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    asked = [one for one in questions() if one.half == "looked_at" and one.kind in ("kin_owner", "kin_third", "role")]
    with tempfile.TemporaryDirectory() as folder:
        made = [*rows(asked, given.work or Path(folder))]
    names = [*passage_candidates._WEIGHTS]
    table = np.asarray([[figures.get(name, 0.0) for name in names] for figures, _ in made])
    right = np.asarray([one for _, one in made])
    weights = fit(table, right, given.reach)
    print(f"{len(made)} names, {int(right.sum())} right")
    for name, weight in zip(names, weights, strict=True):
        print(f'    "{name}": {weight:.2f},')
    chance = 1 / (1 + np.exp(-table @ weights))
    for least in (0.1, 0.15, 0.2, 0.25, 0.3, 0.4):
        print(f"from {least}: {int((chance >= least).sum())} names, {int(right[chance >= least].sum())} right")


if __name__ == "__main__":
    main()
