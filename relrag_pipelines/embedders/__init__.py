"""Dense vectors: the table of embedders, one module a backend.

A new embedder is a module with `model(settings)`, which describes it without loading it, and `load(settings)`, and one
row in EMBEDDERS and in the setting. SDKs and runtimes are imported when they are loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from relrag_pipelines.embedders import cohere, e5, fastembed, minilm, openai
from relrag_pipelines.embedders.protocol import Embedder, ModelInfo
from relrag_pipelines.model_service import EmbeddingError
from relrag_pipelines.settings import BUILT_IN, Settings
from relrag_pipelines.stores.vectors.protocol import Vectors

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
    info = model(settings)
    return info.numbers_per_passage if info else 0


def load(settings: Settings) -> Embedder:
    """The configured embedder, ready; EmbeddingError where it cannot be loaded."""
    return EMBEDDERS[settings.embedder].load(settings)


def query_settings(settings: Settings, name: str) -> Settings | None:
    """The settings whose model embeds questions for vectors stored under a name; None if no model does.

    Until the vectors of a newly configured model exist, those of a built-in model are still used; those of a service
    are not, since it is no longer configured.
    """
    for candidate in (settings, *(settings.model_copy(update={"embedder": name}) for name in BUILT_IN)):
        info = model(candidate)
        if info and info.name == name:
            return candidate
    return None


def describe(settings: Settings) -> str:
    """What the embedder does, in words for status and metadata."""
    info = model(settings)
    return "sparse only" if info is None else f"{info.name}, {info.dimension} dimensions"
