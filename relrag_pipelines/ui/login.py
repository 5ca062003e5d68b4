"""Logins of the web servers: links that log in once, and the sessions that they begin.

Links are signed with a key that each start of the web server creates: a link is valid for an hour, for that server.
Sessions are signed with a key beside the archive's other keys, so they survive a restart of the server and of the
browser; a new key ends them all. Only the owner can read both files: who can read the archive can get another link,
and nobody else can.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines.files.atomic import replace_file
from relrag_pipelines.settings import Settings
from relrag_pipelines.ui.stored_secret import StoredSecret, load_secret

LINK = "link"
LINK_SECONDS = 3600
SESSION_SECONDS = 30 * 24 * 3600
_DAY_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Sessions:
    """The sessions of one web server."""

    key: Callable[[], bytes]
    """the current signing key; if empty, no session is valid"""
    seconds: int = SESSION_SECONDS
    """lifetime of a session"""
    server: str = ""
    """the server; a session of the pages is not valid for the UI, which may launch runs"""

    def begin(self) -> str:
        """A new session."""
        return ticket(self.key(), self._purpose, self.seconds)

    def knows(self, session: str) -> bool:
        """Whether the session was signed with the current key and has not expired."""
        key = self.key()
        return bool(key) and is_valid(key, self._purpose, session)

    @property
    def _purpose(self) -> str:
        return f"session {self.server}".rstrip()


def sessions_path(settings: Settings) -> Path:
    """The file of the archive's session key."""
    return settings.keys_path.with_suffix(".logins")


def stored_sessions(settings: Settings, server: str) -> Sessions:
    """The sessions of one of an archive's web servers."""
    secret = StoredSecret(sessions_path(settings))
    return Sessions(lambda: secret().encode(), settings.login_days * _DAY_SECONDS, server)


def end_sessions(settings: Settings) -> None:
    """Ends all sessions of all web servers of the archive, also of running ones."""
    load_secret(sessions_path(settings), new=True)


def ticket(key: bytes, purpose: str, seconds: float) -> str:
    """A signed ticket that expires after `seconds`: `<end>.<random>.<signature>`, safe in a URL."""
    content = f"{int(time.time() + seconds)}.{secrets.token_urlsafe(16)}"
    return f"{content}.{_signature(key, purpose, content)}"


def is_valid(key: bytes, purpose: str, signed: str) -> bool:
    """Whether the ticket was signed for this purpose and has not expired."""
    content, _, signature = signed.rpartition(".")
    if not hmac.compare_digest(_signature(key, purpose, content).encode(), signature.encode()):
        return False
    return time.time() < int(content.partition(".")[0])  # a number, or it would not have been signed


def _signature(key: bytes, purpose: str, content: str) -> str:
    return hmac.digest(key, f"{purpose} {content}".encode(), "sha256").hex()


class Login:
    """Links of one web server, and its sessions; remembers which links were used."""

    def __init__(self, key: bytes, used: Path | None = None, sessions: Sessions | None = None) -> None:
        """`used` is a folder in which several processes of one server tell each other which links were used.

        Without `sessions` these are signed with the key of the links, and end with the server.
        """
        self._key = key
        self.sessions = sessions or Sessions(lambda: key)
        self._folder = used
        self._used: set[str] = set()

    def enter(self, token: str) -> str | None:
        """Exchanges a link's token, which is valid once, for a session; None if it is invalid."""
        if not is_valid(self._key, LINK, token) or not self._spend(token):
            return None
        return self.sessions.begin()

    def _spend(self, token: str) -> bool:
        """Whether this is the token's first use."""
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
        """Whether the session is valid: begun by a link, not expired and not ended."""
        return self.sessions.knows(session)


def key_file(folder: Path, port: int, name: str = "ui") -> Path:
    """The file in which the web server of that port stores its address and link key.

    `folder` is the archive's DAGSTER_HOME for `ui`, its home for `serve`.
    """
    return folder / f"{name}-{port}.json"


@contextmanager
def open_session(
    folder: Path, port: int, address: str, name: str = "ui", sessions: Sessions | None = None
) -> Iterator[Login]:
    """Creates a link key, which `link` reads while this context is open."""
    key, path = secrets.token_bytes(32), key_file(folder, port, name)
    with replace_file(path) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_text(json.dumps({"address": address, "key": key.hex()}))
    used = path.with_suffix(".used")
    shutil.rmtree(used, ignore_errors=True)
    used.mkdir(mode=0o700)
    try:
        yield Login(key, used, sessions)
    finally:
        path.unlink(missing_ok=True)
        shutil.rmtree(used, ignore_errors=True)


def open_login(folder: Path, port: int, name: str = "ui", sessions: Sessions | None = None) -> Login:
    """The login of a web server that another process has opened."""
    path = key_file(folder, port, name)
    return Login(bytes.fromhex(json.loads(path.read_text())["key"]), path.with_suffix(".used"), sessions)


def link(folder: Path, port: int, name: str = "ui") -> str | None:
    """A new link that logs in once; None if no web server of that port is running."""
    try:
        stored = json.loads(key_file(folder, port, name).read_text())
    except FileNotFoundError:
        return None
    return f"{stored['address']}/login?token={ticket(bytes.fromhex(stored['key']), LINK, LINK_SECONDS)}"
