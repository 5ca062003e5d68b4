"""What is mirrored of a Gmail account, and how its history is followed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.sources.mail import gmail_server
from relrag_pipelines.sources.remote import FetchError, Mirror, Server
from relrag_pipelines.sources.remote.http_client import HttpClient, Limits
from relrag_pipelines.sources.remote.secrets import SecretError
from tests.cases import cases
from tests.remote_servers import CLIENT, Answer, Gmail, HttpServer, Request, Respond, serve


@pytest.fixture
def account() -> Gmail:
    held = Gmail()
    for number in ("a1", "a2", "a3"):
        held.add(number, mail(number), "INBOX", "Label_7")
    return held


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HttpClient, "_pause", lambda *_: 0.0)


@pytest.fixture
def server(account: Gmail) -> Iterator[HttpServer]:
    with serve(account.respond) as running:
        yield running


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "mirror", lambda path: hashlib.sha256(path.encode()).hexdigest(), ".eml")


def mail(number: str) -> bytes:
    return f"Message-ID: <{number}@x.example>\r\nSubject: {number}\r\n\r\nHello\r\n".encode()


def fetch(server: HttpServer, mirror: Mirror, limits: Limits | None = None, **parts: str) -> None:
    secret = json.dumps({**CLIENT, "token_uri": f"{server.url}/token", **parts})
    gmail_server.fetch(Server(server.url, "", lambda: secret, "the secret"), mirror, limits)


def answer_instead(account: Gmail, path: str, answer: Answer) -> Respond:
    """The account's answers, but this one to requests for a path."""
    return lambda request: answer if request.path.endswith(path) else account.respond(request)


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


@pytest.mark.parametrize("page", [{}, {"messages": []}, {"messages": [{"id": "a1"}]}, {"messages": [{"id": "new"}]}])
def test_a_list_that_lacks_mails_removes_nothing(account: Gmail, mirror: Mirror, page: dict[str, object]) -> None:
    with serve(account.respond) as server:
        fetch(server, mirror)
    account.oldest = 99
    says = "has others that were fetched before; nothing was removed"
    with serve(answer_instead(account, "/messages", Answer(page))) as server, pytest.raises(FetchError, match=says):
        fetch(server, mirror)
    assert mirror.paths() == {"a1.eml", "a2.eml", "a3.eml"}
    with serve(account.respond) as server:
        fetch(server, mirror)
    assert mirror.paths() == {"a1.eml", "a2.eml", "a3.eml"}


@pytest.mark.parametrize("lost", [{"a2.eml"}, {"a1.eml", "a2.eml", "a3.eml"}])
def test_files_that_are_missing_are_fetched_again(server: HttpServer, mirror: Mirror, lost: set[str]) -> None:
    fetch(server, mirror)
    for path in lost:
        (mirror.items / path).unlink()
    server.requests.clear()
    fetch(server, mirror)
    assert (mirror.paths(), bodies(server)) == ({"a1.eml", "a2.eml", "a3.eml"}, len(lost))
    server.requests.clear()
    fetch(server, mirror)
    assert not any(request.path.endswith("/messages") for request in server.requests)


def test_an_empty_file_is_fetched_again(server: HttpServer, mirror: Mirror) -> None:
    fetch(server, mirror)
    (mirror.items / "a2.eml").write_bytes(b"")
    fetch(server, mirror)
    assert mirror.read("a2.eml").endswith(mail("a2"))


def test_what_is_no_longer_forgotten_is_fetched_again(server: HttpServer, mirror: Mirror) -> None:
    fetch(server, mirror)
    mirror.withhold({"a2.eml"})
    fetch(server, mirror)
    mirror.release()
    fetch(server, mirror)
    assert mirror.paths() == {"a1.eml", "a2.eml", "a3.eml"}


@pytest.mark.parametrize(*cases(__file__, "an_odd_answer_is_a_clear_error"))
def test_an_odd_answer_is_a_clear_error(account: Gmail, mirror: Mirror, path: str, body: object) -> None:
    says = r"127\.0\.0\.1|an id of a mail that Gmail does not give"
    with serve(answer_instead(account, path, Answer(body))) as server, pytest.raises(FetchError, match=says):
        fetch(server, mirror)
    with serve(account.respond) as server:
        fetch(server, mirror)
    assert mirror.paths() == {"a1.eml", "a2.eml", "a3.eml"}


@pytest.mark.parametrize("raw", [{}, {"raw": None}, {"raw": 5}, {"raw": ""}, {"raw": "a"}])
def test_a_mail_without_content_is_a_failure(account: Gmail, mirror: Mirror, raw: dict[str, object]) -> None:
    with serve(answer_instead(account, "/messages/a2", Answer({"id": "a2", **raw}))) as server:
        fetch(server, mirror)
    assert mirror.paths() == {"a1.eml", "a3.eml"}
    assert "came without its content" in mirror.omissions["a2.eml"].message
    with serve(account.respond) as server:
        fetch(server, mirror)
    assert (mirror.paths(), mirror.omissions) == ({"a1.eml", "a2.eml", "a3.eml"}, {})


def test_a_mail_that_is_too_large_is_a_failure(server: HttpServer, mirror: Mirror, account: Gmail) -> None:
    account.mails["a2"] = mail("a2") + b"x" * 9000
    fetch(server, mirror, Limits(json_bytes=5000))
    assert mirror.paths() == {"a1.eml", "a3.eml"}
    assert "takes more than 5,000 bytes" in mirror.omissions["a2.eml"].message
    fetch(server, mirror, Limits(json_bytes=5000))
    assert bodies(server) == 3
    account.oldest = 99
    fetch(server, mirror)
    assert (len(mirror.paths()), mirror.omissions) == (3, {})


@pytest.mark.parametrize(
    ("faults", "says"),
    [
        ([Answer(status=401)] * 2, "does not accept the secret (401)"),
        ([Answer(status=429, headers={"Retry-After": "9000"})], "asks to wait 9,000 s"),
        ([Answer(status=429, headers={"Retry-After": "0"})] * 9, "answered 429"),
        ([Answer(status=500)] * 9, "answered 500"),
        ([Answer(b'{"labels": [', cut=5)] * 9, "broke off its answer"),
        ([Answer(b"<html>")] * 9, "not JSON"),
        ([Answer(b"[" * 100_000)] * 9, "not JSON"),
        ([Answer(status=302, headers={"Location": "http://evil.invalid/"})], "to another address, http://evil.invalid"),
        ([Answer({}, stall=0.4)] * 9, "did not answer within 0.1 s"),
    ],
)
def test_a_fetch_that_fails_is_continued(account: Gmail, mirror: Mirror, faults: list[Answer], says: str) -> None:
    remaining = list(faults)

    def respond(request: Request) -> Answer:
        if request.path.endswith("/messages/a2") and remaining:
            return remaining.pop(0)
        return account.respond(request)

    with serve(respond) as server:
        with pytest.raises(FetchError) as raised:
            fetch(server, mirror, Limits(silence=0.1))
        assert says in str(raised.value)
        assert "access-" not in str(raised.value)
        assert mirror.paths() == {"a1.eml"}
        remaining.clear()
        fetch(server, mirror)
    assert mirror.paths() == {"a1.eml", "a2.eml", "a3.eml"}


def test_no_token_is_sent_in_clear_over_a_network(mirror: Mirror) -> None:
    secret = json.dumps(CLIENT)
    with pytest.raises(FetchError, match=r"nothing was sent; write https://mail\.example\.org"):
        gmail_server.fetch(Server("http://mail.example.org", "", lambda: secret, "the secret"), mirror)
    secret = json.dumps({**CLIENT, "token_uri": "http://tokens.example.org/token"})
    with serve(lambda request: Answer({})) as server, pytest.raises(FetchError, match=r"https://tokens\.example\.org"):
        gmail_server.fetch(Server(server.url, "", lambda: secret, "the secret"), mirror)
