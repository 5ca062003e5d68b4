"""Measures in a second or two how fast this machine embeds: machines differ by a factor of ten."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from relrag_pipelines import embedders
from relrag_pipelines.settings import Settings

_PASSAGES, _PASSAGE_CHARACTERS = 16, 480
_WARM_UP = 2


def embedding_rate(settings: Settings, texts: Sequence[str]) -> float | None:
    """Bytes of text per second that the configured model embeds here.

    It embeds a few passages of `texts`. None without a model, with a remote one, or if the model cannot be loaded (a
    sync reports why).
    """
    model = embedders.model(settings)
    passages = _passages(texts)
    if model is None or model.host or not passages:
        return None
    try:
        embedder = embedders.load(settings)
        embedder.documents(passages[:_WARM_UP])  # the first call prepares the model
        seconds = _seconds(lambda: embedder.documents(passages))
    except embedders.EmbeddingError:
        return None
    return sum(len(passage.encode("utf-8", "replace")) for passage in passages) / seconds


def _passages(texts: Sequence[str]) -> list[str]:
    """Pieces of the joined texts, as long as passages."""
    joined = "\n".join(texts)
    step = max(_PASSAGE_CHARACTERS, len(joined) // _PASSAGES)
    pieces = (joined[start : start + _PASSAGE_CHARACTERS] for start in range(0, len(joined), step))
    return [piece for piece in pieces if piece.strip()][:_PASSAGES]


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
