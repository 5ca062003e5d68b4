"""Who may use a web server of ours: links that log in once, and the sessions that they begin.

Both are signed with a key that every start of the web server makes anew. It lies in a file for the owner only, so
whoever can read the archive can have another link, and nobody else can.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from relrag_pipelines.files.atomic import replace_file

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

    def __init__(self, key: bytes, used: Path | None = None) -> None:
        """`used` is a folder in which several processes of one server tell each other which links were used."""
        self._key = key
        self._folder = used
        self._used: set[str] = set()

    def enter(self, token: str) -> str | None:
        """Takes the token of a link, which is void from then on, and gives a session; None where it does not hold."""
        if not is_valid(self._key, "link", token) or not self._spend(token):
            return None
        return ticket(self._key, "session", SESSION_SECONDS)

    def _spend(self, token: str) -> bool:
        """Whether it could be spent: only the first who tries may."""
        if self._folder is None:
            fresh = token not in self._used
            self._used.add(token)
            return fresh
        try:
            (self._folder / hashlib.sha256(token.encode()).hexdigest()).touch(mode=0o600, exist_ok=False)
        except OSError:
            return False
        return True

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
    with replace_file(path) as beside:
        beside.touch(mode=0o600)
        beside.write_text(json.dumps({"address": address, "key": key.hex()}))
    used = path.with_suffix(".used")
    shutil.rmtree(used, ignore_errors=True)
    used.mkdir(mode=0o700)
    try:
        yield Login(key, used)
    finally:
        path.unlink(missing_ok=True)
        shutil.rmtree(used, ignore_errors=True)


def open_login(folder: Path, port: int, name: str = "ui") -> Login:
    """The login of a web server that another process has opened."""
    path = key_file(folder, port, name)
    return Login(bytes.fromhex(json.loads(path.read_text())["key"]), path.with_suffix(".used"))


def link(folder: Path, port: int, name: str = "ui") -> str | None:
    """A new link that logs in once; None where no web server of that port is running."""
    try:
        found = json.loads(key_file(folder, port, name).read_text())
    except FileNotFoundError:
        return None
    return f"{found['address']}/login?token={ticket(bytes.fromhex(found['key']), 'link', LINK_SECONDS)}"
