"""Two people with an archive of one and a shared one, behind a proxy that authenticates, over Unix sockets.

The proxy of these tests does what docs/deploy.md asks of one: it knows people by their session, drops a header of the
name that comes from outside, says who asks, and hands everything on.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette

from relrag_pipelines import settings as settings_module
from relrag_query.service import Service
from relrag_query.web import team
from tests import archive
from tests.web.team_archive import ACME, GLOBEX, make, of

HEADER = "X-Forwarded-Email"
SESSIONS = {"session=d": "dana@example.org", "session=o": "Ota@Example.org", "session=m": "mallory@example.org"}
OWN = """
web_public_url = "https://memory.example.org"
"""


class Proxy(BaseHTTPRequestHandler):
    """Hands requests of people it knows on to one socket."""

    upstream: Path

    def do_GET(self) -> None:
        email = SESSIONS.get(self.headers.get("Cookie", ""))
        if email is None:
            self.send_error(401)
            return
        passed = {name: value for name, value in self.headers.items() if name.lower() != HEADER.lower()}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = HTTPConnection("memory.example.org", timeout=60)
        asked.sock = socket.socket(socket.AF_UNIX)
        asked.sock.connect(str(self.upstream))
        asked.request(self.command, self.path, body, {**passed, "Host": "memory.example.org", HEADER: email})
        answer = asked.getresponse()
        said = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)
        asked.close()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serve(app: Starlette, listening: socket.socket) -> Iterator[None]:
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def proxied(config: Path, folder: Path) -> Iterator[str]:
    """The address of a proxy before the server of an archive."""
    settings, path = settings_module.load(config), folder / f"{config.parent.name}.sock"
    handler = type("ProxyOfOne", (Proxy,), {"upstream": path})
    with ExitStack() as held:
        app = held.enter_context(team.team_app(settings, lambda clients: Service(settings, None, config, clients)))
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(path))
        held.enter_context(serve(app, listening))
        before = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=before.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        held.callback(before.server_close)
        held.callback(before.shutdown)
        yield f"http://127.0.0.1:{before.server_port}"


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The addresses of the archive of Dana alone, and of the one that both share."""
    folder = tmp_path_factory.mktemp("sockets")
    (folder / "danas").mkdir()
    danas = archive.make(folder / "danas", OWN)
    danas.write_text(danas.read_text() + '\n[web_users]\n"dana@example.org" = ["*"]\n')
    archive.sync(danas)
    shared = make(folder / "shared", [*of("acme", ACME), *of("globex", GLOBEX)])
    with proxied(shared, folder) as of_both, proxied(danas, folder) as of_one:
        yield {"shared": of_both, "danas": of_one}


def asked(address: str, path: str, cookie: str = "", **headers: str) -> httpx2.Response:
    return httpx2.get(f"{address}{path}", headers={"cookie": cookie, **headers}, timeout=60)


def test_each_is_let_into_what_is_theirs(archives: dict[str, str]) -> None:
    statuses = {
        (name, cookie): asked(address, "/search?q=turbine", cookie).status_code
        for name, address in archives.items()
        for cookie in ("session=d", "session=o", "session=m", "session=x", "")
    }
    assert statuses == {
        ("shared", "session=d"): 200, ("shared", "session=o"): 200, ("shared", "session=m"): 403,
        ("shared", "session=x"): 401, ("shared", ""): 401,
        ("danas", "session=d"): 200, ("danas", "session=o"): 403, ("danas", "session=m"): 403,
        ("danas", "session=x"): 401, ("danas", ""): 401,
    }  # fmt: skip


def test_nobody_says_that_he_is_another(archives: dict[str, str]) -> None:
    """Neither by the header from outside, nor by a token or a cookie of a server on a port."""
    for forged in ({HEADER: "dana@example.org"}, {HEADER.lower(): "dana@example.org", "authorization": "Bearer x"}):
        said = asked(archives["shared"], "/search?q=zorkmids+dam", "session=o", **forged)
        assert said.status_code == 200
        assert "88000" not in said.text
        assert asked(archives["danas"], "/ask?q=cabin", "session=o", **forged).status_code == 403
    assert "88000 <mark>zorkmids</mark>" in asked(archives["shared"], "/search?q=zorkmids+dam", "session=d").text


def test_one_archive_knows_nothing_of_the_other(archives: dict[str, str]) -> None:
    in_danas = asked(archives["danas"], "/search?q=turbine", "session=d").text
    assert "ordered in Brno" not in in_danas
    assert asked(archives["danas"], "/api/v1/show?ref=jsonl:notes:a1", "session=d").status_code == 404
    assert asked(archives["shared"], "/api/v1/show?ref=jsonl:notes:a1", "session=d").status_code == 200
