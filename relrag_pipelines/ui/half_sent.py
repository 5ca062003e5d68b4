"""Closes connections with an incomplete request.

uvicorn limits the idle time between requests, but not the time of a request that never ends: such a connection would
stay open for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 10.0
"""limit from a connection's start to the first byte, and from the first byte of a request to the last of its body"""
_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class WholeRequests(H11Protocol):
    """uvicorn's HTTP protocol with a time limit for receiving each request."""

    seconds = SECONDS

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
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
        """Whether a request was received completely and is being answered."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    def _close(self) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_TIMEOUT)
        self.transport.close()
