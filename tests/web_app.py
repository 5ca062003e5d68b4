"""The whole server over an archive of a test, asked in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from relrag_pipelines.ui.login import Login, ticket
from relrag_query.service import Service
from relrag_query.web.app import create_app

KEY = b"k" * 32
TOKEN = "a-token-of-a-test"
PORT = 3100
OURS = f"http://127.0.0.1:{PORT}"
COOKIE = {"cookie": f"relrag-serve-{PORT}={ticket(KEY, 'session', 86_400)}"}
BEARER = {"authorization": f"Bearer {TOKEN}"}


@contextmanager
def client(config: Path, index: Path | None = None) -> Iterator[TestClient]:
    """A client that is not logged in; `COOKIE` and `BEARER` are headers that are."""
    with Service.open(config, index) as service:
        app = create_app(service, Login(KEY), lambda: TOKEN, "127.0.0.1", PORT, "https://relrag.example.org")
        with TestClient(app, OURS, follow_redirects=False, raise_server_exceptions=False) as opened:
            yield opened
