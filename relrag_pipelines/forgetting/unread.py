"""Whether bytes that were kept because they could not be read to their end are to be forgotten.

No record tells what stands in them. So they are searched as they are, flat and without a parser that they have defeated
once: as text, with the encodings of mail undone wherever they occur, and as UTF-16. What is packed in them (PDF, zip)
cannot be searched; once a person was forgotten such bytes are not kept, since they might name them. What is lost with
them is a copy: the export still holds it.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

from relrag_pipelines.forgetting.rules import Matcher
from relrag_pipelines.sources.mail import charsets, headers, mime

_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]{40,}[ \t]*\r?\n)*[A-Za-z0-9+/]{16,}={0,2}")
_WORD = re.compile(rb"=\?[^?\s]{1,40}\?[bBqQ]\?[^?]{0,2000}\?=(?:\s{1,80}=\?[^?\s]{1,40}\?[bBqQ]\?[^?]{0,2000}\?=)*")
_PACKED = (b"%PDF", b"PK\x03\x04", b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"LZFu", b"-----BEGIN PGP MESSAGE")
_WITHIN = 4
"""base64 within base64 is undone so often"""


def meant(matcher: Matcher, data: bytes, local_zone: str) -> bool:
    """Whether the rules mean these bytes: they name a person, or might; or they are a mail of an earlier time."""
    if matcher.before is not None:
        moment = headers.date(mime.parse(data[: mime.MAX_HEADERS]).raw("date"), local_zone)
        if moment is not None and moment < matcher.before:
            return True
    return matcher.of_persons and (_unsearchable(data) or any(map(matcher.names, texts(data))))


def texts(data: bytes, within: int = _WITHIN) -> Iterator[str]:
    """What stands in bytes as text, in every way in which a mail may hold it."""
    yield charsets.text(data)
    if b"=" in data:
        yield charsets.text(binascii.a2b_qp(data))
    if b"\0" in data:
        for start in (0, 1):
            yield data[start:].decode("utf-16-le", "ignore")
    for words in _WORD.findall(data):
        yield headers.decode(words)
    for inside in _decoded(data) if within else ():
        yield from texts(inside, within - 1)


def _unsearchable(data: bytes, within: int = _WITHIN) -> bool:
    packed = any(mark in data for mark in _PACKED)
    return packed or (within > 0 and any(_unsearchable(inside, within - 1) for inside in _decoded(data)))


def _decoded(data: bytes) -> Iterator[bytes]:
    for found in _BASE64.finditer(data):
        letters = b"".join(found[0].split()).rstrip(b"=")
        letters = letters[:-1] if len(letters) % 4 == 1 else letters
        yield binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))
