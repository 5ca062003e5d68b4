"""The bytes of an attachment, found again in the file that holds its mail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def find(file: Path, offset: str, is_sought: Callable[[bytes], bool]) -> AttachedFile | None:
    """The attachment whose bytes are sought, of the mail at that offset of a mailbox, or of a file that is one mail.

    None if no attachment is. Outlook's data files are not searched. Raises OSError, and CompoundError for a damaged
    .msg.
    """
    if file.suffix.lower() in outlook_stores.SUFFIXES:
        return None
    mail = next(mailbox.mails(file, int(offset or 0)), None)
    if mail is None or mail.offset != offset:
        return None
    parts = _attachments(msg.parse(mail.data) if mail.data.startswith(msg.SIGNATURE) else mime.parse(mail.data))
    return next((AttachedFile(name_of(part), data) for part in parts if is_sought(data := part.content())), None)


def _attachments(mail: Part) -> Iterator[Part]:
    """The attachments of a mail, those of attached mails too."""
    for part in body_of(mail).attachments:
        if part.parts and not part.type.startswith("multipart/"):
            yield from _attachments(part.parts[0])
        else:
            yield part
