"""Language models that write answers: OpenAI's, or any server that speaks its protocol, and Cohere's, by their SDKs.

A text comes in pieces, as it is written. Keys come from the environment only; no error shows a key or a text.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from relrag_pipelines import model_service as service
from relrag_pipelines.errors import RelragError
from relrag_pipelines.language_models.model import PRICES, USUAL
from relrag_pipelines.model_service import EmbeddingError
from relrag_pipelines.settings import Settings

if TYPE_CHECKING:
    import cohere
    import openai
    from openai.types.chat import ChatCompletionChunk

TIMEOUT_SECONDS = 30.0
"""for the next piece of an answer"""
RETRIES = 2


class AnswerError(RelragError):
    """No answer could be written; the message says why and holds neither text nor key."""


@dataclass
class Usage:
    """What an answer took, as the service counts it; 0 tokens where it does not say."""

    tokens_read: int = 0
    tokens_written: int = 0
    price: tuple[float, float] | None = None
    """of a million tokens read, and of a million written, in USD by the list; None where it is not known"""

    @property
    def usd(self) -> float | None:
        """What it cost by the list price; None where that is not known."""
        if self.price is None:
            return None
        read, written = self.price
        return (self.tokens_read * read + self.tokens_written * written) / 1e6

    def __str__(self) -> str:
        cost = "" if self.usd is None else f", ${self.usd:.4f}"
        return f"{self.tokens_read:,} tokens read and {self.tokens_written:,} written{cost}"


@dataclass(frozen=True)
class ChatModel:
    """The model that writes."""

    model: str
    host: str
    write: Callable[[str, str], Iterator[str]]
    """given instructions and a request, the pieces of the answer; AnswerError where it breaks off"""
    usage: Usage = field(default_factory=Usage)
    """grows as answers end"""


def writer(settings: Settings) -> ChatModel:
    """The configured model; AnswerError where a key or package is missing."""
    try:
        return _openai(settings) if settings.answerer == "openai" else _cohere(settings)
    except EmbeddingError as error:
        said = str(error)
    except ImportError:
        said = f"the package {settings.answerer} is missing; install relrag[{settings.answerer}]"
    raise AnswerError(said)


def _openai(settings: Settings) -> ChatModel:
    import openai

    url, name = settings.answer_url, settings.answer_model or USUAL["openai"]
    secret = "none" if url and not service.has_key("OPENAI_API_KEY") else service.key("openai", "OPENAI_API_KEY")
    base = url or "https://api.openai.com/v1"
    client = openai.OpenAI(api_key=secret, base_url=base, timeout=TIMEOUT_SECONDS, max_retries=RETRIES)
    usage = Usage(price=None if url else PRICES.get(name))
    pieces = functools.partial(_openai_pieces, client, name, settings, usage)
    model = ChatModel(name, _host(url, "api.openai.com"), pieces, usage)
    return _told(model, settings, openai.APIStatusError, openai.OpenAIError)


def _cohere(settings: Settings) -> ChatModel:
    import cohere
    import httpx
    from cohere.core.api_error import ApiError

    url, name = settings.answer_url, settings.answer_model or USUAL["cohere"]
    client = cohere.ClientV2(
        api_key=service.key("cohere", "COHERE_API_KEY", "CO_API_KEY"),
        base_url=url or "https://api.cohere.com",
        timeout=TIMEOUT_SECONDS,
        max_retries=RETRIES,
        log_warning_experimental_features=False,
    )
    usage = Usage(price=None if url else PRICES.get(name))
    pieces = functools.partial(_cohere_pieces, client, name, settings, usage)
    return _told(ChatModel(name, _host(url, "api.cohere.com"), pieces, usage), settings, ApiError, httpx.HTTPError)


def _host(url: str, usual: str) -> str:
    return service.host_of(url, "answer_url") if url else usual


def _told(asked: ChatModel, settings: Settings, refused: type[Exception], unreached: type[Exception]) -> ChatModel:
    """The same within its time, and what its SDK raises as an AnswerError that shows no text."""

    def write(instructions: str, request: str) -> Iterator[str]:
        try:
            yield from _within(settings, asked.write(instructions, request))
            return
        except Exception as error:
            fault = service.fault(error, refused, unreached)
            if fault is None:
                raise
        raise AnswerError(f"{asked.host} {fault.message}")

    return replace(asked, write=write)


def _openai_pieces(
    client: openai.OpenAI, name: str, settings: Settings, usage: Usage, instructions: str, request: str
) -> Iterator[str]:
    from openai import BadRequestError, UnprocessableEntityError, omit

    most, warmth = settings.answer_max_tokens, settings.answer_temperature
    asked: dict[str, Any] = {
        "model": name,
        "messages": [{"role": "system", "content": instructions}, {"role": "user", "content": request}],
        # servers that speak the protocol know the older name of the limit
        "max_tokens" if settings.answer_url else "max_completion_tokens": most,
        "temperature": omit if warmth < 0 else warmth,
    }
    answer: openai.Stream[ChatCompletionChunk]
    try:
        answer = client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    except (BadRequestError, UnprocessableEntityError):
        if not settings.answer_url:
            raise
        # a server that does not know the option; then tokens are not counted
        answer = client.chat.completions.create(**asked, stream=True)
    ended = False
    with answer:
        for event in answer:
            for choice in event.choices[:1]:
                ended |= choice.finish_reason is not None
                yield choice.delta.content or ""
            if event.usage:
                usage.tokens_read += event.usage.prompt_tokens
                usage.tokens_written += event.usage.completion_tokens
    if not ended:
        raise AnswerError("the answer broke off")


def _cohere_pieces(
    client: cohere.ClientV2, name: str, settings: Settings, usage: Usage, instructions: str, request: str
) -> Iterator[str]:
    from cohere import SystemChatMessageV2, UserChatMessageV2
    from cohere.v2.client import OMIT

    warmth = settings.answer_temperature
    events = client.chat_stream(
        model=name,
        messages=[SystemChatMessageV2(content=instructions), UserChatMessageV2(content=request)],
        max_tokens=settings.answer_max_tokens,
        temperature=OMIT if warmth < 0 else warmth,
    )
    ended = False
    for event in events:
        if event.type == "message-end":
            ended = True
            counted = event.delta.usage.tokens if event.delta and event.delta.usage else None
            usage.tokens_read += int(counted.input_tokens or 0) if counted else 0
            usage.tokens_written += int(counted.output_tokens or 0) if counted else 0
        if event.type == "content-delta":
            message = event.delta.message if event.delta else None
            yield (message.content.text or "") if message and message.content else ""
    if not ended:
        raise AnswerError("the answer broke off")


def _within(settings: Settings, pieces: Iterator[str]) -> Iterator[str]:
    """The pieces, as long as they come within the time that an answer may take."""
    end = time.monotonic() + settings.answer_seconds
    for piece in pieces:
        if time.monotonic() > end:
            raise AnswerError(f"the answer took more than {settings.answer_seconds} seconds")
        yield piece
