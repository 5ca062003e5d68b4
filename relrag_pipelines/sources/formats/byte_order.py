"""The encoding of files of a UTF-8 format: programs also write a byte order mark, UTF-16 or UTF-32."""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, ""),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""mark, and the codec behind it"""
_UNMARKED = (
    (re.compile(rb"(?:[\t\r\n -~]\0){8}"), "utf-16-le"),
    (re.compile(rb"(?:\0[\t\r\n -~]){8}"), "utf-16-be"),
)
BEGINNING = 16
"""bytes from which the encoding is told"""


def encoding_of(head: bytes) -> tuple[int, str]:
    """The length of the byte order mark, and the codec; an empty one for UTF-8."""
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return len(mark), codec
    if head[:1] == b"\0" or head[1:2] == b"\0":
        return 0, next((codec for pattern, codec in _UNMARKED if pattern.match(head)), "")
    return 0, ""
