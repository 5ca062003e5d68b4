"""The guard before Dagster's own endpoints: which requests are let through to the app that `relrag ui` serves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from dagster import DagsterInstance
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import EmptyWorkspaceTarget
from dagster_webserver.webserver import DagsterWebserver
from starlette.middleware import Middleware
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from relrag_pipelines.ui.guard import Guard, address, sites
from relrag_pipelines.ui.login import Login, ticket
from relrag_pipelines.ui.server import SERVED, Webserver
from tests.cases import cases

KEY = b"k" * 32
OURS = "http://127.0.0.1:3000"
PUBLIC = "https://relrag.example.org"
COOKIE = {"cookie": f"relrag-ui-3000={ticket(KEY, 'session', 86_400)}"}
JSON = {"content-type": "application/json"}
LOGGED_IN = {**COOKIE, **JSON, "origin": OURS, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
NAVIGATION = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
QUERY = "/graphql?query={version}"
BODY = '{"query": "{version}"}'


@pytest.fixture(scope="module")
def webserver() -> Iterator[Webserver]:
    """The web server of an instance without any definitions."""
    with serve(read_only=False) as served:
        yield served


@contextmanager
def serve(*, read_only: bool) -> Iterator[Webserver]:
    with (
        DagsterInstance.local_temp() as instance,
        WorkspaceProcessContext(instance, EmptyWorkspaceTarget(), version="1.13.27", read_only=read_only) as context,
    ):
        guard = Middleware(Guard, sites=sites("127.0.0.1", 3000, PUBLIC), login=Login(KEY), port=3000)
        yield Webserver(context, guard)


@pytest.fixture(scope="module")
def client(webserver: Webserver) -> TestClient:
    return TestClient(webserver.create_asgi_app(), OURS, follow_redirects=False)


def test_a_query_of_our_own_page_is_answered(client: TestClient) -> None:
    answer = client.post("/graphql", headers=LOGGED_IN, content=BODY)
    assert (answer.status_code, answer.json()) == (200, {"data": {"version": "1.13.27"}})
    page = client.get("/runs", headers=COOKIE)
    assert page.status_code == 200
    assert '<div id="root">' in page.text
    assert client.get("/favicon.svg", headers=COOKIE).headers["content-type"].startswith("image/svg")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"cookie": ""}, 401),
        ({"cookie": "relrag-ui-3000=1"}, 401),
        ({"cookie": "relrag-ui-3000=é"}, 401),
        ({"cookie": f"relrag-ui-3000={ticket(b'other', 'session', 86_400)}"}, 401),
        ({"cookie": f"relrag-ui-3000={ticket(KEY, 'session', -1)}"}, 401),
        ({"cookie": f"relrag-ui-3000={ticket(KEY, 'link', 86_400)}"}, 401),  # a link that was never opened
        ({"cookie": f"relrag-ui-3001={ticket(KEY, 'session', 86_400)}"}, 401),  # of a server on another port
        ({"host": "localhost:3000", "origin": "http://localhost:3000"}, 200),
        ({"host": "LOCALHOST:3000", "origin": "http://localhost:3000"}, 200),
        ({"host": "[::1]:3000", "origin": "http://[::1]:3000"}, 200),
        ({"host": "relrag.example.org", "origin": PUBLIC}, 200),
        ({"host": "relrag.example.org:443", "origin": PUBLIC}, 200),
        ({"host": "relrag.example.org", "origin": "http://relrag.example.org"}, 403),  # the page is not encrypted
        ({"host": "relrag.example.org:80", "origin": "http://relrag.example.org"}, 403),
        ({"host": "evil.example:3000", "origin": "http://evil.example:3000"}, 403),  # DNS rebinding
        ({"host": "127.0.0.1:3001"}, 403),
        ({"host": "127.0.0.1"}, 403),
        ({"host": "localhost.:3000"}, 403),
        ({"host": "0.0.0.0:3000"}, 403),
        ({"host": "127.0.0.1:3000, evil.example"}, 403),
        ({"host": ""}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:3001"}, 403),  # the same site, so the cookie comes along
        ({"origin": "https://127.0.0.1:3000"}, 403),
        ({"origin": PUBLIC}, 403),  # ours, but not under this name
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "cross-site", **NAVIGATION}, 403),  # a form
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "text/plain; application/json"}, 415),  # Dagster alone would take it for JSON
        ({"content-type": "application/graphql"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({"content-type": "Application/JSON"}, 415),  # Dagster would look for the query in the address
        ({"content-type": "application/json; charset=utf-8"}, 200),
    ],
)
def test_a_query_has_to_be_ours(client: TestClient, headers: dict[str, str], status: int) -> None:
    latin = {name: value.encode("latin-1") for name, value in {**LOGGED_IN, **headers}.items()}
    answer = client.post("/graphql", headers=latin, content=BODY)
    assert answer.status_code == status
    assert ("1.13.27" in answer.text) == (status == 200)


def test_browsers_that_send_no_hints_are_held_to_the_rest(client: TestClient) -> None:
    """Old ones, and those that reach us by plain HTTP over a network."""
    assert client.post("/graphql", headers={**COOKIE, **JSON}, content=BODY).status_code == 200
    assert client.post(QUERY, headers=COOKIE).status_code == 415


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", QUERY, 405),
        ("HEAD", QUERY, 405),
        ("OPTIONS", "/graphql", 415),
        ("PUT", "/graphql", 405),
        ("GET", "/graphql", 405),
        ("GET", "/%67raphql?query={version}", 405),  # decoded before it is looked at
        # these are no endpoint: the page is shown, which says that there is nothing
        ("GET", "//graphql?query={version}", 200),
        ("GET", "/graphql/?query={version}", 200),
        ("GET", "/GRAPHQL?query={version}", 200),
        ("GET", "/x/../graphql?query={version}", 405),
        ("POST", "//graphql", 405),
        ("POST", "/graphql/", 405),
        ("POST", "/GRAPHQL", 405),
        ("POST", "/graphql%2f", 405),
        ("POST", "/", 405),
        ("DELETE", "/runs", 405),
        ("GET", "/dagit_info", 404),
        ("GET", "/logs/a/b.out", 404),
        ("GET", "/notebook?path=/tmp/a.ipynb&repoLocName=x", 404),
        ("GET", "/dagit/notebook?path=/tmp/a.ipynb&repoLocName=x", 404),
        ("POST", "/report_asset_materialization/a", 404),
        ("POST", "/report_asset_check/a", 404),
        ("POST", "/report_asset_observation/a", 404),
        ("GET", "/server_info", 200),
        ("GET", "/robots.txt", 200),
    ],
)
def test_endpoints(client: TestClient, method: str, path: str, status: int) -> None:
    """Whoever is logged in has these; nobody else has anything but versions."""
    headers = {**LOGGED_IN, "content-type": "application/json" if method != "OPTIONS" else "text/plain"}
    answer = client.request(method, path, headers=headers, content=BODY if method == "POST" else None)
    assert answer.status_code == status
    assert '"version"' not in answer.text
    without = {name: value for name, value in headers.items() if name != "cookie"}
    assert client.request(method, path, headers=without).status_code == (200 if path == "/server_info" else 401)


def test_every_endpoint_of_dagster_was_decided_on(webserver: Webserver) -> None:
    """Fails where a later version brings another one; until then it is not served."""
    routes = DagsterWebserver.build_routes(webserver)  # type: ignore[no-untyped-call]
    endpoints = {route.path for route in routes if not (route.name or "").endswith("_static")}
    refused = {"/dagit_info", "/logs/{path:path}", "/notebook", "/dagit/notebook"}
    reports = {f"/report_asset_{what}/{{asset_key:path}}" for what in ("materialization", "check", "observation")}
    assert endpoints == {"/graphql"} | SERVED | refused | reports
    assert all(isinstance(route, Route | Mount | WebSocketRoute) for route in routes)


def test_health_checks_need_no_login_but_our_name(client: TestClient) -> None:
    assert client.get("/server_info").json()["dagster_version"] == "1.13.27"
    assert client.get("/server_info", headers={"host": "evil.example:3000"}).status_code == 403
    assert client.get("/server_info", headers={"origin": "http://evil.example"}).status_code == 403
    assert client.post("/server_info").status_code == 401


@pytest.mark.parametrize(*cases(__file__, "a_websocket_has_to_be_ours"))
def test_a_websocket_has_to_be_ours(client: TestClient, headers: dict[str, str | None]) -> None:
    """It is closed before it is accepted."""
    sent = {**COOKIE, "origin": OURS, "host": "127.0.0.1:3000"}
    given = {name: value for name, value in {**sent, **headers}.items() if value is not None}
    with pytest.raises(WebSocketDisconnect) as closed, client.websocket_connect("/graphql", headers=given):
        pass
    assert closed.value.code == 1008


def test_our_own_websocket_is_accepted(client: TestClient) -> None:
    headers = {**COOKIE, "origin": OURS, "host": "127.0.0.1:3000"}
    with client.websocket_connect("/graphql", ["graphql-ws"], headers=headers) as socket:
        socket.send_json({"type": "connection_init"})
        assert socket.receive_json() == {"type": "connection_ack"}


def test_a_link_logs_in_once(client: TestClient) -> None:
    token = ticket(KEY, "link", 60)
    assert client.head(f"/login?token={token}").status_code == 405  # a preview does not use it up
    entered = client.get(f"/login?token={token}")
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    name, _, rest = entered.headers["set-cookie"].partition("=")
    session, *attributes = rest.split("; ")
    assert name == "relrag-ui-3000"
    assert {one.lower() for one in attributes} == {"httponly", "path=/", "samesite=strict", "max-age=2592000"}
    client.cookies.clear()
    assert client.get("/", headers={"cookie": f"{name}={session}"}).status_code == 200
    again = client.get(f"/login?token={token}")
    assert again.status_code == 401
    assert "relrag ui --login" in again.text
    assert "set-cookie" not in again.headers
    # who is logged in already is not sent away
    known = client.get(f"/login?token={token}", headers=COOKIE)
    assert (known.status_code, known.headers["location"]) == (303, "/")


@pytest.mark.parametrize(
    "token",
    ["", "1", "a.b.c", "é", ticket(b"other", "link", 86_400), ticket(KEY, "session", 86_400), ticket(KEY, "link", -1)],
    ids=["empty", "a number", "three parts", "not ASCII", "another key", "a session", "too old"],
)
def test_another_token_does_not(client: TestClient, token: str) -> None:
    answer = client.get("/login", params={"token": token})
    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)


def test_a_changed_token_does_not(client: TestClient) -> None:
    end, random, signature = ticket(KEY, "link", 60).split(".")
    for token in (f"{int(end) + 1}.{random}.{signature}", f"{end}.{random}x.{signature}", f"{end}.{random}.", random):
        assert client.get("/login", params={"token": token}).status_code == 401


def test_the_cookie_is_for_encrypted_pages_where_ours_are(client: TestClient) -> None:
    headers = {"host": "relrag.example.org"}
    entered = client.get("/login", params={"token": ticket(KEY, "link", 60)}, headers=headers)
    client.cookies.clear()
    assert "; Secure" in entered.headers["set-cookie"]


def test_a_link_from_elsewhere_opens_a_page_that_leads_on(client: TestClient) -> None:
    """One on this machine brings the cookie along, one of another site does not: neither opens anything."""
    for where in ("same-site", "cross-site"):
        for path in ("/runs", QUERY, "/download_debug/x"):
            answer = client.get(path, headers={**COOKIE, "sec-fetch-site": where, **NAVIGATION})
            assert answer.status_code == 403
            assert '<a href="/">Continue to the UI</a>' in answer.text
        # such as that of a terminal in a browser
        sent = {"sec-fetch-site": where, **NAVIGATION}
        assert client.get("/login", params={"token": ticket(KEY, "link", 60)}, headers=sent).status_code == 303
        client.cookies.clear()


@pytest.mark.parametrize("path", ["/", "/nothing", "/login", "/graphql", "/server_info", "/_next/none.js"])
@pytest.mark.parametrize("headers", [{}, COOKIE, {"host": "evil.example"}, {"origin": "null"}])
def test_no_answer_goes_without_these(client: TestClient, path: str, headers: dict[str, str]) -> None:
    answer = client.get(path, headers=headers).headers
    assert answer["x-frame-options"] == "DENY"
    assert answer["x-content-type-options"] == "nosniff"
    assert answer["referrer-policy"] == "same-origin"
    assert answer.get_list("content-security-policy")[-1].startswith("frame-ancestors 'none'; ")
    assert "access-control-allow-origin" not in answer
    assert ("no-store" in answer.get("cache-control", "")) == (not path.startswith("/_next/"))


def test_read_only_is_guarded_and_read_only() -> None:
    permissions = '{"query": "{permissions {permission value}}"}'
    with serve(read_only=True) as served, TestClient(served.create_asgi_app(), OURS) as client:
        assert client.post("/graphql", headers=JSON, content=permissions).status_code == 401
        found = client.post("/graphql", headers=LOGGED_IN, content=permissions).json()["data"]["permissions"]
    assert {"launch_pipeline_execution", "wipe_assets", "delete_pipeline_run"} <= {one["permission"] for one in found}
    assert not any(one["value"] for one in found)


@pytest.mark.parametrize(*cases(__file__, "names"))
def test_names(arguments: tuple[str, int, str], expected: dict[str, str]) -> None:
    found = sites(*arguments)
    assert expected.items() <= found.items()
    assert not {name for name in found if name.startswith(("0.0.0.0", "[::]"))}
    assert "http://localhost" in found["localhost:80" if arguments[1] == 80 else "localhost:3000"]


def test_where_it_is_reached() -> None:
    assert [address(host, 1) for host in ("127.0.0.1", "0.0.0.0", "::", "::1", "attic")] == [
        "http://127.0.0.1:1",
        "http://127.0.0.1:1",
        "http://127.0.0.1:1",
        "http://[::1]:1",
        "http://attic:1",
    ]
