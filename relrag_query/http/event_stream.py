"""Answers as they come, by server-sent events: `piece` for each piece of text, then `answer`, or `problem`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import anyio
import orjson
from anyio import from_thread
from anyio.lowlevel import current_token
from starlette.responses import StreamingResponse

from relrag_query.http.problems import describe
from relrag_query.http.turns import Turns

MEDIA_TYPE = "text/event-stream"


def event_stream(turns: Turns, ask: Callable[[Callable[[str], None]], str]) -> StreamingResponse:
    """The events of one question. `ask` is given what to call with each piece; what it returns is the last event."""
    return StreamingResponse(_events(turns, ask), media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})


async def _events(turns: Turns, ask: Callable[[Callable[[str], None]], str]) -> AsyncIterator[str]:
    yield _event("begun", None)
    send, receive = anyio.create_memory_object_stream[str](64)

    loop = current_token()

    def tell(piece: str) -> None:
        # raises where nobody listens any more: the model is stopped
        from_thread.run(send.send, _event("piece", piece), token=loop)

    async def answer() -> None:
        async with send:
            try:
                last = _event("answer", await turns.run(ask, tell))
            except Exception as error:  # noqa: BLE001  said without private text
                status, detail = describe(error)
                last = _event("problem", {"status": status, "detail": detail})
            await send.send(last)

    async with anyio.create_task_group() as tasks, receive:
        tasks.start_soon(answer)
        async for event in receive:
            yield event


def _event(name: str, data: object) -> str:
    """JSON has no line ends, which would end the event."""
    return f"event: {name}\ndata: {orjson.dumps(data).decode()}\n\n"
