"""The server of a team: who may ask is said by the proxy alone, and of another client's records nothing shows."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import SettingsError
from relrag_query import statements
from relrag_query.mcp.server import tools
from relrag_query.service import NotServed, Service
from relrag_query.web import team
from relrag_query.web.processes import _MIN_SECONDS
from tests import archive
from tests.web.team_archive import ACME, GLOBEX, SITE, TABLE, make, of
from tests.web_app import client

DANA, OTA, EVA = ({"x-forwarded-email": f"{name}@example.org"} for name in ("dana", "ota", "eva"))
FOREIGN = ("zorkmid", "zelda", "quux", "xylophone", "secret opening", "dam ", "g1", "g2", "g3")
QUESTIONS = (
    "Who paid for the crane?", "When does the turbine arrive?", "xylophones", "What do zorkmids cost?", "INV-5001",
    "Who is Zelda Quux?", "What did Jan Novak order?", "nothing of this is anywhere",
)  # fmt: skip


@contextmanager
def client_of(config: Path) -> Iterator[TestClient]:
    settings = settings_module.load(config)
    with (
        team.team_app(settings, lambda clients: Service(settings, None, config, clients)) as app,
        TestClient(app, SITE, follow_redirects=False, raise_server_exceptions=False) as opened,
    ):
        yield opened


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("team"), [*of("acme", ACME), *of("globex", GLOBEX)])


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without the records of the other."""
    return make(tmp_path_factory.mktemp("alone"), of("acme", ACME))


@pytest.fixture(scope="module")
def both(config: Path) -> Iterator[TestClient]:
    with client_of(config) as opened:
        yield opened


def test_the_proxy_says_who_asks_and_nobody_else(both: TestClient) -> None:
    def status(headers: Any, path: str = "/search?q=turbine") -> int:
        return both.get(path, headers=headers).status_code

    assert [status(one) for one in (DANA, OTA, EVA, {})] == [200, 200, 200, 401]
    assert both.post("/webhooks/notes", json={}).status_code == 401
    assert status({"x-forwarded-email": ""}) == 401
    assert status({"x-forwarded-email": "mallory@example.org"}) == 403
    assert status([(b"x-forwarded-email", b"ota@example.org"), (b"x-forwarded-email", b"dana@example.org")]) == 401
    assert status({**DANA, "host": "evil.example"}) == 403
    assert status({**DANA, "host": "127.0.0.1:3100"}) == 403
    assert status({**DANA, "origin": "http://evil.example"}) == 403
    assert status({**DANA, "sec-fetch-site": "cross-site"}) == 403
    assert status({}, "/login?token=x") == 401
    assert status({"authorization": "Bearer a-token-of-a-test"}, "/api/v1/status") == 401
    assert both.get("/health").status_code == 200
    strangers = {both.get(path, headers={"x-forwarded-email": "m@x.y"}).text for path in ("/", "/record?ref=x", "/no")}
    assert len(strangers) == 1


def test_a_port_believes_no_header(config: Path) -> None:
    with client(config) as opened:
        assert opened.get("/search?q=turbine", headers=DANA).status_code == 401
        assert opened.get("/api/v1/status", headers=DANA).status_code == 401


def same(reply: Any) -> Any:
    """A reply without what differs between two archives that are alike: its generation, weights of words, steps."""
    if isinstance(reply, dict):
        left_out = {"generation", "score", "display_score", "trace", "next_cursor"}
        return {name: same(value) for name, value in reply.items() if name not in left_out}
    return [same(one) for one in reply] if isinstance(reply, list) else reply


def test_who_sees_one_client_is_answered_as_if_there_were_no_other(both: TestClient, alone: Path) -> None:
    """Hits, quotes, closest, what no passage holds, counts of what was searched, neighbours, threads, the graph."""
    asked: list[tuple[str, str, Any]] = [
        *(("POST", "/api/v1/ask", {"question": question}) for question in QUESTIONS),
        *(("POST", "/api/v1/search", {"query": question}) for question in QUESTIONS),
        ("POST", "/api/v1/search", {"limit": 50, "overview": True}),
        ("POST", "/api/v1/search", {"sources": ["notes"], "order": "oldest", "overview": True, "added": "2024"}),
        *(("GET", f"/api/v1/show?ref=jsonl:notes:{note['id']}", None) for note in [*ACME, *GLOBEX]),
        ("GET", "/api/v1/show?ref=thread:mill", None),
        ("GET", "/api/v1/thread?thread_id=mill", None),
        *(("GET", f"/api/v1/neighbors?ref=jsonl:notes:{note['id']}", None) for note in [*ACME, *GLOBEX]),
        ("GET", "/api/v1/neighbors?ref=thread:mill", None),
        *(("GET", f"/api/v1/graph/around?ref=jsonl:notes:{note['id']}", None) for note in [*ACME, *GLOBEX]),
        ("GET", "/api/v1/graph?records=100", None),
        ("POST", "/api/v1/search", {"query": "x", "sources": ["papers"]}),
    ]
    with client_of(alone) as other:
        for method, path, body in asked:
            here, there = (one.request(method, path, json=body, headers=OTA) for one in (both, other))
            assert here.status_code == there.status_code, path
            assert same(here.json()) == same(there.json()), (path, body)


def test_nothing_of_another_client_stands_on_any_page_or_tool(both: TestClient, config: Path) -> None:
    refs = [f"jsonl:notes:{note['id']}" for note in GLOBEX]
    paths = [
        *(f"/{page}?q={word}" for page in ("ask", "search", "ask/stream") for word in ("crane", "turbine", "INV")),
        *("/search?source=notes", "/search?from=2024", "/search?added=2020"),
        *(f"/record?ref={ref}" for ref in [*refs, "thread:mill", "person:1"]),
        "/thread?id=mill", "/graph", "/people", "/person?name=Zelda Quux", "/archive", "/reveal", "/api/v1/status",
        "/api/v1/people", "/api/v1/person?name=Zelda Quux", *(f"/page.png?ref={ref}&page=1" for ref in refs),
    ]  # fmt: skip
    for path in paths:
        said = both.get(path, headers=OTA).text.lower()
        left = [word for word in FOREIGN if word in said.replace(path.lower(), "")]
        assert not [one for one in left if one not in path.lower()], (path, left)
    for_clients = {"search", "ask", "show", "thread", "neighbors"}
    assert _tools(config, ("acme",)) == for_clients
    assert _tools(config, ()) > for_clients


def _tools(config: Path, clients: tuple[str, ...]) -> set[str]:
    settings = settings_module.load(config)
    with Service(settings, None, config, clients) as service:
        return set(tools(service))


def test_what_is_of_another_is_as_if_it_had_never_been(both: TestClient) -> None:
    """404 for both, with the same words."""
    for path in ("/api/v1/show?ref={}", "/record?ref={}", "/api/v1/graph/around?ref={}", "/page.png?page=1&ref={}"):
        theirs, nobodys = (both.get(path.format(ref), headers=OTA) for ref in ("jsonl:notes:g1", "jsonl:notes:zz"))
        assert theirs.status_code == nobodys.status_code == 404
        assert theirs.text.replace("g1", "zz") == nobodys.text


def test_who_sees_both_or_everything_does(both: TestClient) -> None:
    def search(headers: dict[str, str], question: str) -> set[str]:
        hits = both.post("/api/v1/search", json={"query": question, "limit": 50}, headers=headers).json()["hits"]
        return {hit["asset_id"].rpartition(":")[2] for hit in hits}

    assert search(OTA, "turbine crane") == {"a1", "a2", "a3"}
    assert search(EVA, "turbine crane") == {"a1", "a2", "a3", "g1", "g3"}
    assert search(EVA, "cabin boiler") == set()
    assert len(search(DANA, "cabin boiler")) > 0
    assert both.get("/archive", headers=DANA).status_code == 200
    assert both.get("/archive", headers=OTA).status_code == 404
    assert re.findall(r'<a href="(/[a-z]*)"', both.get("/", headers=OTA).text) == ["/", "/search", "/graph"]


def test_what_the_owner_says_of_people_is_for_those_who_see_everything(tmp_path: Path) -> None:
    config = make(tmp_path / "told", of("acme", ACME))
    statements.add_fact("Jan Novak", "occupation", "beekeeper", config=config)
    settings = settings_module.load(config)
    with Service(settings, None, config, ("acme",)) as scoped:
        assert scoped.people().people == []
        assert scoped.explore("beekeeper Jan Novak").edges == []
        assert "beekeeper" not in scoped.ask("What does Jan Novak do?").model_dump_json()
        with pytest.raises(NotServed):
            scoped.status()
        assert not scoped.writes
    with Service(settings, None, config) as whole:
        assert "beekeeper" in whole.person("Jan Novak").model_dump_json()


@pytest.mark.parametrize(
    ("users", "url", "said"),
    [
        ('[web_users]\n"a" = ["acme"]\n"A" = ["*"]', SITE, "stands there twice"),
        ("", SITE, "web_users is empty"),
        (TABLE, "", "web_public_url is not set"),
        ('[web_users]\n"a" = []', SITE, "sees nothing"),
    ],
)
def test_settings_that_let_nobody_in_are_refused(tmp_path: Path, users: str, url: str, said: str) -> None:
    config = archive.make(tmp_path, f'web_public_url = "{url}"' if url else "")
    config.write_text(f"{config.read_text()}\n{users}\n")
    with pytest.raises(SettingsError, match=said):
        team.scopes(settings_module.load(config))


def test_several_processes_answer_on_a_socket_for_owner_and_group(config: Path, tmp_path: Path) -> None:
    path = tmp_path / "web.sock"
    relrag = str(Path(sys.executable).with_name("relrag"))
    asked = ["serve", "--config", str(config), "--socket", str(path), "--processes", "2"]
    server = subprocess.Popen([relrag, *asked], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        assert "3 people of web_users" in server.stdout.readline()
        begun = time.monotonic()
        assert path.stat().st_mode & 0o777 == 0o660
        statuses: list[int] = []

        def ask() -> None:
            statuses.append(_ask(path))

        callers = [threading.Thread(target=ask) for _ in range(8)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert statuses == [200] * 8
        assert not list((settings_module.load(config).home_path).glob("serve-*"))  # nobody needs a link here
        workers = _children(server.pid)
        assert len(workers) == 2
        # one that ends sooner is taken for one that cannot start
        time.sleep(max(0.0, begun + _MIN_SECONDS + 2 - time.monotonic()))
        os.kill(workers[0], signal.SIGKILL)
        _until(lambda: len({*_children(server.pid)} - {*workers}) == 1)
        assert [_ask(path) for _ in range(4)] == [200] * 4
    finally:
        server.terminate()
        assert server.wait(30) == 0
    assert not path.exists()


@pytest.mark.parametrize(("end", "left"), [(signal.SIGHUP, False), (signal.SIGKILL, True)])
def test_the_processes_end_with_the_server(config: Path, tmp_path: Path, end: signal.Signals, left: bool) -> None:
    path = tmp_path / "web.sock"
    relrag = str(Path(sys.executable).with_name("relrag"))
    asked = [relrag, "serve", "--config", str(config), "--socket", str(path), "--processes", "2"]
    server = subprocess.Popen(asked, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    server.stdout.readline()
    _until(lambda: len(_children(server.pid)) == 2)
    workers = _children(server.pid)
    _ask(path)
    server.send_signal(end)
    server.wait(30)
    _until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    assert path.exists() is left


def _children(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children")
    if not listed.exists():
        pytest.skip("this system does not list the children of a process")
    return [int(one) for one in listed.read_text().split()]


def _until(done: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until
        time.sleep(0.1)


def _ask(path: Path) -> int:
    connection = HTTPConnection("memory.example.org", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(60)
    connection.sock.connect(str(path))
    connection.request("GET", "/search?q=turbine", headers=DANA)
    return connection.getresponse().status
