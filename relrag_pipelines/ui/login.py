"""Who may use a web server of ours: links that log in once, and the sessions that they begin.

Links are signed with a key that every start of the web server makes anew: a link holds for an hour, and for the server
that runs. Sessions are signed with a key of the archive, which lies beside its other keys, so they outlast a restart of
the server and of the browser; with another key they all end. Both files are for the owner only: whoever can read the
archive can have another link, and nobody else can.
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
    """what they are signed with now; empty: none is valid"""
    seconds: int = SESSION_SECONDS
    """how long one lasts"""
    server: str = ""
    """a session of the pages is none of the UI, which may launch runs"""

    def begin(self) -> str:
        """A new one."""
        return ticket(self.key(), self._purpose, self.seconds)

    def knows(self, session: str) -> bool:
        """Whether that was begun with the key of now and has not run out."""
        key = self.key()
        return bool(key) and is_valid(key, self._purpose, session)

    @property
    def _purpose(self) -> str:
        return f"session {self.server}".rstrip()


def sessions_path(settings: Settings) -> Path:
    """Where the key of the archive's sessions lies."""
    return settings.keys_path.with_suffix(".logins")


def stored_sessions(settings: Settings, server: str) -> Sessions:
    """The sessions of that web server of an archive."""
    secret = StoredSecret(sessions_path(settings))
    return Sessions(lambda: secret().encode(), settings.login_days * _DAY_SECONDS, server)


def end_sessions(settings: Settings) -> None:
    """Ends all sessions of all web servers of the archive, also of those that run."""
    load_secret(sessions_path(settings), new=True)


def ticket(key: bytes, purpose: str, seconds: float) -> str:
    """A signed ticket that holds for so many seconds: `<end>.<random>.<signature>`, as it may stand in a URL."""
    content = f"{int(time.time() + seconds)}.{secrets.token_urlsafe(16)}"
    return f"{content}.{_signature(key, purpose, content)}"


def is_valid(key: bytes, purpose: str, given: str) -> bool:
    """Whether that ticket was signed for this purpose and has not run out."""
    content, _, signature = given.rpartition(".")
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
        """Takes the token of a link, which is void from then on, and gives a session; None where it does not hold."""
        if not is_valid(self._key, LINK, token) or not self._spend(token):
            return None
        return self.sessions.begin()

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
        """Whether that session was begun by a link of ours, has not run out, and was not ended."""
        return self.sessions.knows(session)


def key_file(folder: Path, port: int, name: str = "ui") -> Path:
    """Where the web server of that port leaves what is needed to make links.

    `folder` is the archive's DAGSTER_HOME for `ui`, its home for `serve`.
    """
    return folder / f"{name}-{port}.json"


@contextmanager
def open_session(
    folder: Path, port: int, address: str, name: str = "ui", sessions: Sessions | None = None
) -> Iterator[Login]:
    """Makes a key of links, which `link` finds within this context."""
    key, path = secrets.token_bytes(32), key_file(folder, port, name)
    with replace_file(path) as beside:
        beside.touch(mode=0o600)
        beside.write_text(json.dumps({"address": address, "key": key.hex()}))
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
    """A new link that logs in once; None where no web server of that port is running."""
    try:
        found = json.loads(key_file(folder, port, name).read_text())
    except FileNotFoundError:
        return None
    return f"{found['address']}/login?token={ticket(bytes.fromhex(found['key']), LINK, LINK_SECONDS)}"
