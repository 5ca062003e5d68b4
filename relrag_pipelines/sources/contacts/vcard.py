"""Parses vCard 2.1, 3.0 (RFC 2426) and 4.0 (RFC 6350) into properties, card by card.

Lines are unfolded and decoded as they are read; pictures, sounds and keys are skipped, however long they are. A line
that isn't a property is counted, and the rest of the card is kept.
"""

from __future__ import annotations

import binascii
import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from relrag_pipelines.sources.formats.charset_detection import CharsetError, decode
from relrag_pipelines.sources.formats.content_line_bytes import as_utf8

MAX_LINE = 16 * 2**20
"""Longest line that is read, bytes; the rest of a longer line is skipped."""

_PASSED_OVER = (b"PHOTO", b"LOGO", b"SOUND", b"KEY")
_QUOTED_PRINTABLE = re.compile(rb";(?:[^;]*=)?\"?(?:QUOTED-PRINTABLE|Q)\"?(?:;|$)")
_PROPERTY = re.compile(
    rb"(?:[A-Za-z0-9-]+\.)?(?:END|BEGIN|VERSION|N|FN|TEL|EMAIL|ADR|ORG|TITLE|ROLE|URL|BDAY|NOTE|LABEL|NICKNAME|UID|REV"
    rb"|CATEGORIES|GEO|TZ|PHOTO|X-[A-Z0-9-]+)[;:]"
)
"""property names in capitals, as phones write them"""
_PARAMETERS = re.compile(r';([^;:="]+)(?:=((?:"[^"]*"|[^";:])*))?')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_PARTS = re.compile(r"(?<!\\)(?:\\\\)*;")


@dataclass(frozen=True)
class Property:
    """One property of a card: `item1.TEL;TYPE=cell:052-555-0111`."""

    name: str
    """in capitals"""
    value: str
    """decoded, with its escape sequences"""
    group: str = ""
    """joins properties of a card: `item1`"""
    parameters: dict[str, str] = field(default_factory=dict)
    """names in capitals; the unnamed types of vCard 2.1 are under TYPE, joined by commas"""

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
        """The values of TYPE in lower case."""
        return [
            type_.strip().strip('"').lower() for type_ in self.parameters.get("TYPE", "").split(",") if type_.strip()
        ]


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
    """The cards of a file in order; `has_end` is false for a card that ends at another BEGIN or at the file's end."""
    reading = _CardReader()
    for number, line in _unfold(as_utf8(file)):
        name = line.strip().upper()
        if name == b"BEGIN:VCARD":
            card = reading.begin(number)
        elif name == b"END:VCARD":
            card = reading.end()
        else:
            card = None
            reading.add(line)
        if card:
            yield card
    if reading.card:
        reading.card.has_end, reading.card.is_truncated = False, True
        yield reading.card


class _CardReader:
    """The card that is being read; cards of agents within it are skipped."""

    def __init__(self) -> None:
        self.card: VCard | None = None
        self._agent_depth = 0

    def begin(self, number: int) -> VCard | None:
        """Begins a card at a line; returns the one before, if it has no end."""
        unfinished = self.card
        if unfinished and _is_agent(unfinished):
            self._agent_depth += 1
            return None
        self.card, self._agent_depth = VCard(number), 0
        if unfinished:
            unfinished.has_end = False
        return unfinished

    def end(self) -> VCard | None:
        """The card that ends here; None if it is an agent's, or none began."""
        if self._agent_depth:
            self._agent_depth -= 1
            return None
        card, self.card = self.card, None
        return card

    def add(self, line: bytes) -> None:
        """Adds a property to the card."""
        if self.card and not self._agent_depth and line.strip():
            _add(self.card, line)


def _is_agent(card: VCard) -> bool:
    """Whether an agent's card begins next: vCard 2.1 nests it in the person's card."""
    return bool(card.properties) and card.properties[-1].name == "AGENT" and not card.properties[-1].value.strip()


def _unfold(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Logical lines with the number of their first line; folded lines are joined, pictures left out."""
    current: _FoldedLine | None = None
    for number, line in _lines(file):
        if current and current.goes_on_with(line):
            if not current.is_passed_over:
                current.parts.append(line)
            continue
        if current and not current.is_passed_over:
            yield current.first, current.whole()
        current = _FoldedLine(number, line)
    if current and not current.is_passed_over:
        yield current.first, current.whole()


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Numbered lines without their ends, cut at MAX_LINE."""
    number = 0
    while line := file.readline(MAX_LINE):
        number += 1
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while (rest := file.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
        yield number, line.rstrip(b"\r\n")


class _FoldedLine:
    """A property folded over one or more lines of a file."""

    def __init__(self, first: int, line: bytes) -> None:
        self.first = first
        self.parts = [line]
        head = line.partition(b":")[0].upper()
        self.is_passed_over = re.split(rb"[;:]", head, maxsplit=1)[0].rpartition(b".")[2] in _PASSED_OVER
        self._is_encoded = not self.is_passed_over and _QUOTED_PRINTABLE.search(head) is not None

    def goes_on_with(self, line: bytes) -> bool:
        """Whether the next line of the file belongs to it."""
        if self._is_encoded and _ends_softly(self.parts[-1]):
            return _PROPERTY.match(line) is None  # some phones end a value with a soft break
        # the lines of a picture need not be indented
        return line[:1] in (b" ", b"\t") or (self.is_passed_over and bool(line) and b":" not in line)

    def whole(self) -> bytes:
        """Its lines, joined."""
        if len(self.parts) == 1 and not self._is_encoded:
            return self.parts[0]
        if not self._is_encoded:
            return b"".join([self.parts[0], *(part[1:] for part in self.parts[1:])])
        return self._joined(indented=self._is_indented())

    def _joined(self, *, indented: bool) -> bytes:
        """The joined lines of a quoted-printable value; `indented`: fold blanks begin lines after soft breaks too."""
        joined, soft = [b""], False
        for index, part in enumerate(self.parts):
            joined.append(part[1:] if index and part[:1] in (b" ", b"\t") and (indented or not soft) else part)
            soft = _ends_softly(part)
            if soft:
                joined[-1] = joined[-1].rstrip(b" \t")[:-1]
        return b"".join(joined)

    def _is_indented(self) -> bool:
        """Whether lines after soft breaks are folded too, so that their first blank isn't part of the value."""
        continuations = [
            part for part, previous in zip(self.parts[1:], self.parts, strict=False) if _ends_softly(previous)
        ]
        if not continuations or any(part[:1] not in (b" ", b"\t") for part in continuations):
            return False
        # a single blank may belong to the value, unless it would split a character
        return len(continuations) > 1 or (not self._is_utf8(indented=False) and self._is_utf8(indented=True))

    def _is_utf8(self, *, indented: bool) -> bool:
        try:
            quopri.decodestring(self._joined(indented=indented)).decode()
        except UnicodeDecodeError:
            return False
        return True


def _ends_softly(line: bytes) -> bool:
    return line.rstrip(b" \t").endswith(b"=")


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
    parameters: dict[str, str] = {}
    for name, value in _PARAMETERS.findall(head):
        key = name.strip().upper()
        if not value:
            bare = "ENCODING" if key in ("QUOTED-PRINTABLE", "BASE64") else "TYPE"
            key, value = bare, key.lower()
        value = value.replace('"', "")
        parameters[key] = f"{parameters[key]},{value}" if key in parameters else value
    return parameters


def _decode(raw: bytes, parameters: dict[str, str]) -> tuple[str, bool]:
    """The value as text, and whether it is certain."""
    encoding = parameters.get("ENCODING", "").upper().rpartition(",")[2]
    if encoding in ("Q", "QUOTED-PRINTABLE"):
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
        except (ValueError, LookupError):  # ValueError also for a name with a NUL in it
            continue
    try:
        return decode(raw).text, False
    except CharsetError:
        return raw.decode("utf-8", "replace"), False
