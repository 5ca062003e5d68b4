"""Reads a file mail by mail: an mbox in any of its forms, or a single mail (.eml, .emlx, .msg, Maildir).

A mailbox is streamed: no more than one mail of it is held. Its mails are told apart by their `From ` line (separators);
those of the mboxcl forms by Content-Length, where what follows bears it out. Formats: RFC 4155 and, for the forms,
mbox(5).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.sources.mail import separators, unicode_files
from relrag_pipelines.sources.mail.separators import FROM
from relrag_pipelines.sources.mail.unicode_files import ByteSource

MAX_MAIL = 256 * 2**20
"""Largest mail that is held, bytes; of a larger one only its place is told."""

_BLOCK = 4 * 2**20
_MAX_LINE_LENGTH = 1000
"""twice as many bytes are enough to decide whether a mail begins"""
_CONTENT_LENGTH = re.compile(rb"^Content-Length:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_BLANK_LINES = re.compile(rb"(?:\r?\n){0,3}")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_EMLX_LENGTH = re.compile(rb"(\d{1,12})[ \t]*\r?\n")
_MANY_MAILS = ".mbox"
_ONE_MAIL = (".eml", ".emlx", ".msg")


@dataclass(frozen=True)
class Mail:
    """A mail as it is in a file."""

    data: bytes
    """without its From line, quoted From lines restored; empty where it is too large"""
    offset: str
    """where in the file: the offset of its first byte in a mailbox, nothing in a file of its own"""
    size: int
    """bytes"""
    separator: bytes = b""
    """the `From ` line above it, with the time of delivery"""


def is_mailbox(file: Path) -> bool:
    """Whether a file is read as many mails: it is named like or begins like a mailbox, and is not named as one mail."""
    if file.suffix.lower() in _ONE_MAIL or is_maildir(PurePosixPath(file.as_posix())):
        return False
    return file.suffix.lower() == _MANY_MAILS or read_head(file, 100).lstrip(b"\n").startswith(FROM)


def is_maildir(path: PurePosixPath) -> bool:
    """Whether a file is where a Maildir keeps its mails."""
    return path.parent.name in ("cur", "new")


def read_head(file: Path, size: int) -> bytes:
    """The first bytes of a file, as its mails are read."""
    with open_plain(file) as stream:
        return unicode_files.plain_bytes(stream.read(size))


def starts_item_at(file: Path, offset: int) -> bool:
    """Whether a mail begins at that offset of a mailbox: what lies before it is whole."""
    with open_plain(file) as stream:
        head = stream.read(2 * _MAX_LINE_LENGTH)
        if unicode_files.is_transcoded(head):
            return False
        stream.seek(max(0, offset - 1))
        around = unicode_files.plain_bytes(stream.read(1 + 2 * _MAX_LINE_LENGTH))
    if offset and around[:1] != b"\n":
        return False
    return separators.begins_mail(around[min(1, offset) :], among_patches=separators.is_patch(head))


def is_cut_off(file: Path) -> bool:
    """Whether a mailbox ends in the middle of a line, as it does when copying it was interrupted."""
    if not is_mailbox(file):
        return False
    with open_plain(file) as stream:
        stream.seek(max(0, file.stat().st_size - 4))
        return stream.read(4).rstrip(b"\0")[-1:] not in (b"", b"\n", b"\r")


def mails(file: Path, start: int = 0) -> Iterator[Mail]:
    """The mails of a file, in order; of a mailbox those from that offset on."""
    with open_plain(file) as stream:
        if is_mailbox(file):
            yield from _split(*unicode_files.open_plain_bytes(stream, start))
        else:
            size = file.stat().st_size
            data = stream.read() if size <= MAX_MAIL else b""
            yield Mail(_without_envelope(data) if file.suffix.lower() == ".emlx" else data, "", size)


def _without_envelope(data: bytes) -> bytes:
    """The mail in a file of Apple Mail, which begins with its length and has a property list behind it."""
    length = _EMLX_LENGTH.match(data)
    return data[length.end() : length.end() + int(length[1])] if length else data


def _split(stream: ByteSource, start: int) -> Iterator[Mail]:
    """Cuts a stream before every line that begins a mail."""
    window = _Buffer(stream, start)
    while not window.at_end():
        first = window.base + window.position
        end = _end(window)
        if end is None:
            size = _skip(window)
            yield Mail(b"", str(first), size)
            continue
        data = window.take(end)
        if data.strip():
            separator, mail = _restore(data)
            yield Mail(mail, str(first), len(data), separator)


class _Buffer:
    """The part of a stream that is being examined."""

    def __init__(self, stream: ByteSource, base: int) -> None:
        self._stream = stream
        self.base = base
        """offset of the buffer's first byte in the stream"""
        self.buffer = b""
        self.position = 0
        """where in the buffer the next mail begins"""
        self.ended = False

    def more(self) -> bool:
        """Reads another block and drops consumed bytes; False at the end of the stream."""
        if self.ended:
            return False
        pending = len(self.buffer) - self.position
        read = self._stream.read(max(_BLOCK, pending))
        self.ended = not read
        self.base += self.position
        self.buffer, self.position = self.buffer[self.position :] + read, 0
        return bool(read)

    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.position >= len(self.buffer) and not self.more()

    def take(self, end: int) -> bytes:
        """The bytes before that position of the buffer."""
        data = self.buffer[self.position : end]
        self.position = end
        return data


def _end(window: _Buffer) -> int | None:
    """Offset of the end of the mail at the buffer's position; None if it is too large."""
    counted = _counted_end(window)
    if counted is not None:
        return counted
    looked = len(FROM)
    while True:
        mail_end = _next_mail(window, window.position + looked)
        if mail_end is not None:
            return mail_end
        if window.ended:
            return len(window.buffer)
        looked = max(looked, len(window.buffer) - window.position - 2 * _MAX_LINE_LENGTH)
        if looked > MAX_MAIL:
            return None
        window.more()


def _next_mail(window: _Buffer, position: int) -> int | None:
    """Offset of the next mail; None if the buffer does not contain enough of one yet."""
    buffer = window.buffer
    while (line := separators.find_candidate(buffer, position)) is not None:
        if not window.ended and line + 2 * _MAX_LINE_LENGTH > len(buffer):
            return None  # not all of what tells a mail is there yet
        if _begins_mail(window, line):
            return line
        position = line
    return None


def _begins_mail(window: _Buffer, position: int) -> bool:
    """Whether another mail begins at `position`, after the mail at the window's position."""
    data = window.buffer[position : position + 2 * _MAX_LINE_LENGTH]
    return separators.begins_mail(data, among_patches=separators.is_patch(window.buffer, window.position))


def _counted_end(window: _Buffer) -> int | None:
    """The end by Content-Length, if a mail or the end of the file follows it; else None."""
    head_end = _find_head_end(window)
    if head_end is None:
        return None
    length = _CONTENT_LENGTH.search(window.buffer, window.position, head_end.start() + 1)
    if length is None or int(length[1]) > MAX_MAIL:
        return None
    size = head_end.end() - window.position + int(length[1])
    while len(window.buffer) - window.position < size + 2 * _MAX_LINE_LENGTH and window.more():
        pass
    end = window.position + size
    blank = _BLANK_LINES.match(window.buffer, end)
    behind = blank.end() if blank else end
    if end > len(window.buffer):
        return None
    whole = behind == len(window.buffer) if window.ended else False
    return behind if whole or (behind > end and _begins_mail(window, behind)) else None


def _find_head_end(window: _Buffer) -> re.Match[bytes] | None:
    """The empty line after the headers, looked for in the first mebibyte of the mail."""
    head_end = _HEAD_END.search(window.buffer, window.position)
    while head_end is None and len(window.buffer) - window.position < 2**20 and window.more():
        head_end = _HEAD_END.search(window.buffer, window.position)
    return head_end


def _skip(window: _Buffer) -> int:
    """Skips a mail that is too large without holding it in memory; returns its size."""
    size = 0
    while True:
        mail_end = _next_mail(window, window.position)
        if mail_end is not None:
            return size + len(window.take(mail_end))
        if window.ended:
            return size + len(window.take(len(window.buffer)))
        size += len(window.take(max(window.position, len(window.buffer) - 2 * _MAX_LINE_LENGTH)))
        window.more()


def _restore(data: bytes) -> tuple[bytes, bytes]:
    """The From line and the mail below it; `>From ` at the start of a line loses the mark that mailboxes put there.

    Where a line begins with `From ` itself, the mailbox puts no marks (mboxcl2), and they are the writer's own.
    """
    data = data.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
    separator = b""
    if data.startswith(FROM):
        separator, _, data = data.partition(b"\n")
    if b"\n>" in data and b"From " in data and b"\nFrom " not in data:
        data = _QUOTED_FROM.sub(rb"\1", data)
    return separator, data
