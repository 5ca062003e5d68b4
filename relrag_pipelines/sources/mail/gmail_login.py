"""Logs in to Gmail once, and makes the secret that fetches use: OAuth for desktop programs, with a loopback redirect.

The owner's browser asks for consent and then opens a page of this machine with a code, which is exchanged for a refresh
token. A random state and a code verifier (PKCE, RFC 7636) tie that page to this login (RFC 8252).
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets as random_secrets
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from relrag_pipelines.errors import SafeError
from relrag_pipelines.sources.mail.gmail_server import SCOPE, TOKEN_URI
from relrag_pipelines.sources.remote import FetchError
from relrag_pipelines.sources.remote.http_client import HttpClient

AUTH_URI = "https://accounts.google.com/o/oauth2/v2/auth"
WAIT_SECONDS = 300
_CLIENT_FORM = "a file of Google's console for an OAuth client of type desktop app"


class LoginError(SafeError):
    """The login did not come to an end; the message says what to do."""


def parse_client(text: str) -> dict[str, str]:
    """The OAuth client in the file from Google's console. Raises LoginError if it has none."""
    try:
        document = json.loads(text)
        client = document["installed"]
        parts = {name: str(client[name]) for name in ("client_id", "client_secret")}
    except (ValueError, KeyError, TypeError):
        raise LoginError(f"the file is not {_CLIENT_FORM}; download it there as JSON") from None
    return {**parts, "auth_uri": client.get("auth_uri", AUTH_URI), "token_uri": client.get("token_uri", TOKEN_URI)}


def log_in(client: Mapping[str, str], show: Callable[[str], None], wait: float = WAIT_SECONDS) -> str:
    """The secret as JSON. `show` is given the address that the owner opens in a browser.

    Raises LoginError if nobody consents within `wait` seconds.
    """
    state, verifier = random_secrets.token_urlsafe(24), random_secrets.token_urlsafe(48)
    with _Redirect(state) as redirect:
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        parameters = {
            "client_id": client["client_id"], "redirect_uri": redirect.address, "response_type": "code",
            "scope": SCOPE, "state": state, "code_challenge": challenge, "code_challenge_method": "S256",
            "access_type": "offline", "prompt": "consent",
        }  # fmt: skip
        show(f"{client['auth_uri']}?{urlencode(parameters)}")
        code = redirect.wait(wait)
        address = redirect.address
    token = _exchange(client, code, verifier, address)
    credentials = {name: client[name] for name in ("client_id", "client_secret", "token_uri")}
    return json.dumps({**credentials, "refresh_token": token})


def _exchange(client: Mapping[str, str], code: str, verifier: str, redirect: str) -> str:
    """The refresh token for a code."""
    parts = urlsplit(client["token_uri"])
    http = HttpClient(f"{parts.scheme}://{parts.netloc}", dict, "the OAuth client")
    form = {
        "client_id": client["client_id"], "client_secret": client["client_secret"], "code": code,
        "code_verifier": verifier, "grant_type": "authorization_code", "redirect_uri": redirect,
    }  # fmt: skip
    try:
        answer = http.post_form(parts.path.lstrip("/"), form)
    except FetchError as error:
        raise LoginError(f"{error}; log in again") from None
    finally:
        http.close()
    token = answer.get("refresh_token") if isinstance(answer, Mapping) else None
    if not isinstance(token, str) or not token:
        raise LoginError(
            f"{parts.netloc} gave no refresh token; remove relrag's access in your account and log in again"
        )
    return token


class _Redirect:
    """A server on a port of this machine that waits for one page with the right state."""

    def __init__(self, state: str) -> None:
        outer = self
        self._code = self._refusal = ""

        class Handler(BaseHTTPRequestHandler):
            timeout = 5  # browsers open connections ahead, over which nothing may come

            def do_GET(self) -> None:
                given = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
                right = random_secrets.compare_digest(given.get("state", ""), state)
                if right:
                    outer._code, outer._refusal = given.get("code", ""), given.get("error", "")
                body = b"relrag is logged in. You can close this page." if right else b"This page is of no login."
                self.send_response(200 if right else 400)
                self.send_header("Content-Type", "text/plain; charset=utf-8")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Tells nothing: the address holds the code."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/"

    def __enter__(self) -> _Redirect:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.server_close()

    def wait(self, seconds: float) -> str:
        """The authorisation code. Raises LoginError after `seconds`, or if consent was refused."""
        deadline = time.monotonic() + seconds
        while not (self._code or self._refusal):
            left = deadline - time.monotonic()
            if left <= 0:
                raise LoginError(f"nobody consented within {seconds:g} s; run the command again")
            self._server.timeout = left
            self._server.handle_request()
        if not self._code:
            raise LoginError("consent was refused; run the command again")
        return self._code
