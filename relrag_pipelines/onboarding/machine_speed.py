"""How fast this machine embeds, measured for a second or two: one is ten times as fast as another."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from relrag_pipelines import embedders
from relrag_pipelines.settings import Settings

_PASSAGES, _PASSAGE_CHARACTERS = 16, 480
_WARM_UP = 2


def embedding_rate(settings: Settings, texts: Sequence[str]) -> float | None:
    """Bytes of text a second that the configured model embeds here; None without one, or where texts leave the machine.

    A few passages of these texts are embedded. None as well where the model cannot be loaded: a sync says why.
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
    return sum(len(one.encode("utf-8", "replace")) for one in passages) / seconds


def _passages(texts: Sequence[str]) -> list[str]:
    """Pieces of the texts as long as passages are; short texts are one passage together, as messages of a chat are."""
    joined = "\n".join(texts)
    step = max(_PASSAGE_CHARACTERS, len(joined) // _PASSAGES)
    cut = (joined[start : start + _PASSAGE_CHARACTERS] for start in range(0, len(joined), step))
    return [one for one in cut if one.strip()][:_PASSAGES]


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
