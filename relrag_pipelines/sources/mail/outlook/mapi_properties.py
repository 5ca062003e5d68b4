"""Turns the MAPI properties of a mail into the parts of an ordinary one.

Its headers are those it came with, where they are kept; what they do not say is told from the properties. Properties:
MS-OXPROPS, their types: MS-OXCDATA.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

from relrag_pipelines.sources.mail import charset, mime
from relrag_pipelines.sources.mail.mime import Part
from relrag_pipelines.sources.mail.outlook import rtf

INTEGER, EMBEDDED, TEXT, UNICODE, TIME, BINARY = 0x0003, 0x000D, 0x001E, 0x001F, 0x0040, 0x0102
"""types of properties that are read"""

HEADERS, BODY, RTF, HTML = 0x007D, 0x1000, 0x1009, 0x1013
DATA, METHOD, SHORT_NAME, LONG_NAME = 0x3701, 0x3705, 0x3704, 0x3707
_DISPLAY_NAME, _MIME_TYPE, _CONTENT_ID, _CONTENT_LOCATION = 0x3001, 0x370E, 0x3712, 0x3713
_SUBJECT, _SENT, _DELIVERED = 0x0037, 0x0039, 0x0E06
_MESSAGE_CODE_PAGE, _INTERNET_CODE_PAGE = 0x3FFD, 0x3FDE
_SENDERS = ((0x0042, (0x5D02, 0x0065)), (0x0C1A, (0x5D01, 0x0C1F)))
"""properties of the display name and the addresses: of the author (From), then of the sender (Sender)"""
_RECIPIENT_TYPE, _RECIPIENT_ADDRESSES = 0x0C15, (0x39FE, 0x3003)
_RECIPIENT_FIELDS = {1: "to", 2: "cc", 3: "bcc"}
_SHOWN_FIELDS = {"to": 0x0E04, "cc": 0x0E03, "bcc": 0x0E02}
_IDS = {"message-id": 0x1035, "in-reply-to": 0x1042, "references": 0x1039}
WANTED = frozenset(
    {
        *(HEADERS, BODY, RTF, HTML, DATA, METHOD, SHORT_NAME, LONG_NAME),
        *(_DISPLAY_NAME, _MIME_TYPE, _CONTENT_ID, _CONTENT_LOCATION, _SUBJECT, _SENT, _DELIVERED),
        *(_MESSAGE_CODE_PAGE, _INTERNET_CODE_PAGE, _RECIPIENT_TYPE, *_RECIPIENT_ADDRESSES, *_SHOWN_FIELDS.values()),
        *(number for name, addresses in _SENDERS for number in (name, *addresses)),
        *_IDS.values(),
    }
)
"""numbers of the properties that are read"""

_1601, _10000 = 11_644_473_600, 253_402_300_800
"""seconds from the beginning of Windows' time to that of Unix, and from there to the year 10000"""
_MARK = re.compile(r"\A\s*Microsoft Mail Internet Headers[^\n]*\n")
"""what older servers put above the headers"""


@dataclass
class Properties:
    """Properties by number: type and bytes."""

    values: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    damaged: bool = False
    """some could not be read"""
    charset: str = "cp1252"
    """of texts that are not Unicode"""

    def text(self, number: int) -> str:
        """A property as text; empty if there is none."""
        kind, value = self.values.get(number, (0, b""))
        if kind == UNICODE:
            return value.decode("utf-16-le", "replace").rstrip("\0")
        return charset.text(value.rstrip(b"\0"), self.charset) if kind == TEXT else ""

    def number(self, number: int) -> int | None:
        """A property as a number."""
        kind, value = self.values.get(number, (0, b""))
        return int.from_bytes(value[:4], "little") if kind == INTEGER else None

    def bytes(self, number: int) -> bytes:
        """A property as bytes; empty where there is none."""
        kind, value = self.values.get(number, (0, b""))
        return value if kind in (BINARY, EMBEDDED) else b""

    def seconds(self, number: int) -> int | None:
        """A time as seconds since 1970."""
        kind, value = self.values.get(number, (0, b""))
        return int.from_bytes(value[:8], "little") // 10_000_000 - _1601 if kind == TIME else None


@dataclass
class Attachment:
    """An attachment of a message."""

    properties: Properties
    message: OutlookMessage | None = None
    """a message that is attached"""
    too_deep: bool = False
    """it is a message that is not opened"""


@dataclass
class OutlookMessage:
    """A message with its recipients and attachments."""

    properties: Properties
    recipients: Sequence[Properties] = ()
    attachments: Sequence[Attachment] = ()


def charset_of(properties: Properties) -> str:
    """The charset of a message's texts that are not Unicode."""
    page = properties.number(_MESSAGE_CODE_PAGE) or properties.number(_INTERNET_CODE_PAGE)
    return (page and charset.code_page(page)) or "cp1252"


def mail_of(message: OutlookMessage, source: bytes, depth: int = 0) -> Part:
    """The message as a mail of several parts; `source` are the bytes that it was made of."""
    properties = message.properties
    mail = Part(source, 0, len(source), _fields(message), "multipart/mixed", declares_type=True, depth=depth)
    if properties.damaged or any(nested.damaged for nested in message.recipients):
        mail.defects.append("damaged_outlook")
    attached = [attached_part(nested, depth + 1) for nested in message.attachments]
    mail.parts = [_part(b"", "multipart/alternative", depth + 1, parts=texts(properties, depth + 2)), *attached]
    return mail


def raw_text(properties: Properties) -> bytes:
    """The bytes of the text of a message, by which it is told from others that have no Message-ID."""
    kept = (properties.values.get(number, (0, b""))[1] for number in (BODY, HTML, RTF))
    return next((value for value in kept if value), b"")


def texts(properties: Properties, depth: int = 0) -> list[Part]:
    """The text of a message in the forms in which it is kept; rich text only where there is no other."""
    parts = []
    if plain := properties.text(BODY):
        parts.append(_text(plain, "text/plain", depth))
    page = charset.code_page(properties.number(_INTERNET_CODE_PAGE) or 0)
    if data := properties.bytes(HTML):
        parts.append(_part(data, "text/html", depth, parameters={"charset": page} if page else {}))
    elif written := properties.text(HTML):
        parts.append(_text(written, "text/html", depth))
    packed = properties.bytes(RTF)
    if packed and not any(part.end for part in parts):
        try:
            kind, content = rtf.read(rtf.unpack(packed))
            parts.append(_text(content, kind, depth))
        except rtf.RtfError:
            parts.append(_part(b"", "text/plain", depth, defects=["damaged_rtf"]))
    return parts or [_text("", "text/plain", depth)]


def attached_part(attachment: Attachment, depth: int) -> Part:
    """An attachment as a part of the mail."""
    properties = attachment.properties
    name = properties.text(LONG_NAME) or properties.text(SHORT_NAME)
    defects = ["damaged_outlook"] * properties.damaged + ["too_deep"] * attachment.too_deep
    if attachment.message is not None:
        name = name or properties.text(_DISPLAY_NAME)
        inside = [mail_of(attachment.message, b"", depth + 1)]
        return _part(b"", "message/rfc822", depth, parameters={"name": name}, parts=inside, defects=defects)
    data = properties.bytes(DATA)
    kind = properties.text(_MIME_TYPE).strip().lower() or mimetypes.guess_type(name)[0] or "application/octet-stream"
    if kind.startswith("multipart/"):  # a mail signed in the open is kept whole in one attachment
        return mime.parse(data, depth)
    part = _part(data, kind, depth, parameters={"name": name}, defects=defects)
    part.fields = {"content-disposition": [b"attachment"]}
    for header, number in (("content-id", _CONTENT_ID), ("content-location", _CONTENT_LOCATION)):
        if value := properties.text(number):
            part.fields[header] = [value.encode()]
    if kind == "message/rfc822":
        part.parts = [mime.parse(data, depth + 1)]
    return part


def _part(data: bytes, kind: str, depth: int, **more: Any) -> Part:
    return Part(data, 0, len(data), type=kind, depth=depth, declares_type=True, **more)


def _text(text: str, kind: str, depth: int) -> Part:
    return _part(text.encode("utf-8", "replace"), kind, depth, parameters={"charset": "utf-8"})


def _fields(message: OutlookMessage) -> dict[str, list[bytes]]:
    """The headers: those it came with, but for those of the parts that it had, then what the properties say."""
    properties = message.properties
    head = _MARK.sub("", properties.text(HEADERS)).strip("\r\n\0")
    came_with = mime.parse(head.encode("utf-8", "replace") + b"\n\n").fields if head else {}
    fields = {name: values for name, values in came_with.items() if not name.startswith(("content-", "mime-version"))}
    for name, value in _headers(message):
        if value and name not in fields:
            fields[name] = [" ".join(value.split()).encode("utf-8", "replace")]
    return fields


def _headers(message: OutlookMessage) -> Iterator[tuple[str, str]]:
    """Headers made from the properties."""
    properties = message.properties
    for name, (display_name, addresses) in zip(("from", "sender"), _SENDERS, strict=True):
        yield name, _mailbox(properties, display_name, addresses)
    for kind, name in _RECIPIENT_FIELDS.items():
        yield name, ", ".join(filter(None, _recipients(message, kind, name)))
    yield "subject", properties.text(_SUBJECT)
    moment = properties.seconds(_SENT) or properties.seconds(_DELIVERED)
    yield "date", formatdate(moment) if moment and 0 < moment < _10000 else ""
    for name, number in _IDS.items():
        yield name, properties.text(number)


def _recipients(message: OutlookMessage, kind: int, name: str) -> list[str]:
    """The recipients of a kind; without a table of recipients, the names in the display field."""
    if not message.recipients:
        return [_quote(shown.strip()) for shown in message.properties.text(_SHOWN_FIELDS[name]).split(";")]
    of_kind = [recipient for recipient in message.recipients if (recipient.number(_RECIPIENT_TYPE) or 1) & 15 == kind]
    return [_mailbox(recipient, _DISPLAY_NAME, _RECIPIENT_ADDRESSES) for recipient in of_kind]


def _mailbox(properties: Properties, name: int, addresses: tuple[int, ...]) -> str:
    """A name with its mail address; directory addresses, which have no @, are left out."""
    address = next((candidate for number in addresses if "@" in (candidate := properties.text(number).strip())), "")
    shown = _quote(properties.text(name).strip())
    return f"{shown} <{address}>" if address else shown


def _quote(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if name else ""
