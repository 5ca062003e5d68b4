"""Cohere's multilingual embeddings, through Cohere's SDK: texts and questions are embedded as what they are.

The service cuts long texts itself, to the token (`truncate`). Prices and limits:
https://docs.cohere.com/docs/cohere-embed and https://cohere.com/pricing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from relrag_pipelines import model_service as service
from relrag_pipelines.embedders.protocol import ModelInfo, check_vectors
from relrag_pipelines.model_service import EmbeddingError
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores.vectors.protocol import Vectors

if TYPE_CHECKING:
    import cohere

MODEL = "embed-multilingual-v3.0"
KEY, OTHER_KEY = "COHERE_API_KEY", "CO_API_KEY"

_MODELS = {"embed-multilingual-v3.0": (1024, 512, 0.10), "embed-v4.0": (1536, 128_000, 0.12)}
"""dimension, token limit, and USD a million tokens"""
_URL = "https://api.cohere.com"
_MOST_TEXTS = 96
"""that the service takes at once"""


def model(settings: Settings) -> ModelInfo:
    """embed-multilingual-v3.0 unless another is set; all languages."""
    name = settings.embedding_model or MODEL
    usual, most_tokens, price = _MODELS.get(name, (None, 512, None))
    dimension, host = service.dimension(settings, usual), service.host(settings, "api.cohere.com")
    return ModelInfo(
        name=":".join([name, str(dimension), *([host] if settings.embedding_url else [])]),
        dimension=dimension,
        max_tokens=most_tokens,
        host=host,
        usd_per_million=None if settings.embedding_url else price,
        batch_texts=_MOST_TEXTS,
    )


def load(settings: Settings) -> Cohere:
    """A client of the service; EmbeddingError where the SDK or the key is missing."""
    try:
        import cohere
    except ImportError:
        raise EmbeddingError('embedder "cohere" needs the package cohere; install relrag[cohere]') from None
    client = cohere.ClientV2(
        api_key=service.key("cohere", KEY, OTHER_KEY),
        # given always, so that no other variable of the environment sends texts elsewhere
        base_url=settings.embedding_url or _URL,
        timeout=service.TIMEOUT_SECONDS,
        max_retries=service.RETRIES,
        log_warning_experimental_features=False,
    )
    return Cohere(client, settings)


class Cohere:
    """A client that keeps its connection."""

    def __init__(self, client: cohere.ClientV2, settings: Settings) -> None:
        self._client = client
        self._model = model(settings)
        self._name = settings.embedding_model or MODEL

    def documents(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """A vector for each text, and the tokens that the service counted."""
        return self._embed(list(texts), "search_document")

    def query(self, text: str) -> Vectors:
        """The vector of a question."""
        vector: Vectors = self._embed([text], "search_query")[0][0]
        return vector

    def _embed(self, texts: list[str], kind: Literal["search_document", "search_query"]) -> tuple[Vectors, int]:
        import httpx
        from cohere.core.api_error import ApiError

        # the SDK gives an answer that is no JSON as an ApiError with the status of success
        unreadable = (httpx.RemoteProtocolError, httpx.ReadError, httpx.TimeoutException, ValueError, TypeError)
        status: int | None = None
        try:
            return service.with_retries(lambda: self._ask(texts, kind), unreadable, self._model.host)
        except ApiError as error:
            status = error.status_code
        except httpx.TransportError:
            status = None
        raise service.describe_refusal(self._model.host, status, KEY)

    def _ask(self, texts: list[str], kind: Literal["search_document", "search_query"]) -> tuple[Vectors, int]:
        from cohere.core.api_error import ApiError

        try:
            answer = self._client.embed(
                model=self._name, texts=texts, input_type=kind, embedding_types=["float"], truncate="END"
            )
        except ApiError as error:
            if error.status_code and error.status_code < 300:
                fault = "not JSON"
            else:
                raise
        else:
            billed = answer.meta.billed_units if answer.meta else None
            used = int((billed.input_tokens if billed else 0) or 0)
            return check_vectors(answer.embeddings.float_, len(texts), self._model.dimension, self._model.host), used
        raise ValueError(fault)  # outside the except block: the first error holds the answer
