"""A small IMAP server with UIDVALIDITY, CONDSTORE and Gmail's extension, and the ways in which one fails."""

from __future__ import annotations

import base64
import re
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

USER, PASSWORD = "dana@example.org", 'pass"word-41\\c'


@dataclass
class Mailbox:
    """A folder."""

    mails: dict[int, bytes] = field(default_factory=dict)
    flags: str = ""
    validity: int = 7
    next_uid: int = 1
    modseq: int = 1
    labels: dict[int, list[str]] = field(default_factory=dict)
    changed: dict[int, int] = field(default_factory=dict)
    """UID -> modseq of the last change"""

    def add(self, mail: bytes, *labels: str) -> int:
        """A new mail; its UID."""
        uid, self.next_uid, self.modseq = self.next_uid, self.next_uid + 1, self.modseq + 1
        self.mails[uid], self.labels[uid], self.changed[uid] = mail, list(labels), self.modseq
        return uid

    def delete(self, uid: int) -> None:
        """Expunges a mail."""
        del self.mails[uid]
        self.modseq += 1

    def relabel(self, uid: int, *labels: str) -> None:
        """Gives a mail other labels."""
        self.modseq += 1
        self.labels[uid], self.changed[uid] = list(labels), self.modseq


@dataclass
class ImapServer:
    """What a server holds, and what it was asked."""

    folders: dict[str, Mailbox] = field(default_factory=dict)
    gmail: bool = False
    condstore: bool = True
    plain: bool = True
    """AUTHENTICATE PLAIN instead of LOGIN"""
    commands: list[str] = field(default_factory=list)
    break_after: list[int] = field(default_factory=list)
    """for each connection: how many mails are sent before it ends within the next one"""
    stall: float = 0
    """seconds before each answer"""
    refuse: str = ""
    """a command that is answered with NO"""
    code: str = "CANNOT"
    """the code of that answer"""
    instead: dict[str, list[str]] = field(default_factory=dict)
    """command -> the lines that are sent in place of the right answer to it"""
    quoted: set[int] = field(default_factory=set)
    """UIDs of mails that are sent as quoted strings"""
    url: str = ""

    def capabilities(self) -> str:
        """As the server tells them."""
        names = ["IMAP4rev1", *(["AUTH=PLAIN"] if self.plain else [])]
        names += ["ENABLE", "CONDSTORE"] if self.condstore else []
        return " ".join([*names, *(["X-GM-EXT-1"] if self.gmail else [])])

    def fetched(self) -> int:
        """How many commands fetched bodies."""
        return sum("BODY.PEEK[" in command for command in self.commands)


@contextmanager
def serve(held: ImapServer) -> Iterator[ImapServer]:
    """The server on a port of this machine."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            _Session(self, held).run()

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    held.url = f"imap://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield held
    finally:
        server.shutdown()
        server.server_close()


class _Session:
    """One connection."""

    def __init__(self, handler: socketserver.StreamRequestHandler, held: ImapServer) -> None:
        self._in, self._out, self._held = handler.rfile, handler.wfile, held
        self._left = held.break_after.pop(0) if held.break_after else 10**9
        self._box = Mailbox()

    def run(self) -> None:
        self._say(f"* OK [CAPABILITY {self._held.capabilities()}] ready")
        while line := self._in.readline().decode().rstrip("\r\n"):
            tag, _, command = line.partition(" ")
            time.sleep(self._held.stall)
            try:
                ended = self._answer(tag, command)
            except ConnectionError:
                return
            if ended:
                return

    def _answer(self, tag: str, command: str) -> bool:
        name = command.split()[0].upper() if command.split()[0].upper() != "UID" else " ".join(command.split()[:2])
        self._held.commands.append("LOGIN" if name in ("LOGIN", "AUTHENTICATE") else command)
        if self._held.refuse and name.startswith(self._held.refuse):
            self._say(f"{tag} NO [{self._held.code}] not now")
            return False
        if name in self._held.instead:
            for line in self._held.instead[name]:
                self._say(line)
            self._say(f"{tag} OK done")
            return False
        answer = getattr(self, f"_{name.lower().replace(' ', '_')}")(command)
        self._say(f"{tag} {answer or 'OK done'}")
        return name == "LOGOUT"

    def _capability(self, _: str) -> None:
        self._say(f"* CAPABILITY {self._held.capabilities()}")

    def _login(self, command: str) -> str:
        user, password = re.findall(r'"((?:\\.|[^"\\])*)"', command)
        given = re.sub(r"\\(.)", r"\1", password)
        return "OK in" if (user, given) == (USER, PASSWORD) else f"NO wrong password {given}"

    def _authenticate(self, _: str) -> str:
        self._say("+ ")
        given = base64.b64decode(self._in.readline())
        return "OK in" if given == f"\0{USER}\0{PASSWORD}".encode() else "NO wrong"

    def _enable(self, _: str) -> None:
        self._say("* ENABLED CONDSTORE")

    def _logout(self, _: str) -> None:
        self._say("* BYE")

    def _list(self, _: str) -> None:
        for name, box in self._held.folders.items():
            self._say(f'* LIST (\\HasNoChildren {box.flags}) "/" "{name}"')

    def _examine(self, command: str) -> str:
        name = re.sub(r"\\(.)", r"\1", command.split(" ", 1)[1].strip()[1:-1])
        if name not in self._held.folders:
            return "NO no such folder"
        self._box = box = self._held.folders[name]
        self._say(f"* {len(box.mails)} EXISTS")
        self._say(f"* OK [UIDVALIDITY {box.validity}] valid")
        self._say(f"* OK [UIDNEXT {box.next_uid}] next")
        if self._held.condstore:
            self._say(f"* OK [HIGHESTMODSEQ {box.modseq}] highest")
        return "OK [READ-ONLY] open"

    def _uid_search(self, command: str) -> None:
        self._say("* SEARCH " + " ".join(map(str, self._searched(command))))

    def _searched(self, command: str) -> list[int]:
        smallest = re.search(r"LARGER (\d+)", command)
        uids = self._uids(command.split()[-1])
        return [uid for uid in uids if not smallest or len(self._box.mails[uid]) > int(smallest[1])]

    def _uids(self, text: str) -> list[int]:
        uids: list[int] = []
        for part in text.split(","):
            first, _, last = part.partition(":")
            end = 10**9 if last == "*" else int(last or first)
            uids += [uid for uid in sorted(self._box.mails) if int(first) <= uid <= end]
        return uids

    def _uid_fetch(self, command: str) -> None:
        since = re.search(r"CHANGEDSINCE (\d+)", command)
        for uid in self._uids(command.split()[2]):
            if since is None or self._box.changed[uid] > int(since[1]):
                self._send(uid, command)

    def _send(self, uid: int, command: str) -> None:
        mail, parts = self._box.mails[uid], [f"UID {uid}"]
        if "RFC822.SIZE" in command:
            parts.append(f"RFC822.SIZE {len(mail)}")
        if "X-GM-LABELS" in command:
            labels = " ".join(f'"{label}"' for label in self._box.labels[uid])
            parts.append(f"X-GM-THRID 17{uid} X-GM-LABELS ({labels})")
        head = f"* {uid} FETCH ({' '.join(parts)}"
        if "BODY.PEEK[HEADER]" in command:
            header = mail.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
            self._out.write(f"{head} BODY[HEADER] {{{len(header)}}}\r\n".encode() + header + b")\r\n")
            return
        if "BODY.PEEK[]" not in command:
            self._say(f"{head})")
            return
        if uid in self._held.quoted:
            quoted = re.sub(rb'([\\"])', rb"\\\1", mail)
            self._out.write(f'{head} BODY[] "'.encode() + quoted + b'")\r\n')
            return
        self._left -= 1
        if self._left < 0:
            self._out.write(f"{head} BODY[] {{{len(mail)}}}\r\n".encode() + mail[: len(mail) // 2])
            self._out.flush()
            raise ConnectionError
        self._out.write(f"{head} BODY[] {{{len(mail)}}}\r\n".encode() + mail + b")\r\n")

    def _say(self, line: str) -> None:
        self._out.write(line.encode() + b"\r\n")
        self._out.flush()
