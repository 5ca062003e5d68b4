"""A small server that speaks the embedding protocols of OpenAI and Cohere, and Cohere's of reranking.

It fails as it is told to.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from relrag_pipelines.stores.vectors.protocol import Vectors
from tests import http_server

DIMENSIONS = {"/v1/embeddings": 1536, "/v2/embed": 1024, "/v2/rerank": 0}


@dataclass(frozen=True)
class Fault:
    """One answer that goes wrong."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    """half of the right answer, as if it were all of it"""
    broken: bool = False
    """half of the right answer, then the connection closes"""
    seconds: float = 0.0
    """before it answers"""
    dimension: int | None = None


@dataclass
class Service:
    """A running server: what it was asked, and the faults that come first."""

    url: str
    faults: list[Fault] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    """bodies of the requests, with `path`, `key` (the header) and `at` (seconds)"""


def vector(text: str, dimension: int) -> Vectors:
    """The vector that the server gives a text: a unit vector that depends on it alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
    row = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return row / np.linalg.norm(row)


@contextmanager
def serve() -> Iterator[Service]:
    """A server on a port of this machine."""

    class Handler(http_server.Posted):
        protocol_version = "HTTP/1.1"

        def answer(self, body: dict[str, Any]) -> None:
            note = {"path": self.path, "key": self.headers.get("Authorization"), "at": time.monotonic()}
            service.asked.append(body | note)
            fault = service.faults.pop(0) if service.faults else Fault()
            time.sleep(fault.seconds)
            said = {"error": {"message": f"refused: {body.get('input', body.get('texts'))}"}}
            if fault.status == 200:
                said = _answer(self.path, body, fault.dimension or DIMENSIONS[self.path])
            content = json.dumps(said).encode()
            sent = content[: len(content) // 2] if fault.cut or fault.broken else content
            self.send_response(fault.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent if fault.cut else content)))
            for name, value in fault.headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(sent)
            except OSError:  # who asked has gone
                self.close_connection = True
            self.close_connection |= fault.broken

    service = Service("")
    with http_server.serve(Handler) as service.url:
        yield service


def _answer(path: str, body: dict[str, Any], dimension: int) -> dict[str, Any]:
    if path == "/v2/embed":
        assert body["embedding_types"] == ["float"]
        rows = [vector(f"{body['input_type']}: {text}", dimension).tolist() for text in body["texts"]]
        words = sum(len(text.split()) for text in body["texts"])
        meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": words}}
        return {"id": "1", "embeddings": {"float": rows}, "texts": body["texts"], "meta": meta}
    if path == "/v2/rerank":
        asked = set(body["query"].lower().split())
        shares = [len(asked & set(text.lower().split())) / len(asked) for text in body["documents"]]
        ranked = sorted(enumerate(shares), key=lambda one: -one[1])
        return {"id": "1", "results": [{"index": place, "relevance_score": share} for place, share in ranked]}
    plain = body.get("encoding_format") == "float"
    data = [
        {"object": "embedding", "index": place, "embedding": row.tolist() if plain else _packed(row)}
        for place, row in enumerate(vector(text, dimension) for text in body["input"])
    ]
    words = sum(len(text.split()) for text in body["input"])
    usage = {"prompt_tokens": words, "total_tokens": words}
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}


def _packed(row: Vectors) -> str:
    return base64.b64encode(row.astype("<f4").tobytes()).decode()
