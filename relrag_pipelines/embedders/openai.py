"""OpenAI's embeddings, or those of any server that speaks its protocol (`embedding_url`), through OpenAI's SDK.

Prices and limits: https://platform.openai.com/docs/guides/embeddings and its model pages. A text that is too long is
cut at the token. The tokens of a model that is not OpenAI's are not known: for it a text is cut at as many bytes, of
which every token has at least one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relrag_pipelines import model_service as service
from relrag_pipelines.embedders import openai_tokenizer
from relrag_pipelines.embedders.protocol import ModelInfo, check_vectors
from relrag_pipelines.model_service import EmbeddingError
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores.vectors.protocol import Vectors

if TYPE_CHECKING:
    import openai

MODEL = "text-embedding-3-small"
KEY = "OPENAI_API_KEY"

_MODELS = {"text-embedding-3-small": (1536, 0.02), "text-embedding-3-large": (3072, 0.13)}
"""dimension, and USD a million tokens"""
_URL = "https://api.openai.com/v1"
_MAX_TOKENS = 8191
_MOST_IN_A_REQUEST = 280_000
"""bytes, hence at most so many tokens; the service takes 300,000"""


def model(settings: Settings) -> ModelInfo:
    """text-embedding-3-small unless another is set; all languages."""
    name = settings.embedding_model or MODEL
    usual, price = _MODELS.get(name, (None, None))
    dimension, host = service.dimension(settings, usual), service.host(settings, "api.openai.com")
    return ModelInfo(
        name=":".join([name, str(dimension), *([host] if settings.embedding_url else [])]),
        dimension=dimension,
        max_tokens=_MAX_TOKENS,
        host=host,
        usd_per_million=None if settings.embedding_url else price,
        batch_texts=256,
        batch_bytes=_MOST_IN_A_REQUEST,
    )


def load(settings: Settings) -> OpenAI:
    """A client of the service; EmbeddingError where the SDK or the key is missing."""
    try:
        import openai
    except ImportError:
        raise EmbeddingError('embedder "openai" needs the package openai; install relrag[openai]') from None
    openai_tokenizer.require()
    # given always, so that no other variable of the environment sends texts elsewhere
    secret = "none" if settings.embedding_url and not service.has_key(KEY) else service.key("openai", KEY)
    client = openai.OpenAI(
        api_key=secret,
        base_url=settings.embedding_url or _URL,
        timeout=service.TIMEOUT_SECONDS,
        max_retries=service.RETRIES,
    )
    return OpenAI(client, settings)


class OpenAI:
    """A client that keeps its connection."""

    def __init__(self, client: openai.OpenAI, settings: Settings) -> None:
        self._client = client
        self._model = model(settings)
        self._name = settings.embedding_model or MODEL
        self._head = openai_tokenizer.truncate_tokens if self._name in _MODELS else service.truncate_utf8
        # servers that speak the protocol need not know base64 and shorter vectors
        self._plain = bool(settings.embedding_url)

    def documents(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """A vector for each text, and the tokens that the service counted."""
        import openai

        given = [self._head(text, self._model.max_tokens) for text in texts]
        unreadable = (openai.APIResponseValidationError, ValueError, TypeError)
        try:
            return service.with_retries(lambda: self._ask(given), unreadable, self._model.host)
        except openai.APIStatusError as error:
            status = error.status_code
        except openai.APIConnectionError:
            status = None
        raise service.describe_refusal(self._model.host, status, KEY)

    def query(self, text: str) -> Vectors:
        """The vector of a question; the model makes no difference between questions and texts."""
        vector: Vectors = self.documents([text])[0][0]
        return vector

    def _ask(self, texts: list[str]) -> tuple[Vectors, int]:
        from openai import omit

        answer = self._client.embeddings.create(
            model=self._name,
            input=texts,
            dimensions=omit if self._plain else self._model.dimension,
            encoding_format="float" if self._plain else omit,
        )
        rows = [row.embedding for row in sorted(answer.data, key=lambda row: row.index)]
        used = answer.usage.total_tokens if answer.usage else 0
        return check_vectors(rows, len(texts), self._model.dimension, self._model.host), used
