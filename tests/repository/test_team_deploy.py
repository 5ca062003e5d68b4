"""deploy/team.yaml: what can be checked without containers."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from relrag_pipelines import settings as settings_module
from tests import archive
from tests.conftest import ROOT
from tests.end_to_end.test_team_proxy import Proxy
from tests.processes import wait
from tests.web.team_archive import ACME, GLOBEX, TABLE, of

DEPLOY = ROOT / "deploy"
TEXT = (DEPLOY / "team.yaml").read_text()
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(TEXT)["services"]
SITE = "https://memory.example.org"


def given(name: str) -> dict[str, str]:
    said: dict[str, str] = SERVICES[name]["environment"]
    return {key: re.sub(r"\$\{RELRAG_WEB_PUBLIC_URL[^}]*\}", SITE, value) for key, value in said.items()}


def test_the_settings_are_known_and_do_what_is_meant(tmp_path: Path) -> None:
    environ = {key: value for key, value in given("relrag").items() if key != "RELRAG_CONFIG"}
    (tmp_path / "relrag.toml").write_text('archive = "family"\n')
    found = settings_module.load(tmp_path / "relrag.toml", environ)
    assert (found.web_public_url, found.web_identity_header) == (SITE, "X-Forwarded-Email")
    assert (found.home_path, found.keys_path) == (Path("/data/home"), Path("/keys/family.keys"))


def test_the_socket_is_the_only_way_in_and_both_share_it() -> None:
    relrag, proxy = SERVICES["relrag"], SERVICES["proxy"]
    path = relrag["command"][relrag["command"].index("--socket") + 1]
    assert given("proxy")["OAUTH2_PROXY_UPSTREAMS"] == f"unix://{path}"
    assert f"socket:{Path(path).parent}" in set(relrag["volumes"]) & set(proxy["volumes"])
    assert proxy["volumes"] == [f"socket:{Path(path).parent}"], "nothing else of relrag's"
    assert relrag["network_mode"] == "none"
    assert "ports" not in relrag
    assert all(port.startswith("127.0.0.1:") for port in proxy["ports"])
    uid = re.search(r"useradd --uid (\d+)", (DEPLOY / "Dockerfile").read_text())
    assert uid
    assert proxy["group_add"] == [uid[1]]


def test_the_proxy_says_who_asks_and_logs_no_question() -> None:
    said = given("proxy")
    assert said["OAUTH2_PROXY_PASS_USER_HEADERS"] == said["OAUTH2_PROXY_PASS_HOST_HEADER"] == "true"
    assert said["OAUTH2_PROXY_REDIRECT_URL"] == f"{SITE}/oauth2/callback"
    assert said["OAUTH2_PROXY_REQUEST_LOGGING"] == "false"
    assert said["OAUTH2_PROXY_COOKIE_SECURE"] == "true"


def test_no_secret_stands_in_it() -> None:
    asked = set(re.findall(r"\$\{(\w+)", TEXT))
    for key, value in SERVICES["proxy"]["environment"].items():
        if "SECRET" in key:
            assert value.startswith("${"), key
    lines = (DEPLOY / "team.env.example").read_text().splitlines()
    example = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    assert example.keys() == asked
    assert set(example.values()) == {""}
    assert "deploy/*.env" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_its_health_check_asks_over_the_socket(tmp_path: Path, status: int, code: int) -> None:
    seen: list[tuple[str, str | None]] = []

    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers["Host"]))
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    class OnSocket(ThreadingHTTPServer):
        address_family = socket.AF_UNIX

        def server_bind(self) -> None:
            self.socket.bind(self.server_address)

    path = tmp_path / "web.sock"
    server = OnSocket(str(path), Health)  # type: ignore[arg-type]  # the address of such a socket is a path
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    script = SERVICES["relrag"]["healthcheck"]["test"][-1].replace("/run/relrag/web.sock", str(path))
    environ = {**os.environ, "RELRAG_WEB_PUBLIC_URL": SITE}
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, timeout=60)
    server.shutdown()
    server.server_close()
    assert done.returncode == code
    assert seen == [("/health", "memory.example.org")]


def test_its_command_serves_people_behind_a_proxy_and_stops_when_it_is_told_to(tmp_path: Path) -> None:
    """As processes: each folder of its volumes is one of the test's, all else is as the file has it."""
    service = SERVICES["relrag"]
    places = {
        one: str(tmp_path / one.strip("/").replace("/", "-")) for one in ("/archive", "/data", "/keys", "/run/relrag")
    }
    assert {one.split(":")[-1] if one[-3:] != ":ro" else one.split(":")[-2] for one in service["volumes"]} == {*places}
    for place in places.values():
        Path(place).mkdir()

    def placed(said: str) -> str:
        for one, place in places.items():
            said = re.sub(rf"(?<![\w/]){one}(?=/|$|\")", place, said)
        return said

    config = archive.make(Path(places["/archive"]))
    config.write_text(config.read_text() + TABLE)
    notes = [*of("acme", ACME), *of("globex", GLOBEX)]
    archive.write_notes(config.parent, *[{"ts": 1709280000 + 60 * n, **one} for n, one in enumerate(notes)])
    before = sorted(path.name for path in config.parent.iterdir())
    environ = {"PATH": os.environ["PATH"], "HOME": places["/run/relrag"]}
    environ |= {name: placed(value) for name, value in given("relrag").items()}
    command = [str(Path(sys.executable).with_name("relrag")), *map(placed, service["command"][1:])]
    synced = subprocess.run([command[0], "sync"], env=environ, cwd=places["/archive"], capture_output=True, text=True)
    assert synced.returncode == 0, synced.stdout + synced.stderr
    assert (Path(places["/data"]) / "home" / "published" / "current").read_text().strip() == "1"
    assert sorted(path.name for path in config.parent.iterdir()) == before, "the archive is mounted read-only"
    check = [sys.executable, "-c", placed(service["healthcheck"]["test"][-1])]
    server = subprocess.Popen(command, env=environ, cwd=places["/archive"], stderr=subprocess.PIPE, text=True)
    try:
        wait("it is healthy", lambda: subprocess.run(check, env=environ, capture_output=True).returncode == 0, 60)
        upstream = Path(placed(given("proxy")["OAUTH2_PROXY_UPSTREAMS"].removeprefix("unix://")))
        assert (upstream.stat().st_mode & 0o777, upstream.stat().st_gid) == (0o660, os.getgid())
        with before_it(upstream) as address:
            codes = {who: ask(address, "/search?q=turbine", who)[0] for who in ("session=d", "session=m", "")}
            assert codes == {"session=d": 200, "session=m": 403, "": 401}
            assert "88000 <mark>zorkmids</mark>" in ask(address, "/search?q=zorkmids+dam", "session=d")[1]
            assert "88000" not in ask(address, "/search?q=zorkmids+dam", "session=o")[1]
    finally:
        server.terminate()
        said = server.communicate(timeout=10)[1]
    assert server.returncode in (0, -signal.SIGTERM), said
    assert not upstream.exists()
    assert "zorkmids" not in said


@contextmanager
def before_it(upstream: Path) -> Iterator[str]:
    """The address of a proxy that knows people by their session and says who asks."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("ProxyOfOne", (Proxy,), {"upstream": upstream}))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def ask(address: str, path: str, cookie: str) -> tuple[int, str]:
    """Status and text of what is answered to somebody."""
    answer = httpx2.get(f"{address}{path}", headers={"cookie": cookie}, timeout=60)
    return answer.status_code, answer.text
