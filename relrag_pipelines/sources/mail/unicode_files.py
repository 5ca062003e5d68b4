"""Files of mail as editors and shells leave them: with a byte order mark, in UTF-16 or UTF-32, with old line ends.

What is read is what a mail program would have written: bytes in UTF-8, lines that end with a line feed. A place in such
a file counts the bytes that are read.
"""

from __future__ import annotations

import codecs
from typing import BinaryIO, Protocol

from relrag_pipelines.sources.formats.byte_order import BEGINNING, encoding_of

_HEAD = 64 * 2**10
"""bytes that are read to detect line endings"""


class ByteSource(Protocol):
    """What a mailbox is read from."""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, at most `size`; empty at the end."""


def plain_bytes(data: bytes) -> bytes:
    """The bytes of a mail without a byte order mark, in UTF-8, with line feeds."""
    mark, codec = encoding_of(data[:BEGINNING])
    if mark or codec:
        data = data[mark:].decode(codec, "replace").encode("utf-8", "replace") if codec else data[mark:]
    return data.replace(b"\r", b"\n") if b"\n" not in data and b"\r" in data else data


def open_plain_bytes(stream: BinaryIO, start: int = 0) -> tuple[ByteSource, int]:
    """A stream of plain bytes from an offset on, and the offset of its first byte; `stream` is at its beginning.

    What is transcoded is read from its beginning, wherever `start` is.
    """
    head = stream.read(_HEAD)
    mark, codec = encoding_of(head)
    old_line_ends = b"\r" in head and b"\n" not in head
    if codec:
        stream.seek(mark)
        return _Transcoded(stream, codec), 0
    start = max(start, mark)
    stream.seek(start)
    return (_LineFeeds(stream) if old_line_ends else stream), start


def is_transcoded(head: bytes) -> bool:
    """Whether a file that begins so is not read byte for byte, so that places in it are not those in the file."""
    return bool(encoding_of(head)[1])


class _Transcoded:
    """A stream in another encoding, as UTF-8."""

    def __init__(self, stream: BinaryIO, codec: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(codec)("replace")
        self._waiting = b""

    def read(self, size: int = -1, /) -> bytes:
        while size < 0 or len(self._waiting) < size:
            data = self._stream.read(size)
            self._waiting += self._decoder.decode(data, final=not data).encode("utf-8", "replace")
            if not data:
                break
        result = self._waiting if size < 0 else self._waiting[:size]
        self._waiting = self._waiting[len(result) :]
        return result


class _LineFeeds:
    """A stream of which every line ends with a carriage return, as on old Macs."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        return self._stream.read(size).replace(b"\r", b"\n")
