"""Files of content lines, which calendars (RFC 5545) and vCards (RFC 6350) are: their encoding and their folds.

Both formats are UTF-8. Programs of Windows save them with a byte order mark, or in UTF-16.
"""

from __future__ import annotations

import re
from io import BufferedReader, BytesIO
from typing import BinaryIO

from relrag_pipelines.sources.formats.byte_order import BEGINNING, encoding_of

_FOLD = re.compile(rb"(?:\r?\n|\r)[ \t]")


def as_utf8(file: BinaryIO) -> BinaryIO:
    """The file behind its byte order mark; one in UTF-16 or UTF-32 as UTF-8 in memory."""
    buffered = file if isinstance(file, BufferedReader) else BufferedReader(file)  # type: ignore[type-var]
    mark, codec = encoding_of(buffered.peek(BEGINNING))
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
