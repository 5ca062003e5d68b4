"""A request to Dagster's UI that never ends is closed; tests/web/test_server.py asks the same of `relrag serve`."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from relrag_pipelines.ui import half_sent
from relrag_pipelines.ui.server import server_config

SECONDS = 1.0
HEAD = b"POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-length: 20\r\n\r\n"


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server that is set up as the UI's is, with an application that reads a request to its end."""

    async def answer(scope: dict[str, object], receive: object, send: object) -> None:
        if scope["type"] == "http":
            request = Request(scope, receive)  # type: ignore[arg-type]
            await request.body()
            await PlainTextResponse("whole")(scope, receive, send)  # type: ignore[arg-type]

    assert half_sent.WholeRequests.seconds == 10.0
    monkeypatch.setattr(half_sent.WholeRequests, "seconds", SECONDS)
    config = server_config("127.0.0.1", 0)
    config.app, config.lifespan = answer, "off"
    listening = config.bind_socket()
    listening.listen()
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join()
    listening.close()


@pytest.mark.parametrize("part", [b"", b"POST /gra", HEAD[:-2], HEAD, HEAD + b"half of it"])
def test_the_ui_closes_a_request_that_never_ends(port: int, part: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.settimeout(10 * SECONDS)
        begun = time.monotonic()
        client.sendall(part)
        assert client.recv(100).startswith(b"HTTP/1.1 408 ")
        assert SECONDS - 0.1 < time.monotonic() - begun < 5 * SECONDS


def test_the_ui_answers_a_request_that_comes_in_parts(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(HEAD)
        time.sleep(SECONDS / 2)
        client.sendall(b"x" * 20)
        assert client.recv(400).startswith(b"HTTP/1.1 200 ")
