"""The bytes of attachments, read again from the file that holds their mail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from relrag_pipelines.sources import outlook_stores
from relrag_pipelines.sources.mail import mailbox, mime
from relrag_pipelines.sources.mail.body import body_of, name_of
from relrag_pipelines.sources.mail.mime import Part
from relrag_pipelines.sources.mail.outlook import msg


class AttachedFile(NamedTuple):
    """An attachment as it was sent."""

    name: str
    """as the mail names it, which may be a path; empty if it has none"""
    data: bytes


def read(file: Path, offset: str) -> Iterator[AttachedFile]:
    """The attachments of the mail at that offset of a mailbox, or of a file that is one mail.

    Each is decoded when it is asked for. None if no mail is there. Outlook's data files are not read. Raises OSError,
    ValueError for an offset that is no number, and CompoundError for a damaged .msg.
    """
    if file.suffix.lower() in outlook_stores.SUFFIXES:
        return
    mail = next(mailbox.mails(file, int(offset or 0)), None)
    if mail is None or mail.offset != offset:
        return
    parsed = msg.parse(mail.data) if mail.data.startswith(msg.SIGNATURE) else mime.parse(mail.data)
    for part in _attachments(parsed):
        yield AttachedFile(name_of(part), part.content())


def _attachments(mail: Part) -> Iterator[Part]:
    """The attachments of a mail, those of attached mails too."""
    for part in body_of(mail).attachments:
        if part.parts and not part.type.startswith("multipart/"):
            yield from _attachments(part.parts[0])
        else:
            yield part
