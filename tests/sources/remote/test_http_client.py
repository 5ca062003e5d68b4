"""What the client does when a server refuses, breaks off, stalls, or sends it elsewhere."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from relrag_pipelines.sources.remote import FetchError
from relrag_pipelines.sources.remote.http_client import HttpClient, Limits, UnexpectedStatusError
from tests.remote_servers import Answer, HttpServer, serve

SECRET = "secret-5d1b"


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with serve(lambda request: Answer({"path": request.path})) as running:
        yield running


def client(server: HttpServer, **limits: float) -> tuple[HttpClient, list[float]]:
    """A client, and the pauses that it makes, which take no time here."""
    pauses: list[float] = []
    bounds = Limits(**{"first_pause": 2.0, "tries": 4, **limits})  # type: ignore[arg-type]
    made = HttpClient(server.url, lambda: {"Authorization": SECRET}, "the secret", bounds, sleep=pauses.append)
    return made, pauses


def http_date(seconds: int) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("fault", "shortest", "longest"),
    [
        (Answer(status=429, headers={"Retry-After": "7"}), 7, 7),
        (Answer(status=503, headers={"Retry-After": "0"}), 0, 0),
        (Answer(status=429, headers={"Retry-After": "soon"}), 1, 2),
        (Answer(status=500), 1, 2),
        (Answer(status=502), 1, 2),
        (Answer(b'{"path": "cut off"}', cut=8), 1, 2),
        (Answer(b"<html>proxy error</html>"), 1, 2),
    ],
)
def test_a_passing_fault_is_waited_out(server: HttpServer, fault: Answer, shortest: float, longest: float) -> None:
    made, pauses = client(server)
    server.faults = [fault]
    assert made.get_json("api/things") == {"path": "/api/things"}
    (pause,) = pauses
    assert shortest <= pause <= longest


def test_a_date_is_waited_for(server: HttpServer) -> None:
    made, pauses = client(server)
    server.faults = [Answer(status=429, headers={"Retry-After": http_date(100)})]
    assert made.get_json("api/things") == {"path": "/api/things"}
    assert 60 <= pauses[0] <= 100


def test_pauses_double_and_the_error_says_what_was_found(server: HttpServer) -> None:
    made, pauses = client(server)
    server.faults = [Answer(status=500)] * 4
    with pytest.raises(FetchError, match=r"answered 500 \(api/things, 4 times\); what was fetched is kept") as raised:
        made.get_json("api/things", {"q": "private"})
    assert [round(pause) for pause in pauses] == sorted(round(pause) for pause in pauses)
    assert all(low <= pause <= 2 * low for low, pause in zip((1, 2, 4), pauses, strict=True))
    assert SECRET not in str(raised.value)
    assert "private" not in str(raised.value)


@pytest.mark.parametrize(
    ("status", "says", "requests"),
    [(401, "check the secret", 2), (403, "check its permissions", 1), (404, "check url in relrag.toml", 1)],
)
def test_a_refusal_is_not_repeated(server: HttpServer, status: int, says: str, requests: int) -> None:
    made, pauses = client(server)
    server.faults = [Answer(SECRET.encode(), status=status)] * 3
    with pytest.raises(UnexpectedStatusError, match=says) as raised:
        made.get_json("api/things")
    assert (len(server.requests), pauses) == (requests, [])
    assert SECRET not in str(raised.value)


def test_a_redirect_on_the_same_host_is_followed(server: HttpServer) -> None:
    made, _ = client(server)
    server.faults = [Answer(status=301, headers={"Location": "/other"})]
    assert made.get_json("api/things") == {"path": "/other"}


@pytest.mark.parametrize("target", ["http://elsewhere.invalid/", "https://127.0.0.1/", "//elsewhere.invalid:1/x"])
def test_a_redirect_to_another_host_is_refused(server: HttpServer, target: str) -> None:
    made, _ = client(server)
    server.faults = [Answer(status=302, headers={"Location": target})]
    with pytest.raises(FetchError, match="to another address"):
        made.get_json("api/things")
    assert len(server.requests) == 1


def test_a_redirect_to_another_port_gets_no_secret(server: HttpServer) -> None:
    made, _ = client(server)
    with serve(lambda request: Answer({})) as other:
        server.faults = [Answer(status=307, headers={"Location": f"{other.url}/x"})]
        with pytest.raises(FetchError, match="to another address"):
            made.get_json("api/things")
        assert other.requests == []


def test_endless_redirects_end(server: HttpServer) -> None:
    made, _ = client(server)
    server.faults = [Answer(status=302, headers={"Location": "/again"})] * 9
    with pytest.raises(FetchError, match="redirects without end"):
        made.get_json("api/things")


def test_a_stall_is_bounded(server: HttpServer) -> None:
    made, pauses = client(server, silence=0.1, tries=2)
    server.faults = [Answer({}, stall=0.5)] * 2
    with pytest.raises(FetchError, match=r"did not answer within 0\.1 s"):
        made.get_json("api/things")
    assert len(pauses) == 1


def test_a_body_has_a_largest_size(server: HttpServer) -> None:
    made, _ = client(server, json_bytes=10)
    with pytest.raises(FetchError, match="more than 10 bytes"):
        made.get_json("api/things")


def test_requests_have_a_budget(server: HttpServer) -> None:
    made, _ = client(server, requests=2)
    made.get_json("a")
    made.get_json("b")
    with pytest.raises(FetchError, match="was sent 2 requests"):
        made.get_json("c")


def test_a_long_wait_is_left_to_the_next_sync(server: HttpServer) -> None:
    made, pauses = client(server)
    server.faults = [Answer(status=429, headers={"Retry-After": "3600"})]
    with pytest.raises(FetchError, match="asks to wait 3,600 s"):
        made.get_json("api/things")
    assert pauses == []


def test_nobody_listens() -> None:
    made = HttpClient("http://127.0.0.1:9", dict, "the secret", Limits(tries=2), sleep=lambda seconds: None)
    with pytest.raises(FetchError, match=r"127\.0\.0\.1:9 could not be reached"):
        made.get_json("api/things")


@pytest.mark.parametrize("pause", [0.02, 0.05])
def test_a_server_that_sends_a_byte_at_a_time_is_given_up(pause: float) -> None:
    """Each byte comes in time; together they would take for ever."""

    def dribble(listener: socket.socket) -> None:
        with suppress(OSError), listener.accept()[0] as connection:
            connection.recv(2**16)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while True:
                connection.sendall(b" ")
                time.sleep(pause)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=dribble, args=(listener,), daemon=True).start()
        limits = Limits(tries=1, silence=5.0, duration=0.3)
        made = HttpClient(f"http://127.0.0.1:{listener.getsockname()[1]}", dict, "the secret", limits)
        started = time.monotonic()
        with pytest.raises(FetchError, match=r"took more than 0.3 s"):
            made.get_json("api/things")
        made.close()
        assert time.monotonic() - started < 3
