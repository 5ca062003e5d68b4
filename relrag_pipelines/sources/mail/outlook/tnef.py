"""winmail.dat (TNEF): the attached files and messages, and the text of the mail.

The format is MS-OXTNEF, its properties are those of `mapi_properties`. tnefparse, the library for it, is LGPL and reads
far more than is needed here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from relrag_pipelines.sources.mail import charset
from relrag_pipelines.sources.mail.mime import MAX_DEPTH
from relrag_pipelines.sources.mail.outlook import mapi_properties
from relrag_pipelines.sources.mail.outlook.mapi_properties import Attachment, OutlookMessage, Properties

_SIGNATURE = 0x223E9F78
_BODY, _CODEPAGE, _PROPERTIES = 0x0002800C, 0x00069007, 0x00069003
_FILE_BEGINS, _FILE_TITLE, _FILE_DATA, _FILE_PROPERTIES = 0x00069002, 0x00018010, 0x0006800F, 0x00069005
_NAMED_PROPERTY, _MULTIPLE_VALUES = 0x8000, 0x1000
_MESSAGE = bytes.fromhex("0703020000000000c000000000000046")
"""what stands before a message that is attached: the id of IMessage"""
_SIZES = {0x0002: 4, 0x0003: 4, 0x0004: 4, 0x0005: 8, 0x0006: 8, 0x0007: 8, 0x000A: 4, 0x000B: 4, 0x0014: 8, 0x0040: 8,
          0x0048: 16}  # fmt: skip
"""types of fixed length, with what fills them up to four bytes"""
_SIZED = {mapi_properties.EMBEDDED, mapi_properties.TEXT, mapi_properties.UNICODE, mapi_properties.BINARY}
_MAX_PROPERTIES = 10_000


class TnefError(Exception):
    """The bytes are not TNEF, or are damaged; the message says what was found."""


def unpack(data: bytes, depth: int = 0) -> OutlookMessage:
    """The message and its attachments, their names in the message's charset. Raises TnefError."""
    message, attachments = Properties(), list[Attachment]()
    try:
        for kind, value in _attributes(data):
            if kind == _CODEPAGE and len(value) >= 4:
                page = charset.code_page(struct.unpack_from("<L", value)[0])
                message.charset = page or message.charset
            elif kind == _BODY:
                message.values.setdefault(mapi_properties.BODY, (mapi_properties.TEXT, value))
            elif kind == _PROPERTIES:
                message.values |= _properties(value)
            elif kind == _FILE_BEGINS:
                attachments.append(Attachment(Properties(charset=message.charset)))
            elif attachments:
                _add(attachments[-1], kind, value, depth)
    except struct.error:
        raise TnefError("it ends before all that it announces") from None
    return OutlookMessage(message, (), attachments)


def _add(attachment: Attachment, kind: int, value: bytes, depth: int) -> None:
    values = attachment.properties.values
    if kind == _FILE_TITLE:
        values.setdefault(mapi_properties.SHORT_NAME, (mapi_properties.TEXT, value.split(b"\0")[0]))
    elif kind == _FILE_DATA:
        values[mapi_properties.DATA] = (mapi_properties.BINARY, value)
    elif kind == _FILE_PROPERTIES:
        data = values.get(mapi_properties.DATA)
        values |= _properties(value)
        packed = values.get(mapi_properties.DATA, (0, b""))
        if packed[0] != mapi_properties.EMBEDDED:
            return
        if data:
            values[mapi_properties.DATA] = data
        if packed[1][:16] == _MESSAGE and depth < MAX_DEPTH:
            attachment.message = unpack(packed[1][16:], depth + 1)
        attachment.too_deep = packed[1][:16] == _MESSAGE and depth >= MAX_DEPTH


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    if len(data) < 6 or struct.unpack_from("<L", data)[0] != _SIGNATURE:
        raise TnefError("it does not begin as TNEF does")
    offset = 6
    while offset < len(data):
        _, kind, size = struct.unpack_from("<BLL", data, offset)
        offset += 9
        if offset + size > len(data):
            raise TnefError("it ends before all that it announces")
        yield kind, data[offset : offset + size]
        offset += size + 2  # a checksum follows


def _properties(data: bytes) -> dict[int, tuple[int, bytes]]:
    """Properties by number: type and bytes, of several values the first; up to one of an unknown type."""
    (count,) = struct.unpack_from("<L", data)
    offset, properties = 4, dict[int, tuple[int, bytes]]()
    for _ in range(min(count, _MAX_PROPERTIES)):
        kind, name = struct.unpack_from("<HH", data, offset)
        offset = _skip_name(data, offset + 4) if name >= _NAMED_PROPERTY else offset + 4
        plain = kind & ~_MULTIPLE_VALUES
        size = _SIZES.get(plain)
        if size is None and plain not in _SIZED:
            break
        values = 1
        if kind & _MULTIPLE_VALUES or plain in _SIZED:
            (values,) = struct.unpack_from("<L", data, offset)
            offset += 4
        for _ in range(min(values, _MAX_PROPERTIES)):
            if plain in _SIZED:
                (size,) = struct.unpack_from("<L", data, offset)
                offset += 4
            assert size is not None
            if offset + size > len(data):
                raise TnefError("it ends before all that it announces")
            if name in mapi_properties.WANTED:
                properties.setdefault(name, (plain, data[offset : offset + size]))
            offset += size + -size % 4
    return properties


def _skip_name(data: bytes, offset: int) -> int:
    """Where the value of a named property begins."""
    offset += 16
    (by_text, size) = struct.unpack_from("<LL", data, offset)
    return offset + 8 + (size + -size % 4 if by_text else 0)
