"""Reads a file mail by mail: an mbox in any of its forms, or a single mail (.eml, .msg, Maildir).

A mailbox is streamed: no more than one mail of it is held. Its mails are told apart by their `From ` line; those of the
mboxcl forms by Content-Length, where what follows bears it out. Formats: RFC 4155 and, for the forms, mbox(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from relrag_pipelines.files.regular_files import open_plain

MAX_MAIL = 256 * 2**20
"""Largest mail that is held, bytes; of a larger one only its place is told."""

_BLOCK = 4 * 2**20
_LONGEST_LINE = 1000
_FROM = b"From "
_FROM_LINE = re.compile(
    rb"From (?=.{0,400}\b\d{1,2}:\d\d)(?=.{0,400}\b(?:19|20)\d\d\b)"
    rb"(?=.{0,400}(?:\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b|\d{4}-\d\d-\d\d)).*\n"
)
_HEADER = re.compile(rb">?[!-9;-~]{1,100}[ \t]*:|>?From |[!-9;-~]{0,100}\Z")
"""what follows a From line: a header, another From line, or the torn end of the file"""
_CONTENT_LENGTH = re.compile(rb"^Content-Length:[ \t]*(\d{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)


@dataclass(frozen=True)
class Mail:
    """A mail as it is in a file."""

    data: bytes
    """without its From line, quoted From lines restored; empty where it is too large"""
    place: str
    """where in the file: the offset of its first byte in a mailbox, nothing in a file of its own"""
    size: int
    """bytes"""


def is_mailbox(file: Path) -> bool:
    """Whether a file is read as many mails: it is named like or begins like a mailbox, and is not named as one mail."""
    if file.suffix.lower() in (".eml", ".msg") or is_maildir(PurePosixPath(file.as_posix())):
        return False
    with open_plain(file) as stream:
        return file.suffix.lower() == ".mbox" or stream.read(len(_FROM)) == _FROM


def is_maildir(path: PurePosixPath) -> bool:
    """Whether a file is where a Maildir keeps its mails."""
    return path.parent.name in ("cur", "new")


def starts_item_at(file: Path, offset: int) -> bool:
    """Whether a mail begins at that offset of a mailbox: what lies before it is whole."""
    with open_plain(file) as stream:
        stream.seek(max(0, offset - 1))
        before = stream.read(min(1, offset))
        head = stream.read(2 * _LONGEST_LINE)
    return before in (b"", b"\n") and _begins_mail(head, 0)


def is_cut_off(file: Path) -> bool:
    """Whether a mailbox ends in the middle of a line, as it does when copying it was interrupted."""
    if not is_mailbox(file):
        return False
    with open_plain(file) as stream:
        stream.seek(max(0, file.stat().st_size - 1))
        return stream.read(1) not in (b"", b"\n")


def mails(file: Path, start: int = 0) -> Iterator[Mail]:
    """The mails of a file, in order; of a mailbox those from that offset on."""
    with open_plain(file) as stream:
        if is_mailbox(file):
            stream.seek(start)
            yield from _split(stream, start)
        else:
            size = file.stat().st_size
            yield Mail(stream.read() if size <= MAX_MAIL else b"", "", size)


def _split(stream: BinaryIO, start: int) -> Iterator[Mail]:
    """Cuts a stream before every line that begins a mail."""
    window = _Buffer(stream, start)
    while not window.at_end():
        first = window.base + window.place
        end = _end(window)
        if end is None:
            size = _skip(window)
            yield Mail(b"", str(first), size)
            continue
        data = window.take(end)
        if data.strip():
            yield Mail(_restore(data), str(first), len(data))


class _Buffer:
    """The part of a stream that is being examined."""

    def __init__(self, stream: BinaryIO, base: int) -> None:
        self._stream = stream
        self.base = base
        """offset of the buffer's first byte in the stream"""
        self.buffer = b""
        self.place = 0
        """where in the buffer the next mail begins"""
        self.ended = False

    def more(self) -> bool:
        """Reads on, and drops what was taken; False at the end of the stream."""
        if self.ended:
            return False
        held = len(self.buffer) - self.place
        read = self._stream.read(max(_BLOCK, held))
        self.ended = not read
        self.base += self.place
        self.buffer, self.place = self.buffer[self.place :] + read, 0
        return bool(read)

    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.place >= len(self.buffer) and not self.more()

    def take(self, end: int) -> bytes:
        """The bytes before that position of the buffer."""
        data = self.buffer[self.place : end]
        self.place = end
        return data


def _end(window: _Buffer) -> int | None:
    """Where in the buffer the mail that begins at its place ends; None where it is too large."""
    counted = _counted_end(window)
    if counted is not None:
        return counted
    looked = len(_FROM)
    while True:
        found = _next_mail(window, window.place + looked)
        if found is not None:
            return found
        if window.ended:
            return len(window.buffer)
        looked = max(looked, len(window.buffer) - window.place - 2 * _LONGEST_LINE)
        if looked > MAX_MAIL:
            return None
        window.more()


def _next_mail(window: _Buffer, place: int) -> int | None:
    buffer = window.buffer
    while (place := buffer.find(b"\nFrom ", place)) >= 0:
        if not window.ended and place + 2 * _LONGEST_LINE > len(buffer):
            return None  # not all of what tells a mail is there yet
        if _begins_mail(buffer, place + 1):
            return place + 1
        place += len(_FROM)
    return None


def _begins_mail(buffer: bytes, place: int) -> bool:
    """Whether a line is what mailboxes put before a mail: it names a time, and a header follows."""
    found = _FROM_LINE.match(buffer, place, place + _LONGEST_LINE)
    return found is not None and _HEADER.match(buffer, found.end()) is not None


def _next_line(buffer: bytes, place: int) -> int:
    return buffer.find(b"\n", place) + 1


def _counted_end(window: _Buffer) -> int | None:
    """The end as Content-Length tells it, where a mail or the end of the file follows."""
    head_end = _HEAD_END.search(window.buffer, window.place)
    while head_end is None and len(window.buffer) - window.place < 2**20 and window.more():
        head_end = _HEAD_END.search(window.buffer, window.place)
    if head_end is None:
        return None
    length = _CONTENT_LENGTH.search(window.buffer, window.place, head_end.start() + 1)
    if length is None or int(length[1]) > MAX_MAIL:
        return None
    size = head_end.end() - window.place + int(length[1])
    while len(window.buffer) - window.place < size + 2 * _LONGEST_LINE and window.more():
        pass
    end = window.place + size
    blank = re.compile(rb"(?:\r?\n){0,3}").match(window.buffer, end)
    behind = blank.end() if blank else end
    if end > len(window.buffer):
        return None
    whole = behind == len(window.buffer) if window.ended else False
    return behind if whole or (behind > end and _begins_mail(window.buffer, behind)) else None


def _skip(window: _Buffer) -> int:
    """Skips a mail that is too large without holding it in memory; returns its size."""
    size = 0
    while True:
        found = _next_mail(window, window.place)
        if found is not None:
            return size + len(window.take(found))
        if window.ended:
            return size + len(window.take(len(window.buffer)))
        size += len(window.take(max(window.place, len(window.buffer) - 2 * _LONGEST_LINE)))
        window.more()


def _restore(data: bytes) -> bytes:
    """A mail without its From line; `>From ` at the start of a line loses the mark that mailboxes put there.

    Where a line begins with `From ` itself, the mailbox puts no marks (mboxcl2), and they are the writer's own.
    """
    if data.startswith(_FROM):
        data = data[_next_line(data, 0) or len(data) :]
    if b"\n>" in data and b"From " in data and b"\nFrom " not in data:
        data = _QUOTED_FROM.sub(rb"\1", data)
    return data
