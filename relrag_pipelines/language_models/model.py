"""Language models that answer in JSON of a given schema: OpenAI's, or any server of its protocol, and Cohere's.

Keys come from the environment only; no error shows a key or a text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from relrag_pipelines import model_service as service
from relrag_pipelines.errors import SafeError
from relrag_pipelines.language_models.answer_schema import Schema
from relrag_pipelines.model_service import EmbeddingError

if TYPE_CHECKING:
    import cohere
    import openai

USUAL = {"openai": "gpt-4.1-mini", "cohere": "command-a-03-2025"}
"""default model of each service, if relrag.toml names none"""
PRICES = {"gpt-4.1-mini": (0.40, 1.60), "command-a-03-2025": (2.50, 10.00)}
"""USD for a million tokens read and written: https://openai.com/api/pricing, https://cohere.com/pricing"""
TIMEOUT_SECONDS = 120.0
RETRIES = 3
NO_KEY = "none"

_TEXT_STATUSES = (400, 413, 422)
"""HTTP statuses caused by one text: too long, or refused by a filter"""

Message = tuple[str, str]
"""role (system, user or assistant) and content"""


class ModelError(SafeError):
    """The service gave no answer; the message gives the reason, without text or key."""


class TextRefused(ModelError):
    """The service refuses this text; it may accept the next."""


@dataclass(frozen=True)
class Reply:
    """What a model answered."""

    text: str
    """JSON, unless the model failed"""
    tokens: int
    """of question and answer, as counted by the service; 0 if it reports none"""


@dataclass(frozen=True)
class JsonModel:
    """A model and how to ask it."""

    name: str
    host: str
    ask: Callable[[Sequence[Message], Schema], Reply]
    """answers messages with JSON of a schema; raises ModelError if there is no answer"""


def load(kind: str, name: str, url: str = "", max_tokens: int = 4000) -> JsonModel:
    """The model `name` of openai, cohere or local, on this machine; `max_tokens` is the limit of a reply.

    `url` is another server of the same protocol; of local, the server.

    Raises ModelError if a key or package is missing.
    """
    try:
        if kind == "cohere":
            return _cohere(name, url, max_tokens)
        return _openai(name, url, max_tokens, is_local=kind == "local")
    except EmbeddingError as error:
        message = str(error)
    except ImportError:
        package = "cohere" if kind == "cohere" else "openai"
        message = f"the package {package} is missing; install relrag[{package}]"
    raise ModelError(message)


def host_of(kind: str, url: str = "") -> str:
    """The host that texts are sent to."""
    return service.host_of(url, "url") if url else f"api.{kind}.com"


def _openai(name: str, url: str, max_tokens: int, *, is_local: bool = False) -> JsonModel:
    import openai

    base = url or "https://api.openai.com/v1"
    connection = local_connection() if is_local else {"api_key": openai_key(url)}
    client = openai.OpenAI(base_url=base, timeout=TIMEOUT_SECONDS, max_retries=RETRIES, **connection)

    def ask(messages: Sequence[Message], schema: Schema) -> Reply:
        return _ask_openai(client, name, messages, schema, max_tokens, plain=bool(url))

    return _translate_errors(JsonModel(name, host_of("openai", url), ask), openai.APIStatusError, openai.OpenAIError)


def openai_key(url: str) -> str:
    """OpenAI's key; `none` for another server where no key is set."""
    return NO_KEY if url and not service.has_key("OPENAI_API_KEY") else service.key("openai", "OPENAI_API_KEY")


def local_connection() -> dict[str, Any]:
    """How OpenAI's client connects to this machine: by no proxy, following no redirect, with no service's key."""
    from openai import DefaultHttpxClient

    secret = service.key("local", "LOCAL_API_KEY") if service.has_key("LOCAL_API_KEY") else NO_KEY
    return {"api_key": secret, "http_client": DefaultHttpxClient(trust_env=False, follow_redirects=False)}


def _cohere(name: str, url: str, max_tokens: int) -> JsonModel:
    import cohere
    import httpx
    from cohere.core.api_error import ApiError

    client = cohere.ClientV2(
        api_key=service.key("cohere", "COHERE_API_KEY", "CO_API_KEY"),
        base_url=url or "https://api.cohere.com",
        timeout=TIMEOUT_SECONDS,
        max_retries=RETRIES,
        log_warning_experimental_features=False,
    )

    def ask(messages: Sequence[Message], schema: Schema) -> Reply:
        return _ask_cohere(client, name, messages, schema, max_tokens)

    return _translate_errors(JsonModel(name, host_of("cohere", url), ask), ApiError, httpx.HTTPError)


def _translate_errors(model: JsonModel, refused: type[Exception], unreached: type[Exception]) -> JsonModel:
    """The same model, with exceptions of its SDK translated into ModelError."""

    def ask(messages: Sequence[Message], schema: Schema) -> Reply:
        try:
            return model.ask(messages, schema)
        except Exception as error:
            fault = service.fault(error, refused, unreached)
            if fault is None:
                raise
        raise (TextRefused if fault.status in _TEXT_STATUSES else ModelError)(f"{model.host} {fault.message}")

    return JsonModel(model.name, model.host, ask)


def _ask_openai(
    client: openai.OpenAI, name: str, messages: Sequence[Message], schema: Schema, max_tokens: int, *, plain: bool
) -> Reply:
    from openai import omit

    response_format = {"type": "json_schema", "json_schema": {"name": "extraction", "schema": schema, "strict": True}}
    answer = client.chat.completions.create(
        model=name,
        messages=cast(Any, _as_json(messages)),
        response_format=cast(Any, response_format),
        # other servers of the protocol know the limit by its older name
        max_tokens=max_tokens if plain else omit,
        max_completion_tokens=omit if plain else max_tokens,
    )
    choice = answer.choices[0]
    if choice.finish_reason == "length":
        raise TextRefused(f"the answer had more than {max_tokens} tokens")
    return Reply(choice.message.content or "", answer.usage.total_tokens if answer.usage else 0)


def _ask_cohere(
    client: cohere.ClientV2, name: str, messages: Sequence[Message], schema: Schema, max_tokens: int
) -> Reply:
    from cohere import JsonObjectResponseFormatV2

    answer = client.chat(
        model=name,
        messages=cast(Any, _as_json(messages)),
        response_format=JsonObjectResponseFormatV2(json_schema=schema),
        max_tokens=max_tokens,
    )
    if answer.finish_reason == "MAX_TOKENS":
        raise TextRefused(f"the answer had more than {max_tokens} tokens")
    parts = [part.text for part in answer.message.content or [] if part.type == "text"]
    counted = answer.usage.tokens if answer.usage else None
    used = (counted.input_tokens or 0) + (counted.output_tokens or 0) if counted else 0
    return Reply("".join(parts), int(used))


def _as_json(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in messages]
