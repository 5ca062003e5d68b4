"""deploy/team.yaml: what can be checked without containers."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from relrag_pipelines import settings as settings_module
from tests.conftest import ROOT

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
