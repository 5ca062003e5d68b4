"""Qdrant servers for tests: the local mode of its client, and one of a few lines that refuses."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from qdrant_client import QdrantClient

from relrag_pipelines.stores.vectors import server
from relrag_pipelines.stores.vectors.connection import Connection


def local() -> QdrantClient:
    """A client that is its own server, in memory. Closing a connection to it leaves it as it is."""
    return QdrantClient(":memory:")


@contextmanager
def served_locally(monkeypatch: pytest.MonkeyPatch, client: QdrantClient) -> Iterator[None]:
    """Lets every server be that client."""

    class Kept(Connection):
        def close(self) -> None:
            pass

    def connect(url: str, timeout: int = 0) -> Connection:
        return Kept(url, client)

    monkeypatch.setattr(server, "connect", connect)
    monkeypatch.setattr("relrag_pipelines.stores.vectors.connection.connect", connect)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what local mode does without
        yield


@contextmanager
def answering(answers: Mapping[str, tuple[int, str]], status: int = 200) -> Iterator[tuple[str, list[str]]]:
    """A server that gives these answers by path (status, JSON), else an empty one; its URL, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.append(f"{self.command} {self.path} {self.headers.get('api-key', '')}".strip())
            code, body = answers.get(self.path.partition("?")[0], (status, "{}"))
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = _answer  # noqa: N815  names of the standard library

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{httpd.server_address[1]}", asked
        finally:
            httpd.shutdown()
            thread.join()
