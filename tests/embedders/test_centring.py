"""Vectors without what their language has in common."""

from __future__ import annotations

import numpy as np

from relrag_pipelines.embedders import centring

MEANS = {"en": [1.0, 0.0, 0.0], "cs": [0.0, 1.0, 0.0]}


def test_most_of_the_nearest_mean_is_taken_away_and_the_length_is_1() -> None:
    made = centring.centre(np.array([[0.9, 0.0, 0.3], [0.0, 1.0, -0.1]], np.float32), MEANS)
    np.testing.assert_allclose(made, [[0, 0, 1], [0, 0.7071, -0.7071]], atol=1e-3)


def test_the_mean_of_an_archive_is_that_of_its_passages_and_sixty_of_the_models() -> None:
    vectors = np.tile(np.array([[0.0, 0.0, 1.0]], np.float32), (60, 1))
    made = centring.passage_means(["Where is the key of the cellar?"] * 60, vectors, MEANS)
    assert made["en"] == [0.5, 0.0, 0.5]
    assert made["cs"] == MEANS["cs"]


def test_a_language_that_the_model_brings_no_mean_of_needs_sixty_passages() -> None:
    german = "Der Schlüssel liegt im Keller neben dem alten Fahrrad."
    few, enough = (
        centring.passage_means([german] * count, np.tile(np.array([[0, 0, 1]], np.float32), (count, 1)), MEANS)
        for count in (59, 60)
    )
    assert few.keys() == {"en", "cs"}
    assert enough["de"] == [0.25, 0.25, 0.5]
