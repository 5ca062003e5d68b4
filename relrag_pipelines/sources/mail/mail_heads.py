"""Finds where the headers of a mail begin, and distinguishes headers from lines of text."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_JUNK_LINES = 5
"""lines with text that may stand above the headers"""

LINE = re.compile(rb".*(?:\n|\Z)")
BLANK = re.compile(rb"[ \t]*\r?\n")
_HEADER = re.compile(rb">?([!-9;-~]{1,100})[ \t]*:|>?From |[!-9;-~]{0,100}\Z")
"""a header, another From line, or the torn end of the file"""
_LOOK_AHEAD = 4_000
_MAIL_HEADERS = frozenset(
    b"from to cc bcc sender reply-to subject date message-id in-reply-to references received return-path delivered-to"
    b" mime-version content-type content-transfer-encoding content-length status x-status x-mozilla-status x-keywords"
    b" x-gm-thrid x-gmail-labels x-uid x-mailer x-from x-to x-originalarrivaltime user-agent organization envelope-to"
    b" apparently-to errors-to precedence list-id authentication-results arc-seal dkim-signature resent-from"
    b" newsgroups path xref".split()
)
"""names of headers that mails have"""
_TELLING = frozenset(b"from date subject message-id received return-path".split())
"""of which each mail has one"""


def begins_head(data: bytes, offset: int) -> bool:
    """Whether a line is a header, or the cut-off beginning of a header."""
    return _HEADER.match(data, offset) is not None


def mail_headers(data: bytes, offset: int) -> set[bytes]:
    """The mail headers up to an empty line, by lower-case name; empty if another line is among them."""
    data = data[offset : offset + _LOOK_AHEAD]
    names: set[bytes] = set()
    offset = 0
    while offset < len(data) and not BLANK.match(data, offset):
        line = LINE.match(data, offset)
        assert line is not None
        if line.end() == len(data) and not line[0].endswith(b"\n"):
            break  # what is looked at ends here
        header = _HEADER.match(data, offset)
        if header is None and (offset == 0 or data[offset : offset + 1] not in b" \t"):
            return set()
        if header and header[1]:
            names.add(header[1].lower())
        offset = line.end()
    return names & _MAIL_HEADERS


def start_of_head(data: bytes, start: int, end: int) -> int:
    """Offset of a mail's headers: after empty lines, and after a few lines of junk if a complete header follows."""
    if _is_mail_header(data, start, end):
        return start
    offset, junk = start, 0
    while offset < end and junk <= MAX_JUNK_LINES:
        names = mail_headers(data[offset : min(end, offset + _LOOK_AHEAD)], 0)
        if (len(names) > 1 and names & _TELLING) if junk else (names or _is_mail_header(data, offset, end)):
            return offset
        line = LINE.match(data, offset, end)
        assert line is not None
        junk += bool(line[0].strip())
        offset = line.end()
    return start


def head_goes_on(data: bytes, offset: int, end: int, names: Iterable[str]) -> bool:
    """Whether a header of a mail, of another name than these, follows within a few lines, and only headers behind it.

    A text that begins without an empty line above it may contain such a line too, but other lines follow there.
    """
    lower_names = {name.encode("ascii") for name in names}
    for _ in range(MAX_JUNK_LINES):
        line = LINE.match(data, offset, min(end, offset + _LOOK_AHEAD))
        if line is None or BLANK.match(line[0]):
            return False
        offset = line.end()
        header = _HEADER.match(data, offset, end)
        if header and header[1] and header[1].lower() in _MAIL_HEADERS - lower_names:
            return bool(mail_headers(data[offset : min(end, offset + _LOOK_AHEAD)], 0))
    return False


def _is_mail_header(data: bytes, offset: int, end: int) -> bool:
    header = _HEADER.match(data, offset, end)
    return header is not None and header[1] is not None and header[1].lower() in _MAIL_HEADERS


def has_mail_headers(names: Iterable[str]) -> bool:
    """Whether any of the headers of these names, in lower case, is one that mails have."""
    return any(name.encode("ascii", "ignore") in _MAIL_HEADERS for name in names)
