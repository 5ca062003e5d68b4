"""Scores passages with a service: Cohere's rerank, through its SDK (https://docs.cohere.com/reference/rerank).

A server on this machine needs no key. It may speak Cohere's protocol (vLLM), its first version, as llama.cpp does
(POST /v1/rerank, https://github.com/ggml-org/llama.cpp/tree/master/tools/server), or that of
text-embeddings-inference (POST /rerank, https://huggingface.github.io/text-embeddings-inference/).
The key comes from the environment only; no error shows a key or a text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relrag_pipelines import model_service as service
from relrag_pipelines.model_service import EmbeddingError
from relrag_pipelines.privacy.loopback import is_loopback_url
from relrag_pipelines.settings import Settings
from relrag_query.retrieval.context import RerankError

MODEL = "rerank-v3.5"
_RETRIES = 1
_NO_SUCH_ROUTE = frozenset({404, 405})
"""statuses of a server that has another protocol"""


def rank(settings: Settings, question: str, texts: Sequence[str]) -> tuple[list[float], str]:
    """How relevant each text is to the question, 0 to 1, and which model says so. Raises RerankError."""
    if is_keyless(settings):
        return _rank_here(settings, question, texts)
    return _rank_by_cohere(settings, question, texts)


def is_keyless(settings: Settings) -> bool:
    """Whether the reranker is a server on this machine that is asked without a key."""
    return is_loopback_url(settings.rerank_url) and not any(map(service.has_key, _KEYS))


_KEYS = ("COHERE_API_KEY", "CO_API_KEY")


def _rank_by_cohere(settings: Settings, question: str, texts: Sequence[str]) -> tuple[list[float], str]:
    try:
        import cohere
        import httpx
        from cohere.core.api_error import ApiError
    except ImportError:
        raise RerankError("the package cohere is missing; install relrag[cohere]") from None
    name, host = model_of(settings)
    try:
        client = cohere.ClientV2(
            api_key=service.key("cohere", *_KEYS),
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


def _rank_here(settings: Settings, question: str, texts: Sequence[str]) -> tuple[list[float], str]:
    """The scores of a server on this machine, by the first protocol that it knows."""
    import httpx

    _, host = model_of(settings)
    try:
        # by no proxy and without following it elsewhere: the texts stay on this machine
        with httpx.Client(trust_env=False, follow_redirects=False, timeout=settings.rerank_seconds) as client:
            results = _first_known(client, settings, question, texts)
        return _between_0_and_1(_scores(_pairs(results), len(texts))), settings.rerank_model or host
    except httpx.HTTPStatusError as error:
        fault = f"answered {error.response.status_code}"
    except (httpx.HTTPError, ValueError, TypeError, AttributeError, LookupError) as error:
        reason = service.fault(error, httpx.HTTPStatusError, httpx.HTTPError)
        fault = reason.message if reason else "gave no answer that can be read"
    raise RerankError(f"{host} {fault}")


def _first_known(client: Any, settings: Settings, question: str, texts: Sequence[str]) -> Any:
    """The answer of a server, as JSON, by the first route that it has. Raises httpx.HTTPError."""
    base = settings.rerank_url.rstrip("/").removesuffix("/v1").removesuffix("/v2")
    for position, (route, body) in enumerate(_ROUTES.items(), 1):
        answer = client.post(f"{base}{route}", json=body(settings.rerank_model or MODEL, question, list(texts)))
        if answer.status_code not in _NO_SUCH_ROUTE or position == len(_ROUTES):
            answer.raise_for_status()
            return answer.json()
    return None


def _cohere_body(model: str, question: str, texts: list[str]) -> Mapping[str, Any]:
    return {"model": model, "query": question, "documents": texts, "top_n": len(texts)}


def _tei_body(model: str, question: str, texts: list[str]) -> Mapping[str, Any]:
    return {"query": question, "texts": texts, "raw_scores": False, "truncate": True}


_ROUTES: Mapping[str, Callable[[str, str, list[str]], Mapping[str, Any]]] = {
    "/v2/rerank": _cohere_body,
    "/v1/rerank": _cohere_body,
    "/rerank": _tei_body,
}
"""route -> body of its request; llama.cpp has the second and the third, text-embeddings-inference the third alone"""


def _pairs(answer: Any) -> list[tuple[int, float]]:
    """Position and score of each passage, by either protocol. Raises ValueError, TypeError or LookupError."""
    results = answer["results"] if isinstance(answer, dict) else answer
    return [(int(result["index"]), float(result.get("relevance_score", result.get("score")))) for result in results]


def _between_0_and_1(scores: list[float]) -> list[float]:
    """Scores as shares; llama.cpp gives logits, whose logistic function is the probability."""
    if all(0 <= score <= 1 for score in scores):
        return scores
    return [1 / (1 + math.exp(-max(-60.0, min(60.0, score)))) for score in scores]


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
