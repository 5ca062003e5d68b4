"""Cancels requests whose client has disconnected: a closed tab, a stopped program, a timeout."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relrag_pipelines.workers import cancellation


class GoneClients:
    """ASGI middleware: cancels a request and its work as soon as its client disconnects.

    To notice a disconnect, a task receives all messages from the server, and passes them to the app through a queue of
    one message.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request to the app."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        queue: asyncio.Queue[Message] = asyncio.Queue(1)
        answered = False

        async def send_watched(message: Message) -> None:
            nonlocal answered
            await send(message)
            answered = message["type"] == "http.response.body" and not message.get("more_body", False)

        async def listen() -> None:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    break
                await queue.put(message)
            if not answered:
                work.give_up()
                request.cancel()
            await queue.put(message)

        work = cancellation.Work()
        with cancellation.doing(work):
            request = asyncio.ensure_future(self._app(scope, queue.get, send_watched))
        listening = asyncio.ensure_future(listen())
        try:
            await asyncio.shield(request)
        except asyncio.CancelledError:
            if not request.cancelled():  # the server is shutting down
                work.give_up()
                request.cancel()
                raise
        finally:
            listening.cancel()
