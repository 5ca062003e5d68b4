"""Embeds questions with the model that embedded a generation."""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from relrag_pipelines import embedders
from relrag_pipelines.embedders import Embedder, EmbeddingError, Vectors, centring
from relrag_pipelines.embedders.centring import Means
from relrag_pipelines.embedders.e5 import E5
from relrag_pipelines.embedders.embed_chunks import supports_language
from relrag_pipelines.privacy.pseudonyms import to_entity_type
from relrag_pipelines.settings import Settings


class QuestionVectors:
    """Embeds redacted questions, and texts as they are compared with them; for any number of threads."""

    def __init__(self, settings: Settings, manifest: Mapping[str, Any]) -> None:
        """`manifest` is that of the generation: `embedder` names the model, `means` holds those of its languages."""
        self._settings = settings
        self._manifest = manifest
        self._once = threading.RLock()
        """lock for loading the model: `cached_property` alone would load it once per thread"""

    @property
    def means(self) -> dict[str, Any]:
        """Mean vector of each language, subtracted to centre vectors; empty for models that need none."""
        means: dict[str, Any] = self._manifest.get("means", {})
        return means

    def embed(self, redacted: str) -> tuple[Vectors | None, str]:
        """The vector of a question, or why it has none."""
        try:
            model = embedders.model(self._settings)
            if model is None:
                return None, ""
            with self._once:
                settings = self._query_settings
            if settings is None:
                why = "not made yet, or nothing is in its language"
                return None, f"the generation holds no vectors of {model.name}: {why}"
            model = embedders.model(settings) or model
            text = to_entity_type(redacted)
            if not supports_language(model, text, None):
                return None, f"{model.name} does not know the language of the question"
            vector = self._vector(text)
            if model.means and self.means:
                vector = centring.centre(vector[None], centring.model_means(model.means, "questions"))[0]
            return vector, ""
        except EmbeddingError as error:
            return None, str(error)

    @functools.lru_cache(maxsize=64)  # noqa: B019 - as many as a service asks again: a follow-up, its earlier question
    def _vector(self, text: str) -> Vectors:
        with self._once:
            embedder = self._embedder
        return embedder.query(text)

    def similarities(self, question: str, meaning: Vectors, texts: Sequence[str]) -> tuple[Vectors, Vectors]:
        """Similarity of texts to a redacted question, whose vector is `meaning`, and their own; only e5 supports this.

        One row per text: the cosine, then the values of `late_interaction.likeness`; and one vector, centred.
        """
        with self._once:
            model = cast(E5, self._embedder)
        return compare(model, self.means, question, meaning, texts)

    @functools.cached_property
    def _query_settings(self) -> Settings | None:
        """The settings by which questions are embedded for this generation."""
        return embedders.query_settings(self._settings, str(self._manifest.get("embedder", "")))

    @functools.cached_property
    def _embedder(self) -> Embedder:
        return embedders.load(self._query_settings or self._settings)


def compare(model: E5, means: Means, query: str, meaning: Vectors, texts: Sequence[str]) -> tuple[Vectors, Vectors]:
    """The values of `QuestionVectors.similarities` for passages with these means."""
    vectors, by_token = model.compare(to_entity_type(query), [to_entity_type(text) for text in texts])
    centred = centring.centre(vectors, means)
    return np.c_[centred @ meaning, by_token], centred
