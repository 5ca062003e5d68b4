"""Mirrors the folders of an IMAP server (RFC 3501, 9051): a file for each mail, `<folder>/<UIDVALIDITY>-<UID>.eml`.

A folder is left alone if its HIGHESTMODSEQ (CONDSTORE, RFC 7162), UIDNEXT and number of mails are those of the last
fetch; without CONDSTORE its UIDs are listed, which also tells deletions. New mails are fetched some megabytes at a
time. A connection that breaks or stalls is opened again some times, and goes on where it was.

Mails are removed only if the list of UIDs is as long as the server says that the folder is, and a folder only if the
server refuses to open it. A mail that is too large, or does not come, is noted in the mirror.

Gmail (X-GM-EXT-1) has every mail in one folder, which alone is read. Its labels and threads are put above a mail as
the headers with which Takeout writes them, so that the reader of mail needs to know one form of them.
"""

from __future__ import annotations

import base64
import fnmatch
import imaplib
import random
import re
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from relrag_pipelines.privacy.loopback import is_loopback
from relrag_pipelines.sources.mail.mailbox import MAX_MAIL
from relrag_pipelines.sources.remote import CONTINUES, FetchError, Mirror, Server, readable_answers
from relrag_pipelines.sources.remote.deletions import missing_items
from relrag_pipelines.sources.remote.mirror import name_of_component, safe_component

SUFFIX = ".eml"
_PORTS = {"imaps": 993, "imap": 143}
_LISTED = re.compile(rb'\((?P<flags>[^)]*)\) (?P<delimiter>"(?:\\.|[^"\\])*"|NIL) ?(?P<name>.*)', re.DOTALL)
_ALL, _GMAIL = "\\all", "X-GM-EXT-1"
_LEFT_OUT = {"\\junk", "\\trash", "\\all", "\\flagged"}
"""special-use folders (RFC 6154) that are not read unless they are named: the last two repeat other folders"""
_NO_MAILS = {"\\noselect", "\\nonexistent"}
_UIDS_AT_ONCE = 100_000
"""imaplib reads no line of more than a million bytes"""
_MAILS_AT_ONCE, _BYTES_AT_ONCE, _SIZES_AT_ONCE = 100, 8 * 2**20, 10_000
_SMALL_MAIL = _BYTES_AT_ONCE // _MAILS_AT_ONCE
"""largest size, bytes, at which as many mails as possible are fetched together"""
_LISTINGS = 3
"""so often a folder is listed that changes meanwhile"""
_PASSING = {"UNAVAILABLE", "INUSE", "SERVERBUG", "LIMIT", "OVERQUOTA", "THROTTLED"}
"""codes of answers (RFC 5530) that say nothing of what was asked"""
_CODE = re.compile(rb"\s*\[([A-Z-]+)")
_ALL_UIDS = "1:*"
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)")
_UID = re.compile(rb"\bUID (\d+)")
_THREAD = re.compile(rb"\bX-GM-THRID (\d+)")
_LABELS = re.compile(rb"\bX-GM-LABELS \(")
_LABEL = re.compile(rb'"((?:\\.|[^"\\])*)"|([^\s()"]+)')
_BODY = re.compile(rb"\bBODY\[[A-Z]*\] ~?\{\d+\}$")
_LITERAL = re.compile(rb"~?\{\d+\}$")
_QUOTED_BODY = re.compile(rb'"(?:\\.|[^"\\])*"|\bBODY\[[A-Z]*\] "(?P<mail>(?:\\.|[^"\\])*)"', re.DOTALL)
"""a body as a quoted string, which RFC 9051 allows besides a literal; other quoted strings, which are passed over"""
_OUR_HEADERS = (b"X-GM-THRID: ", b"X-Gmail-Labels: ")


@dataclass(frozen=True)
class Limits:
    """How a server is treated."""

    tries: int = 4
    """connections in a row that may break without a mail having been fetched"""
    first_pause: float = 1.0
    """seconds before the second connection; it doubles"""
    silence: float = 60.0
    """longest time without any byte, seconds"""
    commands: int = 100_000
    """most commands of one fetch"""


@dataclass(frozen=True)
class _Folder:
    """A folder of the server."""

    raw: bytes
    """its name as the server writes it, quoted"""
    name: str
    path: str
    """where its mails are mirrored"""
    flags: frozenset[str]
    delimiter: str
    """what separates the parts of its name; NIL where the server has no hierarchy"""


@dataclass(frozen=True)
class _FolderState:
    """State of a folder by which changes are detected."""

    validity: int
    next_uid: int
    mails: int
    modseq: int
    """0 where the server has none"""


def fetch(
    server: Server, mirror: Mirror, limits: Limits = Limits(), sleep: Callable[[float], None] = time.sleep
) -> None:
    """Brings the mirror up to date. Raises FetchError; what was mirrored before stays."""
    run = _Fetch(server, mirror, limits)
    with readable_answers(run.host):
        _fetch_with_tries(run, limits, sleep)


def _fetch_with_tries(run: _Fetch, limits: Limits, sleep: Callable[[float], None]) -> None:
    attempt = 0
    while True:
        fetched = run.fetched
        try:
            run.connect()
            run.mirror_all()
        except _RefusedError:
            raise FetchError(f"{run.host} refuses a command that every server knows; {CONTINUES}") from None
        except _BrokenError as broken:
            attempt = 0 if run.fetched > fetched else attempt + 1
            reason = str(broken)
            run.drop()
            run.mails_at_once = max(1, run.mails_at_once // 10)  # what came of a broken answer is lost
        else:
            return
        finally:
            run.disconnect()
        if attempt >= limits.tries:
            raise FetchError(f"{run.host} {reason}, {limits.tries} times; {CONTINUES}")
        sleep(limits.first_pause * 2**attempt * (0.5 + random.random() / 2))  # noqa: S311


class _BrokenError(Exception):
    """The connection broke; it is worth another try."""


class _Fetch:
    """One fetch from a server, over one connection after another."""

    def __init__(self, server: Server, mirror: Mirror, limits: Limits) -> None:
        self._server, self._mirror, self._limits = server, mirror, limits
        parts = urlsplit(server.url)
        self._scheme, self._hostname = parts.scheme, parts.hostname or ""
        self._port = parts.port or _PORTS[parts.scheme]
        self.host = parts.netloc
        self.fetched = 0
        self.mails_at_once = _MAILS_AT_ONCE
        self._commands = 0
        self._connection: imaplib.IMAP4 | None = None
        self._capabilities: frozenset[str] = frozenset()

    def connect(self) -> None:
        """Logs in. Raises FetchError if the server refuses, _BrokenError if it cannot be reached."""
        secret = self._server.secret()
        connection = self._attempt(self._open)
        self._connection = connection
        try:
            self._command(lambda: _log_in(connection, self._server.user, secret))
        except _RefusedError as refused:
            if refused.is_passing:
                raise _BrokenError("lets nobody log in at present") from None
            advice = f"check user and {self._server.secret_name}"
            raise FetchError(f"{self.host} does not accept user and secret; {advice}") from None
        _, lines = self._command(connection.capability)
        self._capabilities = frozenset(b" ".join(_bytes(lines)).decode("ascii", "replace").upper().split())
        if {"ENABLE", "CONDSTORE"} <= self._capabilities:
            with suppress(_RefusedError):
                self._command(lambda: connection.enable("CONDSTORE"))

    def disconnect(self) -> None:
        """Ends the connection, whatever its state."""
        if self._connection is not None:
            with suppress(imaplib.IMAP4.error, OSError):
                self._connection.logout()
        self.drop()

    def drop(self) -> None:
        """Ends a connection that broke: nothing is sent any more, since nobody might answer."""
        if self._connection is not None:
            with suppress(OSError):
                self._connection.shutdown()
            self._connection = None

    def mirror_all(self) -> None:
        """Mirrors all folders that are to be read, then removes what the server no longer has."""
        stored = _by_folder(self._mirror.paths())
        present: set[str] = set()
        listed = self._list()
        for folder in self._selected(listed):
            present |= self._mirror_folder(folder, stored.get(folder.path, set()))
        self._require_gone(listed, stored)
        missing_items(self._server, self.host, set().union(*stored.values()), present)
        self._mirror.keep_only(present)

    def _require_gone(self, listed: list[_Folder], stored: Mapping[str, set[str]]) -> None:
        """Raises FetchError if a folder that the server does not list can be opened."""
        delimiter = next((folder.delimiter for folder in listed if folder.delimiter), "")
        for path in sorted(stored.keys() - {folder.path for folder in listed}):
            name = (delimiter or "/").join(map(name_of_component, path.split("/")))
            try:
                self._examine(_quoted(encode_utf7(name)))
            except _RefusedError as refused:
                if refused.is_passing:
                    raise _BrokenError("does not say whether a folder is gone") from None
            else:
                raise FetchError(f"{self.host} does not list a folder that it opens; nothing was removed, {CONTINUES}")

    def _open(self) -> imaplib.IMAP4:
        if self._scheme == "imaps":
            return imaplib.IMAP4_SSL(
                self._hostname, self._port, ssl_context=self._trust(), timeout=self._limits.silence
            )
        connection = imaplib.IMAP4(self._hostname, self._port, timeout=self._limits.silence)
        if "STARTTLS" in connection.capabilities:
            connection.starttls(self._trust())
        elif not is_loopback(self._hostname):
            connection.shutdown()
            raise FetchError(f"{self.host} offers no encryption (STARTTLS), so no password is sent; use imaps://")
        return connection

    def _trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self._server.ca_file) if self._server.ca_file else None)

    def _command(self, send: Callable[[], tuple[str, Sequence[Any]]]) -> tuple[str, Sequence[Any]]:
        """The answer to one command; _RefusedError if it is NO or BAD."""
        self._commands += 1
        if self._commands > self._limits.commands:
            raise FetchError(f"{self.host} was sent {self._limits.commands:,} commands in this fetch; {CONTINUES}")
        status, data = self._attempt(send)
        if status != "OK":
            raise _RefusedError(_bytes(data))
        return status, data

    def _attempt(self, act: Callable[[], Any]) -> Any:
        """What an action of the library returns; its errors, which may quote what was sent, are replaced."""
        fault: Exception
        try:
            return act()
        except imaplib.IMAP4.abort:
            fault = _BrokenError("broke off the connection")
        except imaplib.IMAP4.error as error:
            fault = _RefusedError([part for part in error.args if isinstance(part, bytes)])
        except UnicodeEncodeError:
            fault = _RefusedError([])
        except TimeoutError:
            fault = _BrokenError(f"did not answer within {self._limits.silence:g} s")
        except ssl.SSLCertVerificationError:
            fault = FetchError(f"{self.host} has a certificate that is not trusted; name its issuer in ca_file")
        except OSError as error:
            fault = _BrokenError(f"could not be reached ({type(error).__name__})")
        raise fault

    @property
    def _open_connection(self) -> imaplib.IMAP4:
        assert self._connection is not None
        return self._connection

    def _list(self) -> list[_Folder]:
        """All folders that can be opened."""
        try:
            _, lines = self._command(self._open_connection.list)
        except _RefusedError:
            raise FetchError(f"{self.host} does not list its folders; {CONTINUES}") from None
        folders = [folder for line in lines if (folder := _folder(line)) and not folder.flags & _NO_MAILS]
        if not folders:  # INBOX is always there (RFC 9051, 5.1)
            raise FetchError(f"{self.host} lists no folder, not even INBOX; nothing was removed, {CONTINUES}")
        return folders

    def _selected(self, folders: list[_Folder]) -> list[_Folder]:
        """The folders to read."""
        if self._server.folders:
            selected = [folder for folder in folders if _matches(folder.name, self._server.folders)]
            if not selected:
                raise FetchError(f"{self.host} has no folder that `folders` in relrag.toml names; nothing was removed")
            return selected
        everything = [folder for folder in folders if _ALL in folder.flags]
        if _GMAIL in self._capabilities and everything:
            return everything
        return [folder for folder in folders if not folder.flags & _LEFT_OUT]

    def _mirror_folder(self, folder: _Folder, stored: set[str]) -> set[str]:
        """Mirrors one folder, of which the items in `stored` are mirrored; the paths of those that the server has."""
        try:
            state = self._examine(folder.raw)
        except _RefusedError:
            raise FetchError(f"{self.host} does not open one of its folders; {CONTINUES}") from None
        before = self._mirror.cursor.get(self._key(folder), {})
        if self._is_unchanged(state, before, stored):
            return stored
        self._require_same_folder(state, stored)
        state, uids = self._uids(folder, state, has_stored=bool(stored))
        paths = {uid: f"{folder.path}/{state.validity}-{uid}{SUFFIX}" for uid in uids}
        self._fetch_mails({uid: path for uid, path in paths.items() if self._is_missing(path, stored)})
        if _GMAIL in self._capabilities and before.get("validity") == state.validity and before.get("modseq"):
            self._update_labels(paths, int(before["modseq"]))
        self._mirror.cursor[self._key(folder)] = asdict(state)
        self._mirror.save()
        return set(paths.values())

    def _is_missing(self, path: str, stored: set[str]) -> bool:
        """Whether a mail has to be fetched: it is not stored, or was too large and would not be now."""
        if path in stored:
            omission = self._mirror.omission(path)
            return omission is not None and omission.limit < self._largest
        return not self._mirror.is_withheld(path)

    @property
    def _largest(self) -> int:
        """The largest mail that is fetched, bytes."""
        return min(MAX_MAIL, self._server.max_bytes)

    def _require_same_folder(self, state: _FolderState, stored: set[str]) -> None:
        """Raises FetchError if a folder from which mails are stored is suddenly another one, and empty."""
        validities = {path.rpartition("/")[2].partition("-")[0] for path in stored}
        is_replaced = bool(stored) and str(state.validity) not in validities
        if is_replaced and not state.mails and not self._server.accept_deletions:
            raise FetchError(
                f"{self.host} has an empty folder in place of one with mails (another UIDVALIDITY); if the mails were "
                "deleted, run `relrag sync --accept-deletions` (nothing was removed)"
            )

    def _key(self, folder: _Folder) -> str:
        return self._mirror.hash_path(folder.path)

    def _is_unchanged(self, state: _FolderState, before: dict[str, Any], stored: set[str]) -> bool:
        """Whether nothing can have changed; withheld mails have to be listed, to know whether they are gone."""
        return bool(state.modseq) and before == asdict(state) and len(stored) == state.mails

    def _examine(self, raw: bytes) -> _FolderState:
        """Opens a folder without changing anything in it. Raises _RefusedError if the server refuses."""
        connection = self._open_connection
        _, data = self._command(lambda: connection.select(raw.decode("ascii", "surrogateescape"), readonly=True))
        values = {name: connection.response(name)[1] for name in ("UIDVALIDITY", "UIDNEXT", "HIGHESTMODSEQ")}
        numbers = {name: _number(value) for name, value in values.items()}
        mails = _integers(data)
        if not mails or not numbers["UIDVALIDITY"]:
            raise FetchError(f"{self.host} does not say what a folder holds (EXISTS, UIDVALIDITY); {CONTINUES}")
        return _FolderState(numbers["UIDVALIDITY"], numbers["UIDNEXT"], mails[-1], numbers["HIGHESTMODSEQ"])

    def _uids(self, folder: _Folder, state: _FolderState, *, has_stored: bool) -> tuple[_FolderState, list[int]]:
        """The UIDs of all mails of the open folder, and its state when they were listed.

        A folder that changes meanwhile is opened again. Raises FetchError if fewer are listed than it holds.
        """
        for _ in range(_LISTINGS):
            if not state.mails and not has_stored:
                return state, []
            uids = self._listed_uids(state)
            if len(uids) >= state.mails:
                return state, uids
            state = self._examine(folder.raw)
        raise FetchError(
            f"{self.host} says that a folder holds {state.mails:,} mails and lists {len(uids):,}; nothing was removed, "
            f"{CONTINUES}"
        )

    def _listed_uids(self, state: _FolderState) -> list[int]:
        connection, uids = self._open_connection, set[int]()
        if not state.next_uid:
            _, data = self._search(connection, _ALL_UIDS)
            return sorted(set(_integers(data)))
        for first in range(1, state.next_uid, _UIDS_AT_ONCE):
            last = min(first + _UIDS_AT_ONCE, state.next_uid) - 1
            _, data = self._search(connection, f"{first}:{last}")
            uids.update(_integers(data))
        return sorted(uids)

    def _search(self, connection: imaplib.IMAP4, uids: str) -> tuple[str, Sequence[Any]]:
        try:
            return self._command(lambda: connection.uid("SEARCH", f"UID {uids}"))
        except _RefusedError:
            raise FetchError(f"{self.host} does not list the mails of a folder; {CONTINUES}") from None

    def _fetch_mails(self, paths: dict[int, str]) -> None:
        """Stores the mails with these UIDs, and notes those that are too large or do not come."""
        gmail = " X-GM-THRID X-GM-LABELS" if _GMAIL in self._capabilities else ""
        writing: Future[None] | None = None
        # files are written while the server prepares the next answer, no more than one answer behind
        with ThreadPoolExecutor(1) as writer:
            for batch in self._batches(sorted(paths)):
                part = "BODY.PEEK[HEADER]" if batch.too_large else "BODY.PEEK[]"
                answers = self._fetch_items(_uid_set(batch.uids), f"(UID{gmail} {part})")
                if writing is not None:
                    writing.result()
                writing = writer.submit(self._store, batch, answers, paths)
                self._server.report(self.fetched, 0)
            if writing is not None:
                writing.result()

    def _store(self, batch: _Batch, answers: list[_Answer], paths: dict[int, str]) -> None:
        """Stores the mails of a batch, and notes those that are too large or did not come."""
        absent = set(batch.uids)
        for answer in answers:
            if answer.mail and answer.uid in absent:
                absent.discard(answer.uid)
                self._mirror.add(paths[answer.uid], _gmail_headers(answer) + answer.mail)
                self.fetched += 1
        for uid in batch.uids:
            if batch.too_large or uid in absent:
                self._note_omission(paths[uid], batch)

    def _note_omission(self, path: str, batch: _Batch) -> None:
        if batch.too_large:
            limit = f"{self._largest:,} bytes"
            message = f"the mail has {batch.size:,} bytes and the limit is {limit}: only its headers are fetched"
            self._mirror.note_omission(path, message, self._largest)
        else:
            self._mirror.note_omission(path, "the server did not send this mail; the next sync asks for it again")

    def _batches(self, uids: list[int]) -> Iterator[_Batch]:
        """UIDs that are fetched together."""
        for start in range(0, len(uids), _SIZES_AT_ONCE):
            uid_block = uids[start : start + _SIZES_AT_ONCE]
            sizes = self._sizes_of_large(uid_block)
            batch, total = list[int](), 0
            for uid in uid_block:
                size = sizes.get(uid, _SMALL_MAIL)
                if size > self._largest:
                    yield _Batch([uid], size, too_large=True)
                    continue
                if batch and (total + size > _BYTES_AT_ONCE or len(batch) >= self.mails_at_once):
                    yield _Batch(batch, total)
                    batch, total = [], 0
                batch.append(uid)
                total += size
            if batch:
                yield _Batch(batch, total)

    def _sizes_of_large(self, uids: list[int]) -> dict[int, int]:
        """The sizes of those mails that are not small: to ask for all would take a third of the time of a fetch."""
        connection, ranges = self._open_connection, _uid_ranges(uids)
        smallest = min(_SMALL_MAIL, self._largest)
        try:
            _, data = self._command(lambda: connection.uid("SEARCH", f"LARGER {smallest} UID {ranges}"))
            large = sorted(set(_integers(data)).intersection(uids))
        except _RefusedError:
            large = uids
        if not large:
            return {}
        listed = self._fetch_items(_uid_ranges(large), "(UID RFC822.SIZE)")
        return {answer.uid: _number_in(_SIZE, answer.text) for answer in listed}

    def _fetch_items(self, uids: str, items: str, modifier: str = "") -> list[_Answer]:
        """The answer about each mail."""
        connection = self._open_connection
        try:
            _, data = self._command(lambda: connection.uid("FETCH", uids, items, *([modifier] if modifier else [])))
        except _RefusedError:
            raise _BrokenError("refuses to send mails") from None
        return list(_answers(data))

    def _update_labels(self, paths: dict[int, str], modseq: int) -> None:
        """Writes the labels of stored mails that have changed since."""
        for answer in self._fetch_items(_ALL_UIDS, "(UID X-GM-THRID X-GM-LABELS)", f"(CHANGEDSINCE {modseq})"):
            path = paths.get(answer.uid, "")
            stored = self._mirror.read(path) if path else b""
            if stored:
                while stored.startswith(_OUR_HEADERS):
                    stored = stored.partition(b"\n")[2]
                self._mirror.write(path, _gmail_headers(answer) + stored)


class _RefusedError(Exception):
    """The server answered NO or BAD."""

    def __init__(self, answer: Sequence[bytes]) -> None:
        super().__init__()
        code = _CODE.match(answer[0]) if answer else None
        self.is_passing = code is not None and code[1].decode("ascii") in _PASSING
        """whether the answer says that the server cannot answer at present"""


@dataclass(frozen=True)
class _Batch:
    """Mails that are fetched by one command."""

    uids: list[int]
    size: int
    """bytes of all"""
    too_large: bool = False
    """a single mail that is larger than may be fetched"""


def _folder(line: Any) -> _Folder | None:
    """A folder of a line of LIST; None for what is no such line."""
    literal = line[1] if isinstance(line, tuple) else b""
    match = _LISTED.match(line[0] if isinstance(line, tuple) else line or b"")
    if match is None:
        return None
    quoted = match["name"].strip()
    raw = literal or re.sub(rb"\\(.)", rb"\1", quoted[1:-1] if quoted.startswith(b'"') else quoted)
    name = decode_utf7(raw)
    delimiter = match["delimiter"].strip(b'"').replace(b"\\\\", b"\\").decode("ascii", "replace")
    parts = name.split(delimiter) if match["delimiter"] != b"NIL" and delimiter else [name]
    flags = frozenset(match["flags"].decode("ascii", "replace").lower().split())
    return _Folder(_quoted(raw), "/".join(parts), "/".join(map(safe_component, parts)), flags, delimiter)


def _quoted(raw: bytes) -> bytes:
    escaped = raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b'"%b"' % escaped


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def _by_folder(paths: set[str]) -> dict[str, set[str]]:
    """The paths of items by folder."""
    folders: dict[str, set[str]] = {}
    for path in paths:
        folders.setdefault(path.rpartition("/")[0], set()).add(path)
    return folders


def encode_utf7(name: str) -> bytes:
    """A folder's name in modified UTF-7 (RFC 3501, 5.1.3)."""

    def shift(match: re.Match[str]) -> str:
        if match[0] == "&":
            return "&-"
        code = base64.b64encode(match[0].encode("utf-16-be")).decode().rstrip("=")
        return f"&{code.replace('/', ',')}-"

    return re.sub(r"&|[^\x20-\x7e]+", shift, name).encode("ascii")


def decode_utf7(name: bytes) -> str:
    """A folder's name decoded from modified UTF-7 (RFC 3501, 5.1.3); unchanged if it is not valid UTF-7."""
    text = name.decode("utf-8", "replace")
    try:
        return re.sub(r"&([^-]*)-", lambda match: _shifted(match[1]) if match[1] else "&", text)
    except (UnicodeDecodeError, ValueError):
        return text


def _shifted(letters: str) -> str:
    return f"+{letters.replace(',', '/')}-".encode("ascii").decode("utf-7")


@dataclass(frozen=True)
class _Answer:
    """What a server answers to FETCH about one mail."""

    uid: int
    """UID of the mail; 0 where the server does not say"""
    text: bytes
    """without the mail; labels that came as literals are quoted"""
    mail: bytes


def _answers(data: Sequence[Any]) -> Iterator[_Answer]:
    """The answers to FETCH, one a mail: imaplib gives a pair for each literal, and bytes for the end."""
    text, mail = b"", b""
    for part in data:
        if isinstance(part, tuple) and _BODY.search(part[0]):
            text, mail = text + _BODY.sub(b"", part[0]), part[1]
        elif isinstance(part, tuple):
            text += _LITERAL.sub(b"", part[0]) + b'"%b"' % re.sub(rb'([\\"])', rb"\\\1", part[1])
        elif part is not None:
            text += part
            yield _Answer(_number_in(_UID, text), text, mail or _quoted_mail(text))
            text, mail = b"", b""


def _quoted_mail(text: bytes) -> bytes:
    """The body in an answer that has it as a quoted string; empty if there is none."""
    for match in _QUOTED_BODY.finditer(text):
        if match["mail"] is not None:
            return re.sub(rb"\\(.)", rb"\1", match["mail"])
    return b""


def _gmail_headers(answer: _Answer) -> bytes:
    """Gmail's thread and labels as headers, in the form of Takeout; nothing for other servers."""
    thread, label_match = _THREAD.search(answer.text), _LABELS.search(answer.text)
    lines = [b"X-GM-THRID: %b" % thread[1]] if thread else []
    labels = list(_labels(answer.text[label_match.end() :])) if label_match else []
    if labels:
        lines.append(label_header(labels))
    return b"".join(line + b"\r\n" for line in lines)


def label_header(labels: Sequence[str]) -> bytes:
    """Labels as the header with which Takeout writes them."""
    listed = ",".join(f'"{label}"' if "," in label else label for label in labels)
    if not listed.isascii():
        listed = "=?UTF-8?B?" + base64.b64encode(listed.encode()).decode() + "?="
    return b"X-Gmail-Labels: " + listed.encode()


def _labels(text: bytes) -> Iterator[str]:
    """The labels before the bracket that ends their list; those that Gmail gives itself lose their backslash."""
    depth_end = 0
    for match in _LABEL.finditer(text):
        if b")" in text[depth_end : match.start()]:
            return
        depth_end = match.end()
        label = re.sub(rb"\\(.)", rb"\1", match[1]) if match[1] is not None else match[2]
        yield decode_utf7(label.lstrip(b"\\"))


def _uid_set(uids: Sequence[int]) -> str:
    return ",".join(map(str, uids))


def _uid_ranges(uids: Sequence[int]) -> str:
    """Ascending UIDs, neighbours as ranges, so that the command stays short."""
    ranges: list[list[int]] = []
    for uid in uids:
        if ranges and ranges[-1][1] == uid - 1:
            ranges[-1][1] = uid
        else:
            ranges.append([uid, uid])
    return ",".join(f"{first}:{last}" if first < last else str(first) for first, last in ranges)


def _bytes(data: Sequence[Any]) -> list[bytes]:
    return [part for part in data if isinstance(part, bytes)]


def _integers(data: Sequence[Any]) -> list[int]:
    return [int(number) for part in _bytes(data) for number in part.split() if number.isdigit()]


def _number(value: Any) -> int:
    """The first number of an untagged response; 0 where there is none."""
    match = re.search(rb"\d+", value[0] or b"") if value else None
    return int(match[0]) if match else 0


def _number_in(pattern: re.Pattern[bytes], heads: bytes) -> int:
    match = pattern.search(heads)
    return int(match[1]) if match else 0


def _log_in(connection: imaplib.IMAP4, user: str, secret: str) -> tuple[str, Sequence[Any]]:
    if "AUTH=PLAIN" in connection.capabilities:
        return connection.authenticate("PLAIN", lambda _: f"\0{user}\0{secret}".encode())
    quoted = user.replace("\\", "\\\\").replace('"', '\\"')
    return connection.login(f'"{quoted}"', secret)
