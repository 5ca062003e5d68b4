"""How near texts are to a question, token by token: each token of the question to the nearest of a text.

The last layer's states are compared, not their mean: a text that holds all that a question speaks of among much else
stays near (late interaction: Khattab and Zaharia 2020, https://doi.org/10.1145/3397271.3401075). What all tokens have
in common is taken away first. A token counts as much as it is rare in the vocabulary, so that names and specific nouns
decide.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import orjson

from relrag_pipelines.embedders.e5.weights import Floats

MEANS = Path(__file__).with_name("token_means.json")
"""made by `make tune`: the mean state of a token of questions, and of passages"""
_MARKS = {"questions": 4, "passages": 3}
"""pieces before a text: the mark of its begin, and those of `query: ` or `passage: `"""
COLUMNS = 3
"""what `likeness` tells of a text"""


@functools.cache
def means() -> dict[str, Floats]:
    """The mean states, of `questions` and of `passages`."""
    return {name: np.asarray(mean, np.float32) for name, mean in orjson.loads(MEANS.read_bytes()).items()}


def own(per_piece: Floats, of: str) -> Floats:
    """What is known of each piece, without the marks and the prefix; `of`: `questions` or `passages`."""
    values: Floats = per_piece[_MARKS[of] : -1]
    return values


def centre_states(states: Floats, of: str) -> Floats:
    """The states of a text's own tokens without what all have in common, of length 1."""
    states = own(states, of) - means()[of]
    centred: Floats = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), np.float32(1e-9))
    return centred


def likeness(question: Floats, rarity: Floats, text: Floats) -> tuple[float, float, float]:
    """The cosines of a question's tokens to the nearest of a text: weighed by rarity, their mean, the least.

    All three are 0 where one of the texts has no token.
    """
    if not len(question) or not len(text):
        return 0.0, 0.0, 0.0
    nearest = (question @ text.T).max(axis=1)
    return float(nearest @ rarity / rarity.sum()), float(nearest.mean()), float(nearest.min())
