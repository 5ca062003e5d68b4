"""When a mail was sent: what its `Date` says, else when a server received it, else when a mailbox took it."""

from __future__ import annotations

import re
from typing import NamedTuple

from relrag_pipelines.sources.mail import headers
from relrag_pipelines.sources.mail.mime import Part

_SENDER = re.compile(rb'From (?:"[^"]{0,200}"\S*|\S+(?: at \S+\.\S+)?)?[ \t]*')
_MAX_LINE_LENGTH = 1_000
_REMOTE = re.compile(rb" remote from \S+\s*$")
_FIRST_MAIL = -94_694_400
"""seconds; 1967: what claims to be older was written by a broken clock"""
_UTC = "UTC"
"""zone of a From line that names none (RFC 4155)"""


class SentTime(NamedTuple):
    """A time and how it is known."""

    ts: int | None
    """seconds, UTC"""
    quality: str
    """as `Record.date_quality`"""


def sent_time(mail: Part, zone: str, separator: bytes = b"") -> SentTime:
    """When the mail was sent; `zone` is that of times without one, `separator` the mailbox's line above the mail."""
    dates = [ts for value in mail.fields.get("date", ()) if (ts := headers.date(value, zone)) is not None]
    for ts in dates:
        if ts >= _FIRST_MAIL:
            return SentTime(ts, "exact")
    for value in reversed(mail.fields.get("received", ())):  # the lowest is the first server's
        if (ts := headers.date(value.rpartition(b";")[2], zone)) is not None:
            return SentTime(ts, "received")
    if not separator and mail.source.startswith(b"From "):
        separator = mail.source[:_MAX_LINE_LENGTH].partition(b"\n")[0]
    if (ts := headers.date(_REMOTE.sub(b"", _SENDER.sub(b"", separator, count=1)), _UTC)) is not None:
        return SentTime(ts, "separator")
    return SentTime(dates[0], "exact") if dates else SentTime(None, "none")
