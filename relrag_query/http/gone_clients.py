"""Ends requests whose client has gone: a closed tab, a program that was stopped or that waits no longer."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relrag_pipelines.workers import cancellation


class GoneClients:
    """ASGI middleware: cancels a request as soon as its client is gone, and gives up the work for it.

    Something has to listen while a request is answered. So what the server receives goes through a queue of one
    message, from which the app reads as from the server.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on."""
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
            if not request.cancelled():  # the server itself ends: so does what it answers
                work.give_up()
                request.cancel()
                raise
        finally:
            listening.cancel()
