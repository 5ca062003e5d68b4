"""Who may use a web server of ours: links that log in once, and the sessions that they begin.

Both are signed with a key that every start of the web server makes anew. It lies in a file for the owner only, so
whoever can read the archive can have another link, and nobody else can.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from relrag_pipelines.files.atomic import replacing

LINK_SECONDS = 3600
SESSION_SECONDS = 7 * 24 * 3600

Purpose = Literal["link", "session"]


def ticket(key: bytes, purpose: Purpose, seconds: float) -> str:
    """A signed ticket that holds for so many seconds: `<end>.<random>.<signature>`, as it may stand in a URL."""
    content = f"{int(time.time() + seconds)}.{secrets.token_urlsafe(16)}"
    return f"{content}.{_signature(key, purpose, content)}"


def is_valid(key: bytes, purpose: Purpose, given: str) -> bool:
    """Whether that ticket was signed for this purpose and has not run out."""
    content, _, signature = given.rpartition(".")
    if not hmac.compare_digest(_signature(key, purpose, content).encode(), signature.encode()):
        return False
    return time.time() < int(content.partition(".")[0])  # a number, or it would not have been signed


def _signature(key: bytes, purpose: Purpose, content: str) -> str:
    return hmac.digest(key, f"{purpose} {content}".encode(), "sha256").hex()


class Login:
    """Tickets of one web server; remembers which links were used."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._used: set[str] = set()

    def enter(self, token: str) -> str | None:
        """Takes the token of a link, which is void from then on, and gives a session; None where it does not hold."""
        if token in self._used or not is_valid(self._key, "link", token):
            return None
        self._used.add(token)
        return ticket(self._key, "session", SESSION_SECONDS)

    def knows(self, session: str) -> bool:
        """Whether that session was begun by one of our links and has not run out."""
        return is_valid(self._key, "session", session)


def key_file(folder: Path, port: int, name: str = "ui") -> Path:
    """Where the web server of that port leaves what is needed to make links.

    `folder` is the archive's DAGSTER_HOME for `ui`, its home for `serve`.
    """
    return folder / f"{name}-{port}.json"


@contextmanager
def open_session(folder: Path, port: int, address: str, name: str = "ui") -> Iterator[Login]:
    """Makes a key, which `link` finds within this context."""
    key, path = secrets.token_bytes(32), key_file(folder, port, name)
    with replacing(path) as beside:
        beside.touch(mode=0o600)
        beside.write_text(json.dumps({"address": address, "key": key.hex()}))
    try:
        yield Login(key)
    finally:
        path.unlink(missing_ok=True)


def link(folder: Path, port: int, name: str = "ui") -> str | None:
    """A new link that logs in once; None where no web server of that port is running."""
    try:
        found = json.loads(key_file(folder, port, name).read_text())
    except FileNotFoundError:
        return None
    return f"{found['address']}/login?token={ticket(bytes.fromhex(found['key']), 'link', LINK_SECONDS)}"
