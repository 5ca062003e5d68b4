"""Whether raw bytes in quarantine belong to something that was forgotten.

No record tells what stands in them. So they are searched as they are, flat and without a parser that they have defeated
once: as text, with the encodings of mail undone wherever they occur, and as UTF-16. What is packed in them (PDF, zip)
cannot be searched; once a person was forgotten such bytes are not kept, since they might name them. What is lost with
them is a copy: the export still holds it.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator

from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.sources.mail import charset, headers, mime
from relrag_pipelines.sources.mail.outlook.cfb import SIGNATURE
from relrag_pipelines.sources.mail.sent_time import sent_time

_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]{40,}[ \t]*\r?\n)*[A-Za-z0-9+/]{16,}={0,2}")
_BLOCK = re.compile(rb"(?:^[A-Za-z0-9+/]{40,}+[ \t]*+\r?\n){2,}", re.MULTILINE)
"""what is nothing but base64"""
_WORD = re.compile(rb"=\?[^?\s]{1,40}\?[bBqQ]\?[^?]{0,2000}\?=(?:\s{1,80}=\?[^?\s]{1,40}\?[bBqQ]\?[^?]{0,2000}\?=)*")
_PACKED_SIGNATURES = (b"%PDF-", b"PK\x03\x04", b"\x1f\x8b\x08\x00", b"7z\xbc\xaf", b"Rar!", b"-----BEGIN PGP MESSAGE")
_RUN = re.compile(rb"(?:[\t\r\n\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}){5,}")
_WIDE_RUN = re.compile(rb"(?:[\x00-\xff][\x00-\x06\x1e\x20]){3,}", re.DOTALL)
"""UTF-16 of the scripts from Latin to Arabic"""
_MAX_BASE64_DEPTH = 4
"""base64 within base64 is undone so often"""


def matches_rules(matcher: RuleMatcher, data: bytes, local_zone: str) -> bool:
    """Whether the rules mean these bytes: they name a person, or might; quote a mail; or are a mail of earlier time."""
    if matcher.before is not None:
        moment = sent_time(mime.parse(data[: mime.MAX_HEADERS]), local_zone).ts
        # the date of a message of Outlook stands elsewhere, and what cannot be read may be of that time
        if data.startswith(SIGNATURE) if moment is None else moment < matcher.before:
            return True
    if matcher.of_persons and is_packed(data):
        return True
    return matcher.of_texts and any(matcher.names(text) or matcher.quotes(text) for text in texts(data))


def texts(data: bytes, within: int = _MAX_BASE64_DEPTH) -> Iterator[str]:
    """What stands in bytes as text, in every way in which a mail may hold it."""
    for inside in _base64_contents(data) if within else ():
        yield from texts(inside, within - 1)
    data = _BLOCK.sub(b" ", data)
    if 1000 * data.count(0) > len(data):  # no text as a whole: only what in it looks like some
        yield "\n".join(found.decode("utf-8", "ignore") for found in _RUN.findall(data))
    else:
        yield charset.text(data)
    if b"=" in data and b"\0" not in data:
        yield charset.text(binascii.a2b_qp(data))
    if b"\0" in data:
        yield "\n".join(found.decode("utf-16-le", "ignore") for found in _WIDE_RUN.findall(data))
    for words in _WORD.findall(data):
        yield headers.decode(words)


def is_packed(data: bytes, within: int = _MAX_BASE64_DEPTH) -> bool:
    """Whether bytes hold something packed, such as PDF or zip, which is not opened here."""
    rich_text = SIGNATURE in data and b"LZFu" in data
    packed = rich_text or any(mark in data for mark in _PACKED_SIGNATURES)
    return packed or (within > 0 and any(is_packed(inside, within - 1) for inside in _base64_contents(data)))


def _base64_contents(data: bytes) -> Iterator[bytes]:
    for found in _BASE64.finditer(data):
        letters = b"".join(found[0].split()).rstrip(b"=")
        letters = letters[:-1] if len(letters) % 4 == 1 else letters
        yield binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))
