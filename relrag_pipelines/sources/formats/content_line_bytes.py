"""Files of content lines, which calendars (RFC 5545) and vCards (RFC 6350) are: their encoding and their folds.

Both formats are UTF-8. Programs of Windows save them with a byte order mark, or in UTF-16.
"""

from __future__ import annotations

import codecs
import re
from io import BufferedReader, BytesIO
from typing import BinaryIO

_MARKS = (
    (codecs.BOM_UTF8, ""),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED = (
    (re.compile(rb"[\t\r\n -~]\0[\t\r\n -~]\0"), "utf-16-le"),
    (re.compile(rb"\0[\t\r\n -~]\0[\t\r\n -~]"), "utf-16-be"),
)
_FOLD = re.compile(rb"(?:\r?\n|\r)[ \t]")


def as_utf8(file: BinaryIO) -> BinaryIO:
    """The file behind its byte order mark; one in UTF-16 or UTF-32 as UTF-8 in memory."""
    buffered = file if isinstance(file, BufferedReader) else BufferedReader(file)  # type: ignore[type-var]
    mark, codec = _encoding(buffered.peek(4))
    buffered.read(mark)
    if not codec:
        return buffered
    with buffered:
        return BytesIO(buffered.read().decode(codec, "replace").encode("utf-8", "replace"))


def unfold_bytes(data: bytes) -> bytes:
    """Lines with the folded ones joined, before they are decoded: a fold may stand within a character.

    UTF-16, whose line ends have NULs, is left as it is.
    """
    return data if b"\0" in data else _FOLD.sub(b"", data)


def _encoding(head: bytes) -> tuple[int, str]:
    """The length of the byte order mark, and the codec if it is not UTF-8."""
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return len(mark), codec
    return 0, next((codec for pattern, codec in _UNMARKED if pattern.match(head)), "")
