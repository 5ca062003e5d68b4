"""A small HTTP server on a port of this machine, for tests that speak with a service."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Posted(BaseHTTPRequestHandler):
    """Is given each request that is posted, without telling of it."""

    def do_POST(self) -> None:
        self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def answer(self, body: dict[str, Any]) -> None:
        """Writes the answer to a request of that JSON."""
        raise NotImplementedError

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serve(handler: type[Posted]) -> Iterator[str]:
    """The address of a server with that handler, while it runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
