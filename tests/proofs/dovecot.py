"""Mirrors a real IMAP server, Dovecot of Debian: new and deleted mails, folders, and the time beside bare requests.

`make mailbox` runs it where `dovecot` is installed (apt-get install dovecot-imapd), and else says that it is left out.
"""

from __future__ import annotations

import hashlib
import imaplib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relrag_pipelines.sources.mail import imap_server
from relrag_pipelines.sources.remote import FetchError, Mirror, Server

MAILS = 2_000
_USER, _PASSWORD = "dana", "proof-password"
_NOBODY = 65_534
_CONFIG = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
default_internal_user = {user}
default_login_user = {user}
default_internal_group = {group}
first_valid_uid = 1
mail_location = maildir:{folder}/mail
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/home
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
"""


def letter(number: int) -> bytes:
    """A mail of about 3 KB."""
    head = f"Message-ID: <p{number}@x.example>\r\nDate: Mon, 04 Mar 2024 08:00:00 +0000\r\nSubject: {number}\r\n\r\n"
    return (head + f"Letter {number}.\r\n" + "The boiler of the cabin is broken again.\r\n" * 70).encode()


def deliver(folder: Path, number: int) -> Path:
    """Puts a mail into a folder of the Maildir."""
    for name in ("cur", "new", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    path = folder / "cur" / f"{1_700_000_000 + number}.M{number}.proof:2,S"
    path.write_bytes(letter(number))
    return path


@contextmanager
def dovecot(folder: Path) -> Iterator[int]:
    """The server on a port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    uid = os.getuid() or _NOBODY
    gid = os.getgid() or _NOBODY
    user, group = (_name(["id", "-un"], uid), _name(["id", "-gn"], uid))
    names = {"folder": folder, "user": user, "group": group, "uid": uid, "gid": gid}
    (folder / "dovecot.conf").write_text(_CONFIG.format(**names, password=_PASSWORD, port=port))
    _own(folder, uid, gid)
    running = subprocess.Popen(["dovecot", "-F", "-c", str(folder / "dovecot.conf")], stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, folder)
        yield port
    finally:
        running.terminate()
        running.wait(20)


def _name(command: list[str], uid: int) -> str:
    return subprocess.check_output([*command, str(uid)], text=True).strip()


def _own(folder: Path, uid: int, gid: int) -> None:
    if os.getuid() == 0:
        folder.chmod(0o755)
        for path in [folder / "mail", *(folder / "mail").rglob("*")]:
            os.chown(path, uid, gid)


def _wait_for(port: int, folder: Path) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    log = folder / "log"
    sys.exit(f"dovecot did not start: {log.read_text() if log.exists() else 'no log'}")


def bare(port: int) -> float:
    """Seconds that imaplib alone takes to fetch all mails of INBOX in the same parts."""
    started = time.monotonic()
    with imaplib.IMAP4("127.0.0.1", port) as connection:
        connection.login(_USER, _PASSWORD)
        connection.select("INBOX", readonly=True)
        for first in range(1, MAILS + 1, 100):
            connection.uid("FETCH", f"{first}:{first + 99}", "(UID BODY.PEEK[])")
    return time.monotonic() - started


def main() -> int:
    """All steps; 1 where one fails."""
    if not shutil.which("dovecot"):
        print("dovecot is not installed (apt-get install dovecot-imapd): its proof is left out")
        return 0
    # in memory where there is such a folder: what is measured is the protocol, not the making of files on a disk
    memory = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as made:
        folder = Path(made)
        mails = [deliver(folder / "mail", number) for number in range(1, MAILS + 1)]
        deliver(folder / "mail" / ".Archive.2024", MAILS + 1)
        with dovecot(folder) as port:
            return _check(folder, port, mails)


def _check(folder: Path, port: int, mails: list[Path]) -> int:
    def fetch(secret: str = _PASSWORD) -> tuple[set[str], float]:
        mirror = Mirror(folder / "mirror", lambda path: hashlib.sha256(path.encode()).hexdigest(), ".eml")
        started = time.monotonic()
        imap_server.fetch(Server(f"imap://127.0.0.1:{port}", _USER, lambda: secret, "the secret"), mirror)
        return mirror.paths(), time.monotonic() - started

    bare(port)  # the server makes its index
    alone = bare(port)
    paths, seconds = fetch()
    _, again = fetch()
    mails[0].unlink()
    deliver(folder / "mail", MAILS + 2)
    _own(folder, os.getuid() or _NOBODY, os.getgid() or _NOBODY)
    changed, _ = fetch()
    read = sorted((folder / "mirror" / "items" / path).read_bytes() for path in changed)
    expected = sorted(letter(number) for number in range(2, MAILS + 3))
    try:
        fetch("wrong")
        refused = False
    except FetchError as error:
        refused = "does not accept user and secret" in str(error)
    checks = {
        f"{len(paths):,} mails of all folders are mirrored": len(paths) == MAILS + 1,
        "one that is deleted goes, one that is new comes, byte by byte": read == expected,
        "a wrong password is told": refused,
        f"a fetch without changes takes {again:.2f} s": again < 1,
    }
    for what, holds in checks.items():
        print(f"{'ok ' if holds else 'NOT'} {what}")
    print(f"    {seconds:.2f} s, {seconds / alone:.1f} times the {alone:.2f} s of bare requests, which store nothing")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
