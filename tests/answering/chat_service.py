"""A small server that streams answers by the chat protocols of OpenAI and Cohere, and fails as it is told to."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests import http_server


@dataclass
class ChatService:
    """A running server: what it writes, and what it was asked."""

    url: str
    pieces: list[str] = field(default_factory=list)
    status: int = 200
    refusal: int = 400
    """the status with which a strict server refuses"""
    strict: bool = False
    """refuses what OpenAI added to the protocol later"""
    broken: bool = False
    """the connection closes before the answer ends"""
    seconds: float = 0.0
    """between the pieces"""
    asked: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def serve() -> Iterator[ChatService]:
    """A server on a port of this machine."""

    class Handler(http_server.Posted):
        def answer(self, body: dict[str, Any]) -> None:
            service.asked.append(body | {"path": self.path, "key": self.headers.get("Authorization")})
            status = service.refusal if service.strict and "stream_options" in body else service.status
            self.send_response(status)
            refused = status != 200
            self.send_header("Content-Type", "application/json" if refused else "text/event-stream")
            self.end_headers()
            if refused:
                self.wfile.write(json.dumps({"message": f"refused: {body['messages']}"}).encode())
                return
            event = _openai if self.path.endswith("/chat/completions") else _cohere
            try:
                for piece in service.pieces:
                    time.sleep(service.seconds)
                    self.wfile.write(event(piece))
                    self.wfile.flush()
                self.wfile.write(b'data: {"choi' if service.broken else event(None))
            except OSError:  # who asked has gone
                return

    service = ChatService("")
    with http_server.serve(Handler) as service.url:
        yield service


def _openai(piece: str | None) -> bytes:
    delta = {"role": "assistant", "content": piece}
    choice = {"index": 0, "delta": delta, "finish_reason": "stop" if piece is None else None}
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    if piece is not None:
        return f"data: {json.dumps(chunk)}\n\n".encode()
    counted = chunk | {"choices": [], "usage": {"prompt_tokens": 1200, "completion_tokens": 50, "total_tokens": 1250}}
    return f"data: {json.dumps(chunk)}\n\ndata: {json.dumps(counted)}\n\ndata: [DONE]\n\n".encode()


def _cohere(piece: str | None) -> bytes:
    if piece is None:
        event: dict[str, Any] = {"type": "message-end", "id": "1", "delta": {"finish_reason": "COMPLETE"}}
        event["delta"]["usage"] = {"tokens": {"input_tokens": 1200, "output_tokens": 50}}
    else:
        event = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": piece}}}}
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
