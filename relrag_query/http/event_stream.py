"""Streams answers as server-sent events: `piece` for each piece of text, then `answer` or `problem`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import anyio
import orjson
from anyio import from_thread
from anyio.lowlevel import current_token
from starlette.responses import StreamingResponse

from relrag_query.http import problems
from relrag_query.http.concurrency import RequestLimiter

MEDIA_TYPE = "text/event-stream"


def event_stream(
    limiter: RequestLimiter,
    ask: Callable[[Callable[[str], None]], str],
    describe: Callable[[Exception], tuple[int, str]] = problems.describe,
) -> StreamingResponse:
    """The events of one question. `ask` receives a callback for pieces of text, and returns the last event.

    `describe` gives the status and the description of an error.
    """
    return StreamingResponse(
        _events(limiter, ask, describe), media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"}
    )


async def _events(
    limiter: RequestLimiter,
    ask: Callable[[Callable[[str], None]], str],
    describe: Callable[[Exception], tuple[int, str]],
) -> AsyncIterator[str]:
    yield _event("begun", None)
    send, receive = anyio.create_memory_object_stream[str](64)

    loop = current_token()

    def send_piece(piece: str) -> None:
        # raises if the client has disconnected, which stops the model
        from_thread.run(send.send, _event("piece", piece), token=loop)

    async def answer() -> None:
        async with send:
            try:
                last = _event("answer", await limiter.run(ask, send_piece))
            except Exception as error:  # noqa: BLE001  reported without private text
                status, detail = describe(error)
                last = _event("problem", {"status": status, "detail": detail})
            await send.send(last)

    async with anyio.create_task_group() as tasks, receive:
        tasks.start_soon(answer)
        async for event in receive:
            yield event


def _event(name: str, data: object) -> str:
    """An event with its data as JSON, which contains no line end, since a line end would end the event."""
    return f"event: {name}\ndata: {orjson.dumps(data).decode()}\n\n"
