"""Texts compared with a question token by token."""

from __future__ import annotations

import numpy as np
import pytest

from relrag_pipelines.embedders import e5
from relrag_pipelines.embedders.e5 import late_interaction
from relrag_pipelines.embedders.e5.late_interaction import likeness


@pytest.fixture(scope="module")
def model() -> e5.E5:
    return e5.E5(e5.weights())


def vectors(*rows: tuple[float, float]) -> np.ndarray:
    return np.array(rows, np.float32)


def test_each_token_of_the_question_counts_by_its_nearest_and_its_rarity() -> None:
    question, rarity = vectors((1, 0), (0, 1)), np.array([3, 1], np.float32)
    assert likeness(question, rarity, vectors((1, 0))) == (0.75, 0.5, 0.0)
    assert likeness(question, rarity, vectors((0.6, 0.8), (1, 0))) == pytest.approx((0.95, 0.9, 0.8))
    assert likeness(question, rarity, np.empty((0, 2), np.float32)) == (0.0, 0.0, 0.0)


def test_marks_and_prefix_are_left_out(model: e5.E5) -> None:
    ids, _ = model.states("query: pračka")
    assert late_interaction.own(np.array(ids), "questions").tolist() == ids[4:-1]
    passage, _ = model.states("passage: pračka")
    assert late_interaction.own(np.array(passage), "passages").tolist() == ids[4:-1]


def test_the_vectors_are_those_that_passages_are_stored_with(model: e5.E5) -> None:
    texts = ["Oprava pračky stála 1 200 Kč.", "The train to Vienna leaves at nine."]
    made, near = model.compare("Kolik stála oprava pračky?", texts)
    assert np.array_equal(made, model.documents(texts)[0])
    assert near.shape == (2, 3)


def test_a_text_that_speaks_of_it_is_nearer_in_any_language(model: e5.E5) -> None:
    texts = [
        "Milý Petře, díky za víkend. Oprava pračky stála 1 200 Kč. Děti se mají dobře, Anička ztratila čepici.",
        "Oprava auta bude hotová příští týden.",
        "The washing machine repair came to 1,200 crowns.",
    ]
    near = model.compare("Kolik stála oprava pračky?", texts)[1][:, 0]
    assert near[0] > near[1]
    assert near[2] > near[1]
