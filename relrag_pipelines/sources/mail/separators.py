"""Tells the `From ` lines that begin a mail in a mailbox from lines of text that begin so.

Most mailboxes write `From <sender> <date>` (RFC 4155), some no date, some no sender. What follows tells: the headers
of a mail. A line that names sender and date needs less of them than one that names nothing.

`git format-patch` begins each patch with `From <commit> Mon Sep 17 00:00:00 2001`, and the headers of a mail follow.
That begins a mail behind another patch; elsewhere it is a patch in a mail's text.
"""

from __future__ import annotations

import codecs
import re

from relrag_pipelines.sources.mail import mail_heads

FROM = b"From "

_PLAIN_FROM = b"\n" + FROM
_MARKED_FROM = b"\n" + codecs.BOM_UTF8 + FROM
"""where two mailboxes were put behind each other"""
_TIME = rb"(?=.{0,400}\b\d{1,2}[:.]\d\d)(?=.{0,400}\b(?:19|20)\d\d\b)"
_MONTH = rb"(?=.{0,400}(?:\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b|\d{4}-\d\d-\d\d))"
_SENDER = rb"(?:\"[^\"\r\n]{0,200}\"\S*|\S{1,320}(?: at \S{1,255})?)"
_DAY = rb"(?:\w{2,4},?[ ]+)?(?:\w{3}[ ]+\d{1,2}|\d{1,2}[ ]+\w{3})\b|\d{4}-\d\d-\d\d"
_CLOCK = rb"\d{1,2}[:.]\d\d(?:[:.]\d\d)?|\d{4}|[+-]\d{4}|[A-Za-z]{1,5}|\([A-Za-z ]{1,40}\)"
_REST = rb"(?:[ ,]+(?:" + _CLOCK + rb")){1,6}(?: remote from \S+)?[ \t]*\r?\n"
_DATED = re.compile(rb"From " + _TIME + _MONTH + rb"(?:" + _SENDER + rb")?[ ]+(?:" + _DAY + rb")" + _REST)
"""sender, then the date: nothing but a separator looks so"""
_DATED_SOMEHOW = re.compile(rb"From (?:" + _TIME + rb"|(?=\S{1,255}@\S{1,255}[ ].{0,100}\d)).*\n")
_BARE = re.compile(
    rb"From [ \t]*(?:-|<?[^\s<>]{1,255}@[^\s<>]{1,255}>?|\S{1,255} at \S{1,255}|MAILER-DAEMON)?[ \t]*\r?\n"
)
_PATCH = re.compile(rb"From (?:[0-9a-f]{40}|[0-9a-f]{64}) Mon Sep 17 00:00:00 2001\r?\n")
_MIN_HEADERS = 2
"""below a line that does not name sender and date"""


def find_candidate(buffer: bytes, offset: int) -> int | None:
    """Where the next line begins that may begin a mail, behind the line end at `place` or later."""
    plain = buffer.find(_PLAIN_FROM, offset)
    marked = buffer.find(_MARKED_FROM, offset, plain if plain >= 0 else len(buffer))
    line_end = marked if marked >= 0 else plain
    return line_end + 1 if line_end >= 0 else None


def is_patch(data: bytes, offset: int = 0) -> bool:
    """Whether a patch that git wrote begins there."""
    return _PATCH.match(data, offset) is not None


def begins_mail(data: bytes, *, among_patches: bool = False) -> bool:
    """Whether a line and what follows it begin a mail; `among_patches` where the mail before it is a patch, too."""
    data = data.removeprefix(codecs.BOM_UTF8)
    line = mail_heads.LINE.match(data)
    if line is None or not line[0].startswith(FROM) or not line[0].endswith(b"\n"):
        return False
    if is_patch(data):
        return among_patches and mail_heads.begins_head(data, line.end())
    if _DATED.fullmatch(line[0]):
        return mail_heads.begins_head(data, line.end()) or _is_head(data, _behind_blank_lines(data, line.end()))
    named = _BARE.fullmatch(line[0]) or _DATED_SOMEHOW.fullmatch(line[0])
    return named is not None and _is_head(data, line.end())


def _behind_blank_lines(data: bytes, offset: int) -> int:
    while blank := mail_heads.BLANK.match(data, offset):
        offset = blank.end()
    return offset


def _is_head(data: bytes, offset: int) -> bool:
    return len(mail_heads.mail_headers(data, offset)) >= _MIN_HEADERS
