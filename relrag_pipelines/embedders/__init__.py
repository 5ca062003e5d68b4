"""Dense vectors: the table of embedders, one module a backend.

A new embedder is a module with `model(settings)`, which describes it without loading it, and `load(settings)`, and one
row in EMBEDDERS and in the setting. SDKs and runtimes are imported when they are loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from relrag_pipelines.embedders import cohere, e5, fastembed, minilm, openai
from relrag_pipelines.embedders.protocol import Embedder, EmbeddingError, ModelInfo
from relrag_pipelines.settings import BUILT_IN, Settings
from relrag_pipelines.stores.dense_vectors import Vectors

__all__ = [
    "EMBEDDERS",
    "Embedder",
    "EmbeddingError",
    "ModelInfo",
    "Vectors",
    "describe",
    "load",
    "model",
    "query_settings",
]

NONE = "none"
"""search by words only"""


@dataclass(frozen=True)
class Backend:
    """One way to embed."""

    model: Callable[[Settings], ModelInfo]
    load: Callable[[Settings], Embedder]


EMBEDDERS = {
    "e5": Backend(e5.model, e5.load),
    "minilm": Backend(minilm.model, minilm.load),
    "fastembed": Backend(fastembed.model, fastembed.load),
    "openai": Backend(openai.model, openai.load),
    "cohere": Backend(cohere.model, cohere.load),
}


def model(settings: Settings) -> ModelInfo | None:
    """The configured embedder, not loaded; None where there is none."""
    return None if settings.embedder == NONE else EMBEDDERS[settings.embedder].model(settings)


def numbers_per_passage(settings: Settings) -> float:
    """Numbers that the vectors of a passage have, roughly; 0 where nothing is embedded."""
    found = model(settings)
    return found.numbers_per_passage if found else 0


def load(settings: Settings) -> Embedder:
    """The configured embedder, ready; EmbeddingError where it cannot be loaded."""
    return EMBEDDERS[settings.embedder].load(settings)


def query_settings(settings: Settings, name: str) -> Settings | None:
    """The settings whose model embeds questions to vectors that are stored under that name; None where none does.

    Until the vectors of a newly configured model are there, those of a built-in one still serve; those of a service
    do not, since it is no longer named.
    """
    for one in (settings, *(settings.model_copy(update={"embedder": name}) for name in BUILT_IN)):
        found = model(one)
        if found and found.name == name:
            return one
    return None


def describe(settings: Settings) -> str:
    """What the embedder does, in words for status and metadata."""
    found = model(settings)
    return "sparse only" if found is None else f"{found.name}, {found.dimension} dimensions"
