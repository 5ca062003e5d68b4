"""What Outlook packs into winmail.dat: the files that are attached, and the text of the mail.

The format is MS-OXTNEF; of its properties (MS-OXCDATA) only names of files are read. tnefparse, the library for it, is
LGPL and reads far more than is needed here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from relrag_pipelines.sources.mail import charsets

_SIGNATURE = 0x223E9F78
_BODY, _CODEPAGE = 0x0002800C, 0x00069007
_FILE_BEGINS, _FILE_TITLE, _FILE_DATA, _FILE_PROPERTIES = 0x00069002, 0x00018010, 0x0006800F, 0x00069005
_LONG_FILE_NAME, _NAMED = 0x3707, 0x8000
_SEVERAL = 0x1000
_SIZES = {0x0002: 4, 0x0003: 4, 0x0004: 4, 0x0005: 8, 0x0006: 8, 0x0007: 8, 0x000A: 4, 0x000B: 4, 0x0014: 8, 0x0040: 8,
          0x0048: 16}  # fmt: skip
"""types of fixed length, with what fills them up to four bytes"""
_TEXT, _UNICODE, _SIZED = 0x001E, 0x001F, {0x000D, 0x001E, 0x001F, 0x0102}
_MOST_PROPERTIES = 10_000


class TnefError(Exception):
    """The bytes are no TNEF, or damaged; the message says what was found."""


@dataclass
class Packed:
    """What a winmail.dat holds."""

    text: str = ""
    files: list[tuple[str, bytes]] = field(default_factory=list)
    """names, empty where there is none, and contents"""


def unpack(data: bytes) -> Packed:
    """The text and the files; raises TnefError."""
    found, charset = Packed(), "cp1252"
    try:
        for kind, value in _attributes(data):
            if kind == _CODEPAGE and len(value) >= 4:
                charset = f"cp{struct.unpack_from('<L', value)[0]}"
            elif kind == _BODY:
                found.text = charsets.text(value.rstrip(b"\0"), charset)
            elif kind == _FILE_BEGINS:
                found.files.append(("", b""))
            elif found.files:
                name, content = found.files[-1]
                if kind == _FILE_TITLE:
                    name = name or charsets.text(value.split(b"\0")[0], charset)
                elif kind == _FILE_DATA:
                    content = value
                elif kind == _FILE_PROPERTIES:
                    name = _long_name(value, charset) or name
                found.files[-1] = (name, content)
    except struct.error:
        raise TnefError("it ends before all that it announces") from None
    return found


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    if len(data) < 6 or struct.unpack_from("<L", data)[0] != _SIGNATURE:
        raise TnefError("it does not begin as TNEF does")
    place = 6
    while place < len(data):
        _, kind, size = struct.unpack_from("<BLL", data, place)
        place += 9
        if place + size > len(data):
            raise TnefError("it ends before all that it announces")
        yield kind, data[place : place + size]
        place += size + 2  # a checksum follows


def _long_name(data: bytes, charset: str) -> str:
    """The long file name among the properties of an attachment."""
    (count,) = struct.unpack_from("<L", data)
    place = 4
    for _ in range(min(count, _MOST_PROPERTIES)):
        kind, name = struct.unpack_from("<HH", data, place)
        place = _behind_name(data, place + 4) if name >= _NAMED else place + 4
        plain = kind & ~_SEVERAL
        values = 1
        if kind & _SEVERAL or plain in _SIZED:
            (values,) = struct.unpack_from("<L", data, place)
            place += 4
        for _ in range(min(values, _MOST_PROPERTIES)):
            size = _SIZES.get(plain)
            if size is None and plain not in _SIZED:
                return ""
            if size is None:
                (size,) = struct.unpack_from("<L", data, place)
                place += 4
            if name == _LONG_FILE_NAME and plain in (_TEXT, _UNICODE):
                value = data[place : place + size]
                return charsets.text(value, "utf-16-le" if plain == _UNICODE else charset).rstrip("\0")
            place += size + -size % 4
    return ""


def _behind_name(data: bytes, place: int) -> int:
    """Where the value of a property begins that has a name of its own."""
    place += 16
    (by_text, size) = struct.unpack_from("<LL", data, place)
    return place + 8 + (size + -size % 4 if by_text else 0)
