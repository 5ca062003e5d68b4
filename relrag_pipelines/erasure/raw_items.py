"""Decides whether raw bytes in quarantine match the erasure rules.

They have no record, and a parser has failed on them. So they are searched without one: as text, with mail encodings
decoded wherever they occur, and as UTF-16. Packed content (PDF, zip) cannot be searched; once a person is forgotten,
such bytes are removed, because they might name the person. Only a copy is lost: the export still has it.
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
"""lines of pure base64"""
_WORD = re.compile(rb"=\?[^?\s]{1,40}\?[bBqQ]\?[^?]{0,2000}\?=(?:\s{1,80}=\?[^?\s]{1,40}\?[bBqQ]\?[^?]{0,2000}\?=)*")
_PACKED_SIGNATURES = (b"%PDF-", b"PK\x03\x04", b"\x1f\x8b\x08\x00", b"7z\xbc\xaf", b"Rar!", b"-----BEGIN PGP MESSAGE")
_RUN = re.compile(rb"(?:[\t\r\n\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}){5,}")
_WIDE_RUN = re.compile(rb"(?:[\x00-\xff][\x00-\x06\x1e\x20]){3,}", re.DOTALL)
"""UTF-16 of the scripts from Latin to Arabic"""
_MAX_BASE64_DEPTH = 4
"""levels of base64 within base64 that are decoded"""


def matches_rules(matcher: RuleMatcher, data: bytes, local_zone: str) -> bool:
    """Whether the bytes match the rules: they name a person or might, quote a mail, or are an earlier mail."""
    if matcher.before is not None:
        moment = sent_time(mime.parse(data[: mime.MAX_HEADERS]), local_zone).ts
        # an Outlook message has its date elsewhere, and an unreadable one may be of that time
        if data.startswith(SIGNATURE) if moment is None else moment < matcher.before:
            return True
    if matcher.names_persons and is_packed(data):
        return True
    return matcher.reads_texts and any(matcher.names(text) or matcher.quotes(text) for text in texts(data))


def texts(data: bytes, depth: int = _MAX_BASE64_DEPTH) -> Iterator[str]:
    """Yields the texts in bytes, in every encoding that a mail may use."""
    for content in _base64_contents(data) if depth else ():
        yield from texts(content, depth - 1)
    data = _BLOCK.sub(b" ", data)
    if 1000 * data.count(0) > len(data):  # binary: only the parts that look like text
        yield "\n".join(run.decode("utf-8", "ignore") for run in _RUN.findall(data))
    else:
        yield charset.text(data)
    if b"=" in data and b"\0" not in data:
        yield charset.text(binascii.a2b_qp(data))
    if b"\0" in data:
        yield "\n".join(run.decode("utf-16-le", "ignore") for run in _WIDE_RUN.findall(data))
    for words in _WORD.findall(data):
        yield headers.decode(words)


def is_packed(data: bytes, depth: int = _MAX_BASE64_DEPTH) -> bool:
    """Whether bytes hold packed content, such as PDF or zip, which is not opened here."""
    rich_text = SIGNATURE in data and b"LZFu" in data
    packed = rich_text or any(mark in data for mark in _PACKED_SIGNATURES)
    return packed or (depth > 0 and any(is_packed(content, depth - 1) for content in _base64_contents(data)))


def _base64_contents(data: bytes) -> Iterator[bytes]:
    for match in _BASE64.finditer(data):
        letters = b"".join(match[0].split()).rstrip(b"=")
        letters = letters[:-1] if len(letters) % 4 == 1 else letters
        yield binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))
