"""A small server that streams answers by the chat protocols of OpenAI and Cohere, and fails as it is told to."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests import http_server


@dataclass
class ChatService:
    """A running server: what it writes, and what it was asked."""

    url: str
    pieces: list[str] = field(default_factory=list)
    reply: Callable[[dict[str, Any]], list[str]] | None = None
    """gives the pieces for a request; without it they are `pieces`"""
    status: int = 200
    refusal: int = 400
    """the status with which a strict server refuses"""
    unknown: Collection[str] = ()
    """what it refuses of a request: `stream_options`, `response_format`, `json_schema` or `json_object`"""
    broken: bool = False
    """the connection closes before the answer ends"""
    cut: bool = False
    """the answer ends for its length"""
    seconds: float = 0.0
    """between the pieces"""
    models: list[str] = field(default_factory=list)
    """what it lists at /v1/models"""
    asked: list[dict[str, Any]] = field(default_factory=list)

    def refuses(self, body: dict[str, Any]) -> bool:
        """Whether a request has what the server does not know."""
        form = body.get("response_format") or {}
        schema = "json_schema" if form.get("json_schema") or form.get("schema") else form.get("type", "")
        return not {*body, schema}.isdisjoint(self.unknown)


@contextmanager
def serve() -> Iterator[ChatService]:
    """A server on a port of this machine."""

    class Handler(http_server.Posted):
        def do_GET(self) -> None:  # noqa: N802  the name that the library calls
            listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in service.models]}
            self.send_response(service.status if self.path == "/v1/models" else 404)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(listed).encode())

        def answer(self, body: dict[str, Any]) -> None:
            service.asked.append(body | {"path": self.path, "key": self.headers.get("Authorization")})
            status = service.refusal if service.refuses(body) else service.status
            self.send_response(status)
            refused = status != 200
            self.send_header("Content-Type", "application/json" if refused else "text/event-stream")
            self.end_headers()
            if refused:
                self.wfile.write(json.dumps({"message": f"refused: {body['messages']}"}).encode())
                return
            event = _openai if self.path.endswith("/chat/completions") else _cohere
            try:
                for piece in service.reply(body) if service.reply else service.pieces:
                    time.sleep(service.seconds)
                    self.wfile.write(event(piece))
                    self.wfile.flush()
                self.wfile.write(b'data: {"choi' if service.broken else event(None, cut=service.cut))
            except OSError:  # who asked has gone
                return

    service = ChatService("")
    with http_server.serve(Handler) as service.url:
        yield service


def _openai(piece: str | None, *, cut: bool = False) -> bytes:
    delta = {"role": "assistant", "content": piece}
    reason = "length" if cut else "stop"
    choice = {"index": 0, "delta": delta, "finish_reason": reason if piece is None else None}
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    if piece is not None:
        return f"data: {json.dumps(chunk)}\n\n".encode()
    counted = chunk | {"choices": [], "usage": {"prompt_tokens": 1200, "completion_tokens": 50, "total_tokens": 1250}}
    return f"data: {json.dumps(chunk)}\n\ndata: {json.dumps(counted)}\n\ndata: [DONE]\n\n".encode()


def _cohere(piece: str | None, *, cut: bool = False) -> bytes:
    if piece is None:
        reason = "MAX_TOKENS" if cut else "COMPLETE"
        event: dict[str, Any] = {"type": "message-end", "id": "1", "delta": {"finish_reason": reason}}
        event["delta"]["usage"] = {"tokens": {"input_tokens": 1200, "output_tokens": 50}}
    else:
        event = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": piece}}}}
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
