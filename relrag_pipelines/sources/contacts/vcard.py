"""Parses vCard 2.1, 3.0 (RFC 2426) and 4.0 (RFC 6350) into properties, card by card.

Lines are unfolded and decoded one by one; pictures, sounds and keys are passed over, however long. What is no property
is counted, and the rest of the card is kept.
"""

from __future__ import annotations

import binascii
import codecs
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO

from relrag_pipelines.sources.formats.charset_detection import CharsetError, decode

MAX_LINE = 16 * 2**20
"""Longest line that is read, bytes; of a longer one the rest is passed over."""

_PASSED_OVER = (b"PHOTO", b"LOGO", b"SOUND", b"KEY")
_PARAMETERS = re.compile(r';([^;:="]+)(?:=((?:"[^"]*"|[^";:])*))?')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PARTS = re.compile(r"(?<!\\)(?:\\\\)*;")


@dataclass(frozen=True)
class Property:
    """One property of a card: `item1.TEL;TYPE=cell:052-555-0111`."""

    name: str
    """in capitals"""
    value: str
    """decoded; what is escaped in it still is"""
    group: str = ""
    """joins properties of a card: `item1`"""
    parameters: dict[str, str] = field(default_factory=dict)
    """names in capitals; the types of 2.1, which have no name, stand under TYPE, joined by commas"""

    @property
    def text(self) -> str:
        """The value as a person reads it."""
        return unescape(self.value)

    @property
    def parts(self) -> list[str]:
        """The parts between semicolons."""
        parts, begin = [], 0
        for match in _PARTS.finditer(self.value):
            parts.append(unescape(self.value[begin : match.end() - 1]))
            begin = match.end()
        return [*parts, unescape(self.value[begin:])]

    @property
    def types(self) -> list[str]:
        """Its types in small letters."""
        return [one.strip().strip('"').lower() for one in self.parameters.get("TYPE", "").split(",") if one.strip()]


@dataclass
class VCard:
    """One contact."""

    line: int
    """where it begins, from 1"""
    properties: list[Property] = field(default_factory=list)
    bad_lines: int = 0
    guessed_values: int = 0
    """values that are neither in the charset that they name nor in UTF-8"""
    has_end: bool = True
    is_truncated: bool = False
    """the file ends within it"""


def unescape(text: str) -> str:
    """`\\n` as a line end, other escaped characters as themselves."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], text)


def cards(file: BinaryIO) -> Iterator[VCard]:
    """The cards of a file in their order; one that another begins in, or that the file ends in, is not `ended`."""
    card: VCard | None = None
    agents = 0
    for number, line in _unfold(_as_bytes(file)):
        name = line.strip().upper()
        if name == b"BEGIN:VCARD":
            if card and _is_agent(card):
                agents += 1
                continue
            if card:
                card.has_end = False
                yield card
            card, agents = VCard(number), 0
        elif name == b"END:VCARD":
            if agents:
                agents -= 1
            elif card:
                yield card
                card = None
        elif card and not agents and name:
            _add(card, line)
    if card:
        card.has_end, card.is_truncated = False, True
        yield card


def _is_agent(card: VCard) -> bool:
    """Whether a card is that of an agent: vCard 2.1 nests it in the person's."""
    return bool(card.properties) and card.properties[-1].name == "AGENT" and not card.properties[-1].value.strip()


def _as_bytes(file: BinaryIO) -> BinaryIO:
    """The file, as UTF-8 where it begins with another Unicode mark."""
    head = file.read(3)
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return BytesIO((head + file.read()).decode("utf-16", "replace").encode())
    file.seek(3 if head == codecs.BOM_UTF8 else 0)
    return file


def _unfold(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Whole lines with the number of their first; continued ones joined, pictures left out."""
    whole, first, passing, soft = b"", 0, False, False
    number = 0
    while line := file.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
        line = line.rstrip(b"\r\n")
        if soft or (line[:1] in (b" ", b"\t") and first):
            whole += b"" if passing else (line if soft else line[1:])
        elif passing and line and b":" not in line:
            continue  # a picture whose lines are not indented
        else:
            if first and not passing:
                yield first, whole
            whole, first = line, number
            passing = re.split(rb"[;:]", line, maxsplit=1)[0].rpartition(b".")[2].upper() in _PASSED_OVER
        soft = not passing and whole.endswith(b"=") and b"QUOTED-PRINTABLE" in whole.partition(b":")[0].upper()
        whole = whole[:-1] if soft else whole
    if first and not passing:
        yield first, whole


def _add(card: VCard, line: bytes) -> None:
    head, colon, raw = _split(line)
    group, _, name = head.partition(b";")[0].rpartition(b".")
    if not colon or not re.fullmatch(rb"[A-Za-z0-9-]+", name):
        card.bad_lines += 1
        return
    parameters = _parameters(head.decode("utf-8", "replace"))
    value, certain = _decode(raw, parameters)
    card.guessed_values += not certain
    card.properties.append(Property(name.decode().upper(), value, group.decode("ascii", "replace").lower(), parameters))


def _split(line: bytes) -> tuple[bytes, bytes, bytes]:
    """Splits a line into name with parameters, and value, at the first colon outside quotes."""
    head, colon, value = line.partition(b":")
    while head.count(b'"') % 2 and colon:
        more, colon, value = value.partition(b":")
        head += b":" + more
    return head, colon, value


def _parameters(head: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _PARAMETERS.findall(head):
        key = name.strip().upper()
        if not value:
            bare = "ENCODING" if key in ("QUOTED-PRINTABLE", "BASE64") else "TYPE"
            key, value = bare, key.lower()
        value = value.replace('"', "")
        found[key] = f"{found[key]},{value}" if key in found else value
    return found


def _decode(raw: bytes, parameters: dict[str, str]) -> tuple[str, bool]:
    """The value as text, and whether that is certain."""
    encoding = parameters.get("ENCODING", "").upper()
    if encoding == "QUOTED-PRINTABLE":
        raw = quopri.decodestring(raw)
    elif encoding in ("B", "BASE64"):
        try:
            raw = binascii.a2b_base64(raw)
        except binascii.Error:
            return "", False
    for charset in (parameters.get("CHARSET"), "utf-8"):
        try:
            if charset:
                return raw.decode(charset), True
        except (UnicodeDecodeError, LookupError):
            continue
    try:
        return decode(raw).text, False
    except CharsetError:
        return raw.decode("utf-8", "replace"), False
