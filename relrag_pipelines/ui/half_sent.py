"""Closes connections whose request does not come to its end.

uvicorn has a limit for connections between requests, and none for a request that begins and never ends: each such
connection would be held for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 10.0
"""from the first byte of a request to the last of its body; and to its first, of a connection"""
_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class WholeRequests(H11Protocol):
    """HTTP as uvicorn speaks it, with a limit of time for each request to come."""

    seconds = SECONDS

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As uvicorn calls it."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """As uvicorn calls it."""
        self._begin()
        super().data_received(data)
        if self._is_whole() or self.transport.get_protocol() is not self:  # a WebSocket has begun
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """As uvicorn calls it."""
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        if self._limit is None:
            self._limit = self.loop.call_later(self.seconds, self._close)

    def _end(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _is_whole(self) -> bool:
        """Whether a request has come to its end and is being answered."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    def _close(self) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_TIMEOUT)
        self.transport.close()
