"""Distinguishes copies of a mail from other mails with the same Message-ID by their content.

A mail reaches an archive by several ways: as it was sent and as a list passed it on, from a server and from a program
that saved it. Its copies say the same, up to the footer of a list, the list's mark in the subject, the wrapping of
lines and the `>` that mailboxes put before `From `. Programs that give all their mails one Message-ID, and drafts that
went on, say something else.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from relrag_pipelines.records import Record
from relrag_pipelines.sources.mail import segmentation_phrases

LONGEST_FOOTER = 15
"""lines with text of a list's footer"""
_FOOTER_CHARACTERS = 4_000
"""from the end of a text: further up no footer is looked for"""

_DIVIDER = re.compile(r"[ \t]*(?:[-_=*#~+][ \t]*){2,}")
_QUOTED_FROM = re.compile(r"^>+(?=From )", re.MULTILINE)
_LIST_MARK = re.compile(r"\A((?:\s*\w{1,12}(?:\[\d{1,3}\])?\s?:)*)\s*(?:\[[^\]]{1,60}\]\s*)+")
"""`[list]` at the beginning of a subject, or behind its `Re:`"""
_READABLE = ("text/", "message/")
"""how the types begin of what is attached as text, whose line ends change on the way"""


def text_fingerprint(text: str, subject: str, attached: Iterable[Record]) -> str:
    """A hash of the mail's content, equal for all copies; `attached` are the records of its attachments."""
    files = sorted(_fingerprint_of_attachment(attachment) for attachment in attached)
    content = "\0".join(
        [_squeeze(_LIST_MARK.sub(r"\1", subject, count=1)), _squeeze(_without_list_footer(text)), *files]
    )
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _fingerprint_of_attachment(record: Record) -> str:
    if (record.content_type or "").startswith(_READABLE) and record.text:
        return _squeeze(record.text)
    return str(record.extra.get("bytes_hash", ""))


def _squeeze(text: str) -> str:
    return "".join((_QUOTED_FROM.sub("", text) if ">From " in text else text).split())


def _without_list_footer(text: str) -> str:
    """A text without what lists put below it, each under a line of hyphens or the like."""
    body, tail = text[:-_FOOTER_CHARACTERS], text[-_FOOTER_CHARACTERS:]
    lines = tail.splitlines()
    end = _last_text(lines)
    while (divider := _footer_start(lines, end)) is not None:
        end = _last_text(lines[:divider])
    return body + "\n".join(lines[:end])


def _last_text(lines: Sequence[str]) -> int:
    """The number of lines without the empty ones and dividers at the end."""
    end = len(lines)
    while end and (not lines[end - 1].strip() or _DIVIDER.fullmatch(lines[end - 1])):
        end -= 1
    return end


def _footer_start(lines: Sequence[str], end: int) -> int | None:
    """The last divider, if a footer follows it."""
    seen = 0
    for at in range(end - 1, -1, -1):
        if _DIVIDER.fullmatch(lines[at]):
            below = "\n".join(lines[at + 1 : end]).lower()
            return at if segmentation_phrases.LIST_FOOTERS.search(below) else None
        seen += bool(lines[at].strip())
        if seen > LONGEST_FOOTER:
            return None
    return None
