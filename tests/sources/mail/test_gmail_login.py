"""The login to Gmail: consent in a browser, a redirect to this machine, and a code for a refresh token."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from relrag_pipelines.settings import SettingsError
from relrag_pipelines.sources.mail.gmail_login import LoginError, log_in, parse_client
from relrag_query.cli.commands.login import login
from tests.remote_servers import Answer, Request, serve

CLIENT = {"client_id": "id-1", "client_secret": "secret-1"}


def browser(answer: dict[str, str], asked: dict[str, str], wrong_first: bool = False) -> Callable[[str], None]:
    """What opens the address, and is sent on to this machine with `answer`."""

    def show(address: str) -> None:
        asked.update({name: values[0] for name, values in parse_qs(urlsplit(address).query).items()})
        given = {"state": asked["state"], **answer}
        pages = [{**given, "state": "forged", "code": "evil"}] if wrong_first else []
        threading.Thread(target=lambda: [open_page(asked["redirect_uri"], page) for page in [*pages, given]]).start()

    return show


def open_page(address: str, given: dict[str, str]) -> None:
    query = "&".join(f"{name}={value}" for name, value in given.items())
    try:
        urllib.request.urlopen(f"{address}?{query}", timeout=10).close()  # noqa: S310  an address of this machine
    except urllib.error.HTTPError as error:
        assert error.code == 400


def test_a_code_becomes_a_secret() -> None:
    asked: dict[str, str] = {}
    with serve(lambda request: Answer({"refresh_token": "r-9", "access_token": "a"})) as tokens:
        client = {**CLIENT, "auth_uri": "https://accounts.example/auth", "token_uri": f"{tokens.url}/token"}
        secret = json.loads(log_in(client, browser({"code": "c-5"}, asked, wrong_first=True), 20))
    assert secret == {**CLIENT, "token_uri": f"{tokens.url}/token", "refresh_token": "r-9"}
    (request,) = tokens.requests
    assert (request.form["code"], request.form["redirect_uri"]) == ("c-5", asked["redirect_uri"])
    digest = hashlib.sha256(request.form["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == asked["code_challenge"]
    assert (asked["scope"], asked["access_type"]) == ("https://www.googleapis.com/auth/gmail.readonly", "offline")


@pytest.mark.parametrize(
    ("given", "answer", "says"),
    [
        ({"error": "access_denied"}, Answer({}), "consent was refused"),
        ({"code": "c"}, Answer({"access_token": "a"}), "gave no refresh token"),
        ({"code": "c"}, Answer({"error": "invalid_grant"}, 400), "answered 400"),
    ],
)
def test_a_login_that_fails(given: dict[str, str], answer: Answer, says: str) -> None:
    def respond(_: Request) -> Answer:
        return answer

    with serve(respond) as tokens, pytest.raises(LoginError, match=says) as raised:
        client = {**CLIENT, "auth_uri": "https://accounts.example/auth", "token_uri": f"{tokens.url}/token"}
        log_in(client, browser(given, {}), 20)
    assert "secret-1" not in str(raised.value)


def test_nobody_consents() -> None:
    client = {**CLIENT, "auth_uri": "https://accounts.example/auth", "token_uri": "http://127.0.0.1:9/token"}
    with pytest.raises(LoginError, match="nobody consented within 0"):
        log_in(client, lambda address: None, 0.1)


@pytest.mark.parametrize("text", ["", "{}", '{"web": {"client_id": "x"}}', '{"installed": {"client_id": "x"}}'])
def test_a_file_that_is_no_client(text: str) -> None:
    with pytest.raises(LoginError, match="an OAuth client of type desktop app"):
        parse_client(text)


def test_a_source_without_the_api(tmp_path: Path) -> None:
    (tmp_path / "relrag.toml").write_text('[[sources]]\nname = "mail"\nkind = "gmail"\npath = "mail"\n')
    with pytest.raises(SettingsError, match="needs no login; that is for kind gmail"):
        login("mail", tmp_path / "client.json", tmp_path / "relrag.toml")
