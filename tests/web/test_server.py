"""The server as a process of its own: clients that go, and requests that never end."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from relrag_pipelines.ui import half_sent
from tests import archive

WINDOWS = 3
"""half seconds, in one of which nothing goes on; forty asks take ten times as long"""
GIVEN_UP = 0.2
"""seconds within which work that nobody waits for ends"""
DROPPED = 40
QUESTION = "What did the plumber quote for the boiler of the cabin, and who has the key of the sleds?"


@dataclass
class Served:
    """A server that runs."""

    port: int
    token: str
    process: int

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def post(self, path: str, question: str) -> bytes:
        name = "question" if path == "ask" else "query"
        body = json.dumps({name: question}).encode()
        head = (
            f"POST /api/v1/{path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def search(self) -> float:
        """Seconds that a search takes."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        begun = time.monotonic()
        client.request("POST", "/api/v1/search", json.dumps({"query": "boiler"}), headers)
        assert json.load(client.getresponse())["hits"]
        client.close()
        return time.monotonic() - begun

    def processor_seconds(self) -> float:
        """That all threads of the server have taken."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server over an archive of some hundred passages, with vectors."""
    folder = tmp_path_factory.mktemp("served")
    config = archive.make(folder, 'embedder = "e5"')
    notes = [
        {"id": f"x{place}", "text": f"The plumber quoted {place} for the boiler of cabin {place}. " * 12, "from": "Ota"}
        for place in range(150)
    ]
    archive.write_notes(folder, *notes)
    archive.first_sync(config)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    relrag = str(Path(sys.executable).with_name("relrag"))
    place = {**os.environ, "RELRAG_CONFIG": str(config)}
    token = subprocess.run([relrag, "serve", "--token"], env=place, capture_output=True, text=True, check=True)
    server = subprocess.Popen([relrag, "serve", "--port", str(port)], env=place, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        assert "ready" in server.stdout.readline()
        yield Served(port, token.stdout.strip(), server.pid)
    finally:
        server.terminate()
        server.wait(30)


def until(is_so: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _processor_seconds_within(served: Served, seconds: float) -> float:
    before = served.processor_seconds()
    time.sleep(seconds)
    return served.processor_seconds() - before


@pytest.mark.parametrize("path", ["ask", "search", "explore"])
def test_what_is_asked_by_clients_that_are_gone_ends(served: Served, path: str) -> None:
    usual = min(served.search() for _ in range(5))
    clients = [served.connect() for _ in range(DROPPED)]
    for place, client in enumerate(clients):
        client.sendall(served.post(path, f"{QUESTION} {place}"))
    time.sleep(0.5)
    for client in clients:
        client.close()
    time.sleep(GIVEN_UP)
    # two looks of the idle service at what is published, and the loop; a busy machine may give it no turn at once
    assert any(_processor_seconds_within(served, 0.5) <= 0.1 for _ in range(WINDOWS))
    assert served.search() < 5 * usual + 1


def test_half_sent_requests_end_and_block_nobody(served: Served) -> None:
    whole = served.post("ask", QUESTION)
    parts = [b"", b"GET / HT", whole[:60], whole[: whole.index(b"\r\n\r\n") + 4], whole[:-5]]
    clients = [served.connect() for _ in range(10 * len(parts))]
    begun = time.monotonic()
    for place, client in enumerate(clients):
        client.sendall(parts[place % len(parts)])
    assert served.search() < 5
    drips = clients[2]  # a byte every now and then does not prolong it
    while time.monotonic() - begun < half_sent.SECONDS - 1:
        drips.sendall(b"x")
        time.sleep(1)
    for client in clients:
        client.settimeout(max(0.1, begun + half_sent.SECONDS + 3 - time.monotonic()))
        assert client.recv(100).startswith(b"HTTP/1.1 408 ")
        client.close()
    assert served.search() < 5


def test_a_connection_that_is_used_again_is_not_closed_between_requests(served: Served) -> None:
    with served.connect() as client:
        for _ in range(3):
            client.sendall(served.post("search", "boiler"))
            assert client.recv(4096).startswith(b"HTTP/1.1 200 ")
            client.setblocking(False)
            assert until(lambda: _read_all(client), 5)
            client.setblocking(True)
            time.sleep(1)


def _read_all(client: socket.socket) -> bool:
    try:
        while client.recv(65536):
            pass
    except BlockingIOError:
        time.sleep(0.2)
        try:
            client.recv(65536)
        except BlockingIOError:
            return True
    return False
