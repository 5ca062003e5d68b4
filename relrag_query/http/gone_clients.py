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
        work = cancellation.Work()
        exchange = _Exchange(receive, send, work)
        with cancellation.doing(work):
            request = asyncio.ensure_future(self._app(scope, exchange.queue.get, exchange.send))
        listening = asyncio.ensure_future(exchange.listen(request))
        try:
            await asyncio.shield(request)
        except asyncio.CancelledError:
            if not request.cancelled():  # the server is shutting down
                work.give_up()
                request.cancel()
                raise
        finally:
            listening.cancel()


class _Exchange:
    """The messages between the server and the app about one request."""

    def __init__(self, receive: Receive, send: Send, work: cancellation.Work) -> None:
        self.queue: asyncio.Queue[Message] = asyncio.Queue(1)
        """messages for the app"""
        self._receive, self._send, self._work = receive, send, work
        self._is_answered = False

    async def send(self, message: Message) -> None:
        """Passes a message of the app to the server."""
        await self._send(message)
        self._is_answered = message["type"] == "http.response.body" and not message.get("more_body", False)

    async def listen(self, request: asyncio.Future[None]) -> None:
        """Passes messages of the server to the app, up to the disconnect; cancels a request without an answer."""
        while (message := await self._receive())["type"] != "http.disconnect":
            await self.queue.put(message)
        if not self._is_answered:
            self._work.give_up()
            request.cancel()
        await self.queue.put(message)
