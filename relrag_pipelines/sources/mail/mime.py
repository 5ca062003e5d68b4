"""The MIME parts of a mail: headers as bytes, and where each body begins and ends.

One pass over the bytes, without a copy: a part knows its place in the mail, and is decoded only when it is asked for.
What is broken is read as well as it can be and noted in `defects`. Format: RFC 5322 and RFC 2045 to 2047.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from relrag_pipelines.sources.mail import headers
from relrag_pipelines.sources.mail.mail_heads import head_goes_on, start_of_head
from relrag_pipelines.sources.mail.unicode_files import plain_bytes

MAX_HEADERS = 2**20
"""Longest head of a part that is read, bytes; what is behind it is not looked at."""
MAX_DEPTH = 50
"""So many multiparts and messages within each other are opened."""
MAX_PARTS = 20_000
"""So many parts of one mail are told apart."""

_HEADER = re.compile(rb"([!-9;-~]{1,256})[ \t]*:(.*(?:\r?\n[ \t].*)*)\r?(?:\n|\Z)")
_FROM_LINE = re.compile(rb">?From .*\r?(?:\n|\Z)")
_BLANK = re.compile(rb"[ \t]*\r?(?:\n|\Z)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")
_PADDING = re.compile(rb"=+\s*")
"""the end of a piece of base64; some programs write several pieces one after another"""
_IN_CLEAR = re.compile(rb"[^A-Za-z0-9+/=\s]|\w[ \t]\w")
_COMMENT = re.compile(rb"\([^()]*\)")
_TOKEN = re.compile(rb"[a-z0-9]+(?:-[a-z0-9]+)*")
_ENCODINGS = {
    b"base-64": b"base64",
    b"x-base64": b"base64",
    b"uuencode": b"x-uuencode",
    b"x-uue": b"x-uuencode",
    b"uue": b"x-uuencode",
    b"7bit": b"",
    b"8bit": b"",
    b"binary": b"",
}
"""what programs call an encoding that has another name"""
_BLANKS_BEHIND_SOFT_BREAK = re.compile(rb"=[ \t]+(?=\r?\n)")


@dataclass(slots=True)
class Part:
    """A mail, or a part of one."""

    source: bytes = field(repr=False)
    start: int
    """where its body begins"""
    end: int
    fields: dict[str, list[bytes]] = field(default_factory=dict)
    """lower-case name -> values as they stand, folded, in order"""
    type: str = "text/plain"
    """lower-case MIME type"""
    parameters: dict[str, str] = field(default_factory=dict)
    """of the content type"""
    parts: list[Part] = field(default_factory=list)
    """of a multipart; of a message its one mail"""
    defects: list[str] = field(default_factory=list)
    """what is wrong with it, a short fixed word each"""
    declares_type: bool = False
    """it says itself of what type it is"""
    charsets: list[str] = field(default_factory=list)
    """that parts of the mail declare, in order"""
    depth: int = 0
    """number of multiparts and messages that contain it"""

    def raw(self, name: str) -> bytes:
        """The first value of a header as it is; empty if there is none."""
        values = self.fields.get(name)
        return values[0] if values else b""

    def get(self, name: str) -> str:
        """The first value of a header, unfolded and decoded; empty if there is none."""
        return headers.decode(self.raw(name))

    def walk(self) -> Iterator[Part]:
        """The part and all parts within it, but not inside attached messages."""
        waiting = [self]
        while waiting:
            part = waiting.pop()
            yield part
            if not part.type.startswith("message/") or part is self:
                waiting += reversed(part.parts)

    def content(self) -> bytes:
        """The body with its transfer encoding decoded; what cannot be decoded is noted and kept as it is."""
        body = self.source[self.start : self.end]
        encoding = self.encoding
        if encoding == b"base64":
            return self._base64_pieces(body)
        if encoding == b"quoted-printable":
            return binascii.a2b_qp(_BLANKS_BEHIND_SOFT_BREAK.sub(b"=", body))
        if encoding == b"x-uuencode":
            return self._decode_uuencode(body)
        if encoding:
            self.defects.append("unknown_encoding")
        return body

    @property
    def encoding(self) -> bytes:
        """Its transfer encoding, in lower case; empty if the body stands as it is.

        RFC 2045 allows comments around it, and programs write quotes and parameters.
        """
        token = _TOKEN.search(_COMMENT.sub(b"", self.raw("content-transfer-encoding").lower()))
        return _ENCODINGS.get(token[0], token[0]) if token else b""

    def _base64_pieces(self, body: bytes) -> bytes:
        """All pieces of the body, and the text that a mailing list put in clear behind them."""
        first, *others = _pieces(body) or [b""]
        decoded = [self._base64(first)]
        for index, piece in enumerate(others):
            if _IN_CLEAR.search(piece):
                footer = b"".join(others[index:])
                return b"".join([*decoded, b"\n" + footer if self.type.startswith("text/") else b""])
            decoded.append(self._base64(piece))
        return b"".join(decoded)

    def _base64(self, body: bytes) -> bytes:
        try:
            return binascii.a2b_base64(body)
        except binascii.Error:
            self.defects.append("damaged_base64")
        letters = _NOT_BASE64.sub(b"", body)
        letters = letters[:-1] if len(letters) % 4 == 1 else letters
        return binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))

    def _decode_uuencode(self, body: bytes) -> bytes:
        lines = body.splitlines()
        begin = next((index for index, line in enumerate(lines) if line.startswith(b"begin ")), -1)
        decoded = []
        for line in lines[begin + 1 :]:
            if line.strip() in (b"end", b"`", b""):
                continue
            try:
                decoded.append(binascii.a2b_uu(line))
            except binascii.Error:
                self.defects.append("damaged_uuencode")
                break
        return b"".join(decoded)


def _pieces(body: bytes) -> list[bytes]:
    """The pieces of a base64 body, each with its padding."""
    ends = [padding.end() for padding in _PADDING.finditer(body)]
    return [body[start:end] for start, end in pairwise([0, *ends, len(body)]) if start < end]


def parse(data: bytes, depth: int = 0) -> Part:
    """The mail in these bytes, whatever they are; `depth` is how deeply it is nested."""
    data = plain_bytes(data)
    return _PartReader(data).mail(0, len(data), depth)


class _PartReader:
    """One mail while it is opened: how many parts it has so far."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._parts = 0
        self._charsets: list[str] = []

    def mail(self, start: int, end: int, depth: int) -> Part:
        """A whole mail, whose headers may stand behind empty lines and junk."""
        from_line = _FROM_LINE.match(self._data, start, end)
        top = from_line.end() if from_line else start
        begin = start_of_head(self._data, top, end)
        part = self.part(begin, end, depth, "text/plain")
        if self._data[top:begin].strip():
            part.defects.append("junk_before_headers")
        return part

    def part(self, start: int, end: int, depth: int, default_type: str) -> Part:
        self._parts += 1
        part = Part(self._data, start, end, charsets=self._charsets, depth=depth)
        _read_head(part)
        given = part.fields.get("content-type", ())
        part.type, part.parameters = headers.content_type(given[0] if given else b"", default_type)
        part.declares_type = bool(given) and part.type != ""
        part.type = part.type or default_type
        if (charset := part.parameters.get("charset")) and charset not in self._charsets:
            self._charsets.append(charset)
        if len(given) > 1:
            part.defects.append("several_content_types")
        if part.type.startswith("multipart/"):
            self._open_multipart(part, depth)
        elif part.type in ("message/rfc822", "message/global", "message/news"):
            self._open_message(part, depth)
        return part

    def _open_message(self, part: Part, depth: int) -> None:
        if depth >= MAX_DEPTH:
            part.defects.append("too_deep")
        elif part.encoding in (b"base64", b"quoted-printable"):  # forbidden, and sent all the same
            inner = part.content()
            part.parts = [_PartReader(inner).mail(0, len(inner), depth + 1)]
        else:
            part.parts = [self.mail(part.start, part.end, depth + 1)]

    def _open_multipart(self, part: Part, depth: int) -> None:
        boundary = part.parameters.get("boundary", "")
        if depth >= MAX_DEPTH:
            part.defects.append("too_deep")
            return
        if not boundary:
            part.defects.append("no_boundary")
            return
        default = "message/rfc822" if part.type == "multipart/digest" else "text/plain"
        places, closed = self._delimiters(part, b"--" + boundary.encode("utf-8", "surrogateescape"))
        if not places:
            part.defects.append("boundary_not_found")
            return
        if not closed:
            part.defects.append("not_closed")
            places.append((part.end, part.end))
        for (_, start), (end, _) in pairwise(places):
            if self._parts >= MAX_PARTS:
                part.defects.append("too_many_parts")
                return
            part.parts.append(self.part(start, max(start, end), depth + 1, default))

    def _delimiters(self, part: Part, delimiter: bytes) -> tuple[list[tuple[int, int]], bool]:
        """Where each delimiter's line begins, its line end before included, and ends; and whether the last closes."""
        data, delimiters, offset = self._data, [], part.start
        while (offset := data.find(delimiter, offset, part.end)) >= 0:
            behind = offset + len(delimiter)
            closes = data.startswith(b"--", behind, part.end)
            line_end = data.find(b"\n", behind, part.end)
            line_end = part.end if line_end < 0 else line_end
            rest = data[behind + 2 * closes : min(line_end, behind + 1000)]
            if (offset == part.start or data[offset - 1 : offset] == b"\n") and (closes or not rest.strip()):
                delimiters.append((_before_line_end(data, offset, part.start), min(line_end + 1, part.end)))
                if closes:
                    return delimiters, True
            offset = behind
        return delimiters, False


def _before_line_end(data: bytes, offset: int, start: int) -> int:
    if offset > start and data[offset - 1 : offset] == b"\n":
        offset -= 1
        if offset > start and data[offset - 1 : offset] == b"\r":
            offset -= 1
    return offset


def _add_to_last(fields: dict[str, list[bytes]], line: bytes) -> None:
    """Adds a line without a name to the header above it, of which it most likely is a fold that lost its blank."""
    if fields and not _FROM_LINE.match(line):
        name = next(reversed(fields))
        fields[name][-1] += b" " + line.strip()


def _next_line(data: bytes, offset: int, limit: int) -> int:
    line_end = data.find(b"\n", offset, limit)
    return limit if line_end < 0 else line_end + 1


def _read_head(part: Part) -> None:
    """Reads the headers, and moves `start` past them."""
    data, offset, end = part.source, part.start, part.end
    limit = min(end, offset + MAX_HEADERS)
    if from_line := _FROM_LINE.match(data, offset, limit):
        offset = from_line.end()
    fields = part.fields
    while offset < limit:
        header = _HEADER.match(data, offset, limit)
        if header:
            fields.setdefault(header[1].decode("ascii").lower(), []).append(header[2])
            offset = header.end()
        elif blank := _BLANK.match(data, offset, limit):
            part.start = blank.end()
            return
        elif data[offset : offset + 1] in (b" ", b"\t"):  # a continuation of nothing
            part.defects.append("stray_continuation")
            offset = _next_line(data, offset, limit)
        elif head_goes_on(data, offset, limit, fields):
            part.defects.append("stray_line")
            line_start, offset = offset, _next_line(data, offset, limit)
            _add_to_last(fields, data[line_start:offset])
        else:
            part.defects.append("no_separator")
            break
    if offset >= limit < end:
        part.defects.append("head_too_long")
        behind = _HEAD_END.search(data, offset, end)
        offset = behind.end() if behind else end
    part.start = min(offset, end)
