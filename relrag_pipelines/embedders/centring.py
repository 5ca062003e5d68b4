"""Vectors without what all texts of their language have in common.

A multilingual model puts texts of one language near each other whatever they say, so that a question finds what is
written in its own language first. Most of a language's mean vector is taken from its passages, and most of the mean of
its questions from a question, before they are compared. The language of a vector is that of the nearest mean.

The mean of a language is taken from passages of the archive itself; the model's own mean, over texts written for that,
counts as much as `_PRIOR` of them, so that an archive of ten records has one too.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import orjson

from relrag_pipelines.stores.vectors.protocol import Vectors
from relrag_pipelines.text import language

Means = Mapping[str, Sequence[float]]
"""ISO 639-1 code of a language -> mean vector of its texts"""

SAMPLE = 4_000
"""passages that the means are taken from, at most"""
_PRIOR = 60
_FEWEST = 60
"""passages that make a language one of the archive's; of fewer the language is mostly mistaken"""
_SHARE = 0.9
"""of a mean that is taken away"""


@functools.cache
def model_means(path: Path, kind: str) -> Means:
    """A model's own means, `kind` its "questions" or "passages"."""
    means: dict[str, Means] = orjson.loads(path.read_bytes())
    return means[kind]


def passage_means(texts: Sequence[str], vectors: Vectors, own: Means) -> Means:
    """The means of an archive, from a sample of its passages and a model's own means."""
    languages = np.array([language.identify(text) for text in texts])
    means = dict(own)
    overall = np.mean(list(own.values()), axis=0)
    for name, count in sorted(Counter(languages.tolist()).items()):
        if name in own or (name and count >= _FEWEST):
            total = vectors[languages == name].sum(axis=0) + _PRIOR * np.asarray(own.get(name, overall))
            means[name] = [round(float(value), 5) for value in total / (count + _PRIOR)]
    return means


def centre(vectors: Vectors, means: Means) -> Vectors:
    """The vectors, a row each, without the share of their language's mean, of length 1."""
    rows = np.asarray(list(means.values()), np.float32)
    nearest = rows[np.argmax(vectors @ (rows / np.linalg.norm(rows, axis=1, keepdims=True)).T, axis=1)]
    apart = vectors - np.float32(_SHARE) * nearest
    centred: Vectors = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), np.float32(1e-9))
    return centred


def comparable(vectors: Vectors, means: Means) -> Vectors:
    """The vectors, a row each, as they are compared with a question: centred where there are means, of length 1."""
    if means:
        return centre(vectors, means)
    normalised: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-9))
    return normalised
