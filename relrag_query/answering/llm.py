"""Language models that write answers, by their SDKs: OpenAI's or any server of its protocol, and Cohere's.

A text comes in pieces, as it is written. Keys come from the environment only; no error shows a key or a text. A model
can be asked for JSON of a schema; a server that does not know schemas is asked for JSON, then for text.
"""

from __future__ import annotations

import functools
import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from relrag_pipelines import model_service as service
from relrag_pipelines.language_models.answer_schema import Schema
from relrag_pipelines.language_models.model import PRICES, USUAL, local_connection, openai_key
from relrag_pipelines.model_service import EmbeddingError
from relrag_pipelines.settings import Settings
from relrag_pipelines.workers import cancellation
from relrag_query.answering.chat_model import AnswerError, ChatModel, Usage

if TYPE_CHECKING:
    import cohere
    import openai
    from openai.types.chat import ChatCompletionChunk

TIMEOUT_SECONDS = 30.0
"""for the next piece of an answer; a model on this machine has all the time of the answer"""
RETRIES = 2
_LOOK_SECONDS = 0.25
"""after which it is looked whether anybody still waits for the answer"""
Event = TypeVar("Event")


def writer(settings: Settings) -> ChatModel:
    """The configured model; AnswerError where a key or package is missing."""
    kind = "cohere" if settings.answerer == "cohere" else "openai"
    try:
        return _cohere(settings) if kind == "cohere" else _openai(settings)
    except EmbeddingError as error:
        problem = str(error)
    except ImportError:
        problem = f"the package {kind} is missing; install relrag[{kind}]"
    raise AnswerError(problem)


def _openai(settings: Settings) -> ChatModel:
    import openai

    url, name = settings.answer_url, settings.answer_model or USUAL["openai"]
    client = openai.OpenAI(base_url=url or "https://api.openai.com/v1", **_connection(settings))
    usage = Usage(price=None if url else PRICES.get(name))
    pieces = functools.partial(_openai_pieces, client, name, settings, usage)
    model = ChatModel(name, _host(url, "api.openai.com"), pieces, usage)
    return _guarded(model, settings, openai.APIStatusError, openai.OpenAIError)


def _connection(settings: Settings) -> dict[str, Any]:
    """How OpenAI's client connects. A model on this machine may take all the time of the answer, and is asked once."""
    if settings.answerer == "local":
        return {"timeout": float(settings.answer_seconds), "max_retries": 0, **local_connection()}
    return {"api_key": openai_key(settings.answer_url), "timeout": _timeout(settings), "max_retries": RETRIES}


def _timeout(settings: Settings) -> float:
    return min(TIMEOUT_SECONDS, float(settings.answer_seconds))


def _cohere(settings: Settings) -> ChatModel:
    import cohere
    import httpx
    from cohere.core.api_error import ApiError

    url, name = settings.answer_url, settings.answer_model or USUAL["cohere"]
    client = cohere.ClientV2(
        api_key=service.key("cohere", "COHERE_API_KEY", "CO_API_KEY"),
        base_url=url or "https://api.cohere.com",
        timeout=_timeout(settings),
        max_retries=RETRIES,
        log_warning_experimental_features=False,
    )
    usage = Usage(price=None if url else PRICES.get(name))
    pieces = functools.partial(_cohere_pieces, client, name, settings, usage)
    return _guarded(ChatModel(name, _host(url, "api.cohere.com"), pieces, usage), settings, ApiError, httpx.HTTPError)


def _host(url: str, usual: str) -> str:
    return service.host_of(url, "answer_url") if url else usual


def _guarded(model: ChatModel, settings: Settings, refused: type[Exception], unreached: type[Exception]) -> ChatModel:
    """The same within its time, and what its SDK raises as an AnswerError that shows no text."""

    def write(instructions: str, request: str, schema: Schema | None = None) -> Iterator[str]:
        try:
            yield from _within(settings, model.write(instructions, request, schema))
            return
        except Exception as error:
            fault = service.fault(error, refused, unreached)
            if fault is None:
                raise
        raise AnswerError(f"{model.host} {fault.message}")

    return replace(model, write=write)


def _openai_pieces(
    client: openai.OpenAI,
    name: str,
    settings: Settings,
    usage: Usage,
    instructions: str,
    request: str,
    schema: Schema | None = None,
) -> Iterator[str]:
    from openai import BadRequestError, UnprocessableEntityError

    messages = [{"role": "system", "content": instructions}, {"role": "user", "content": request}]
    common = {"model": name, "messages": messages, "stream": True, **_openai_limits(settings)}
    requests = [common | options for options in _openai_options(schema)]
    # a server that speaks the protocol may not know what OpenAI added to it later
    requests = requests if settings.answer_url else requests[:1]
    attempts = [functools.partial(_openai_events, client, options) for options in requests]
    is_complete = False
    for event in _first_accepted(attempts, (BadRequestError, UnprocessableEntityError)):
        for choice in event.choices[:1]:
            is_complete |= choice.finish_reason is not None
            yield choice.delta.content or ""
        if event.usage:
            usage.tokens_read += event.usage.prompt_tokens
            usage.tokens_written += event.usage.completion_tokens
    if not is_complete:
        raise AnswerError("the answer broke off")


def _openai_limits(settings: Settings) -> dict[str, Any]:
    from openai import omit

    # servers that speak the protocol know the older name of the limit
    limit = "max_tokens" if settings.answer_url else "max_completion_tokens"
    warmth = settings.answer_temperature
    return {limit: settings.answer_max_tokens, "temperature": omit if warmth < 0 else warmth}


def _openai_options(schema: Schema | None) -> Iterator[dict[str, Any]]:
    """The options of a request, those that tell most first: the form of the answer, and whether tokens are counted."""
    forms: list[dict[str, Any]] = [{}]
    if schema is not None:
        described = {"name": "answer", "schema": schema, "strict": True}
        forms = [
            {"response_format": {"type": "json_schema", "json_schema": described}},
            {"response_format": {"type": "json_object"}},
            {},
        ]
    counted: tuple[dict[str, Any], ...] = ({"stream_options": {"include_usage": True}}, {})
    for form, counting in itertools.product(forms, counted):
        yield form | counting


def _openai_events(client: openai.OpenAI, options: dict[str, Any]) -> Iterator[ChatCompletionChunk]:
    answer: openai.Stream[ChatCompletionChunk] = client.chat.completions.create(**options)
    with answer:
        yield from answer


def _cohere_pieces(
    client: cohere.ClientV2,
    name: str,
    settings: Settings,
    usage: Usage,
    instructions: str,
    request: str,
    schema: Schema | None = None,
) -> Iterator[str]:
    from cohere import BadRequestError, SystemChatMessageV2, UnprocessableEntityError, UserChatMessageV2
    from cohere.v2.client import OMIT

    warmth = settings.answer_temperature
    common: dict[str, Any] = {
        "model": name,
        "messages": [SystemChatMessageV2(content=instructions), UserChatMessageV2(content=request)],
        "max_tokens": settings.answer_max_tokens,
        "temperature": OMIT if warmth < 0 else warmth,
    }
    attempts = [functools.partial(client.chat_stream, **common, **options) for options in _cohere_options(schema)]
    is_complete = False
    for event in _first_accepted(attempts, (BadRequestError, UnprocessableEntityError)):
        if event.type == "message-end":
            is_complete = True
            _count_tokens(event, usage)
        if event.type == "content-delta":
            message = event.delta.message if event.delta else None
            yield (message.content.text or "") if message and message.content else ""
    if not is_complete:
        raise AnswerError("the answer broke off")


def _cohere_options(schema: Schema | None) -> Iterator[dict[str, Any]]:
    from cohere import JsonObjectResponseFormatV2

    if schema is not None:
        yield {"response_format": JsonObjectResponseFormatV2(json_schema=schema)}
        yield {"response_format": JsonObjectResponseFormatV2()}
    yield {}


def _first_accepted(
    attempts: Sequence[Callable[[], Iterator[Event]]], refused: tuple[type[Exception], ...]
) -> Iterator[Event]:
    """The events of the first attempt that is not refused; what the last one raises, if all are."""
    for attempt in attempts[:-1]:
        events = iter(attempt())
        try:
            first = list(itertools.islice(events, 1))
        except refused:
            continue
        yield from itertools.chain(first, events)
        return
    yield from attempts[-1]()


def _within(settings: Settings, pieces: Iterator[str]) -> Iterator[str]:
    """The pieces, as long as they come within the time that an answer may take.

    They are read in a thread, since a server that says nothing may hold its reader longer. The thread ends with the
    next piece that nobody waits for.
    """
    end = time.monotonic() + settings.answer_seconds
    received: queue.SimpleQueue[str | Exception | None] = queue.SimpleQueue()
    abandoned = threading.Event()
    threading.Thread(target=_receive, args=(pieces, received, abandoned), daemon=True).start()
    try:
        while (piece := _next(received, end)) is not None:
            yield piece
    except queue.Empty:
        raise AnswerError(f"the answer took more than {settings.answer_seconds} seconds") from None
    finally:
        abandoned.set()


def _receive(
    pieces: Iterator[str], received: queue.SimpleQueue[str | Exception | None], abandoned: threading.Event
) -> None:
    """Puts the pieces into a queue, and behind them None, or what was raised instead."""
    try:
        for piece in pieces:
            if abandoned.is_set():
                return
            received.put(piece)
        received.put(None)
    except Exception as error:  # noqa: BLE001  raised in the thread that waits
        received.put(error)


def _next(received: queue.SimpleQueue[str | Exception | None], end: float) -> str | None:
    """The next piece; None behind the last. Raises queue.Empty at the end of the time, and what reading it raised."""
    while True:
        cancellation.check()
        left = end - time.monotonic()
        if left <= 0:
            raise queue.Empty
        with suppress(queue.Empty):
            piece = received.get(timeout=min(left, _LOOK_SECONDS))
            if isinstance(piece, Exception):
                raise piece
            return piece


def _count_tokens(end: Any, usage: Usage) -> None:
    """Adds the tokens that the last event of an answer of Cohere counts."""
    counted = end.delta.usage.tokens if end.delta and end.delta.usage else None
    if counted:
        usage.tokens_read += int(counted.input_tokens or 0)
        usage.tokens_written += int(counted.output_tokens or 0)
