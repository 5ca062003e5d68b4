"""What is mirrored of a Gmail account, and how its history is followed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.sources.mail import gmail_server
from relrag_pipelines.sources.remote import FetchError, Mirror, Server
from relrag_pipelines.sources.remote.http_client import HttpClient
from relrag_pipelines.sources.remote.secrets import SecretError
from tests.remote_servers import CLIENT, Answer, Gmail, HttpServer, serve


@pytest.fixture
def account() -> Gmail:
    held = Gmail()
    for number in ("a1", "a2", "a3"):
        held.add(number, mail(number), "INBOX", "Label_7")
    return held


@pytest.fixture
def server(account: Gmail, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    monkeypatch.setattr(HttpClient, "sleep", staticmethod(lambda seconds: None))
    with serve(account.respond) as running:
        yield running


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "mirror", lambda path: hashlib.sha256(path.encode()).hexdigest(), ".eml")


def mail(number: str) -> bytes:
    return f"Message-ID: <{number}@x.example>\r\nSubject: {number}\r\n\r\nHello\r\n".encode()


def fetch(server: HttpServer, mirror: Mirror, **parts: str) -> None:
    secret = json.dumps({**CLIENT, "token_uri": f"{server.url}/token", **parts})
    gmail_server.fetch(Server(server.url, "", lambda: secret, "the secret"), mirror)


def bodies(server: HttpServer) -> int:
    return sum(request.query.get("format") == "raw" for request in server.requests)


def test_all_mails_are_mirrored_with_labels_and_threads(server: HttpServer, mirror: Mirror) -> None:
    fetch(server, mirror)
    assert mirror.paths() == {"a1.eml", "a2.eml", "a3.eml"}
    head = b'X-GM-THRID: %d\r\nX-Gmail-Labels: Inbox,"House, garden"\r\n' % 0x18FA1
    assert mirror.read("a1.eml") == head + mail("a1")


def test_the_history_is_followed(server: HttpServer, mirror: Mirror, account: Gmail) -> None:
    fetch(server, mirror)
    account.add("a4", mail("a4"), "SENT")
    account.delete("a1")
    account.relabel("a2", "TRASH")
    server.requests.clear()
    fetch(server, mirror)
    assert mirror.paths() == {"a2.eml", "a3.eml", "a4.eml"}
    assert mirror.read("a2.eml").startswith(b"X-GM-THRID: 102306\r\nX-Gmail-Labels: Trash\r\nMessage-ID")
    assert bodies(server) == 1
    assert not any(request.path.endswith("/messages") for request in server.requests)


def test_a_lapsed_history_lists_all_again(server: HttpServer, mirror: Mirror, account: Gmail) -> None:
    fetch(server, mirror)
    account.delete("a3")
    account.add("a5", mail("a5"))
    account.relabel("a1", "STARRED")
    account.oldest = 99
    server.requests.clear()
    fetch(server, mirror)
    assert mirror.paths() == {"a1.eml", "a2.eml", "a5.eml"}
    assert b"Labels: Starred" in mirror.read("a1.eml")
    assert bodies(server) == 1, "contents are not fetched again"
    account.oldest = 0
    server.requests.clear()
    fetch(server, mirror)
    assert bodies(server) == 0


def test_an_interrupted_list_continues_and_misses_nothing(server: HttpServer, mirror: Mirror, account: Gmail) -> None:
    real, limit = account._mail, 2

    def break_down(*told: object) -> Answer:
        nonlocal limit
        limit -= 1
        return real(*told) if limit >= 0 else Answer(status=500)  # type: ignore[arg-type]

    account._mail = break_down  # type: ignore[method-assign,assignment]
    with pytest.raises(FetchError, match="answered 500"):
        fetch(server, mirror)
    assert mirror.paths() == {"a1.eml", "a2.eml"}
    account._mail = real  # type: ignore[method-assign]
    account.relabel("a1", "STARRED")
    account.delete("a2")
    server.requests.clear()
    fetch(server, mirror)
    assert (mirror.paths(), bodies(server)) == ({"a1.eml", "a3.eml"}, 1)
    fetch(server, mirror)
    assert b"Labels: Starred" in mirror.read("a1.eml"), "told by the history from before the list"


def test_a_token_that_ended_is_renewed(server: HttpServer, mirror: Mirror, account: Gmail) -> None:
    server.faults = [Answer({"access_token": "stale", "expires_in": 0})]
    fetch(server, mirror)
    assert len(mirror.paths()) == 3


def test_a_withdrawn_grant_says_what_to_do(server: HttpServer, mirror: Mirror, account: Gmail) -> None:
    account.withdrawn = True
    with pytest.raises(SecretError, match="does not accept the refresh token") as raised:
        fetch(server, mirror)
    assert not [secret for secret in CLIENT.values() if secret in str(raised.value)]
    assert mirror.paths() == set()


@pytest.mark.parametrize(
    "secret", ["", "password", "[]", '{"client_id": "x"}', '{"client_id": 1, "refresh_token": ""}']
)
def test_a_secret_that_is_none(server: HttpServer, mirror: Mirror, secret: str) -> None:
    with pytest.raises(SecretError, match="the secret of Gmail lacks"):
        gmail_server.fetch(Server(server.url, "", lambda: secret, "the secret"), mirror)


def test_what_is_forgotten_is_left_out(server: HttpServer, mirror: Mirror, account: Gmail) -> None:
    fetch(server, mirror)
    mirror.withhold({"a2.eml"})
    account.relabel("a2", "STARRED")
    fetch(server, mirror)
    account.oldest = 99
    fetch(server, mirror)
    assert mirror.paths() == {"a1.eml", "a3.eml"}
