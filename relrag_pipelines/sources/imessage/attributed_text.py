"""The text of a message that Messages stores as an NSAttributedString in `attributedBody`.

The blob is a typed stream, as NSArchiver writes it: `04 0b "streamtyped"`, a version, then objects. The first object of
an attributed string is its text, an NSString or NSMutableString, which is archived as `84 01 "+"` (a value of type
bytes), a length and UTF-8. A length below 0x81 is one byte; 0x81 stands before two bytes, 0x82 before four, the lower
byte first. Format: GNUstep's NSArchiver and https://github.com/dgelessus/python-typedstream (documentation).
"""

from __future__ import annotations

import re

_HEADER = b"\x04\x0bstreamtyped"
_STRING = re.compile(rb"NS(?:Mutable)?String")
_BYTES = b"\x84\x01+"
"""begins a value of type bytes, at its first use in a stream"""
_LENGTHS = {0x81: 2, 0x82: 4}
"""first byte of a length -> how many bytes it is"""


def decode(blob: bytes) -> str | None:
    """The text; None if the blob is not such a stream, or ends within its text."""
    if not blob.startswith(_HEADER):
        return None
    named = _STRING.search(blob)
    start = blob.find(_BYTES, named.end()) if named else -1
    if start < 0:
        return None
    position = start + len(_BYTES)
    wide = _LENGTHS.get(blob[position]) if position < len(blob) else 0
    if wide == 0:
        return None
    if wide is None:
        length, position = blob[position], position + 1
    else:
        length, position = int.from_bytes(blob[position + 1 : position + 1 + wide], "little"), position + 1 + wide
    data = blob[position : position + length]
    return data.decode("utf-8", "replace") if len(data) == length else None
