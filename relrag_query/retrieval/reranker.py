"""Scores passages with a service: Cohere's rerank, through its SDK (https://docs.cohere.com/reference/rerank).

The key comes from the environment only; no error shows a key or a text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from relrag_pipelines import model_service as service
from relrag_pipelines.errors import RelragError
from relrag_pipelines.model_service import EmbeddingError
from relrag_pipelines.settings import Settings

MODEL = "rerank-v3.5"
_RETRIES = 1


class RerankError(RelragError):
    """The service did not score the passages; the message says why and contains neither text nor key."""


def rank(settings: Settings, question: str, texts: Sequence[str]) -> tuple[list[float], str]:
    """How relevant each text is to the question, 0 to 1, and which model says so. Raises RerankError."""
    try:
        import cohere
        import httpx
        from cohere.core.api_error import ApiError
    except ImportError:
        raise RerankError("the package cohere is missing; install relrag[cohere]") from None
    name, host = model_of(settings)
    try:
        client = cohere.ClientV2(
            api_key=service.key("cohere", "COHERE_API_KEY", "CO_API_KEY"),
            # always set, so that no environment variable can send texts elsewhere
            base_url=settings.rerank_url or "https://api.cohere.com",
            timeout=settings.rerank_seconds,
            max_retries=_RETRIES,
            log_warning_experimental_features=False,
        )
        answer = client.rerank(model=name, query=question, documents=list(texts))
        return _scores([(result.index, result.relevance_score) for result in answer.results], len(texts)), name
    except EmbeddingError as error:  # no key
        message = str(error)
    except Exception as error:
        fault = service.fault(error, ApiError, httpx.HTTPError)
        if fault is None:
            raise
        message = f"{host} {fault.message}"
    raise RerankError(message)  # outside the except block: the first error holds the texts


def model_of(settings: Settings) -> tuple[str, str]:
    """The model and the host that texts are sent to. Raises SettingsError if the address is not a plain URL."""
    host = service.host_of(settings.rerank_url, "rerank_url") if settings.rerank_url else "api.cohere.com"
    return settings.rerank_model or MODEL, host


def _scores(results: Sequence[tuple[int, float]], count: int) -> list[float]:
    """The scores in the order of the texts. Raises ValueError if a score is missing or not a finite number."""
    scores = dict(results)
    if sorted(scores) != list(range(count)) or not all(map(math.isfinite, scores.values())):
        raise ValueError("a passage has no score")
    return [scores[position] for position in range(count)]
