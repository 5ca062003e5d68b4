"""Reads the mails of an Outlook data file, .pst or .ost, with libpff (an extra; its Python module is `pypff`).

libpff gives the MAPI properties of each item, from which `mapi_properties` makes a mail as of a .msg. It parses foreign
files in C, so it runs in the sandbox, some mails at a time. Folders that are searches hold no mails of their own.
Format: MS-PST.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from relrag_pipelines.sources.mail.mime import MAX_DEPTH
from relrag_pipelines.sources.mail.outlook import mapi_properties
from relrag_pipelines.sources.mail.outlook.mapi_properties import Attachment, OutlookMessage, Properties
from relrag_pipelines.workers import sandbox
from relrag_pipelines.workers.limits import Limits

SIGNATURE = b"!BDN"
MISSING = "Outlook's data files need libpff: pip install 'relrag[outlook]'"
_CLASS, _SUBJECT = 0x001A, 0x0037
_MAIL_CLASSES = ("ipm.note", "ipm.schedule.meeting", "report.")
"""how the classes of items begin that are mails"""
_FOLDER, _TYPE_BITS = 2, 0x1F
"""type of a folder in the lowest bits of its identifier; a search folder has another"""
_BATCH_MAILS, _BATCH_BYTES = 200, 16 * 2**20
_MAX_ATTACHMENT = 128 * 2**20
_MAX_FOLDERS = 100_000


@dataclass
class StoredMail:
    """An item of a data file."""

    number: int
    """its identifier in the file"""
    message: OutlookMessage | None = None
    """None where it could not be read"""


@dataclass
class Batch:
    """Items that were read together."""

    mails: list[StoredMail] = field(default_factory=list)
    others: int = 0
    """items that are no mails: appointments, contacts, tasks"""
    end: int = 0
    """how many items of the file were looked at by now"""
    is_last: bool = False


def batches(file: Path, limits: Limits) -> Iterator[Batch]:
    """The mails of a file. Raises ImportError without libpff, OSError for a damaged file, ParserStopped."""
    start = 0
    while True:
        batch = sandbox.call(limits, _BATCH_BYTES, read_batch, str(file), start)
        yield batch
        if batch.is_last:
            return
        start = batch.end


def read_batch(path: str, start: int) -> Batch:
    """The next mails from the item at `start` on. Runs in the sandbox."""
    import pypff

    file = pypff.file()
    file.open(path)
    try:
        return _collect(file.get_root_folder(), start)
    finally:
        file.close()


def _collect(root: Any, start: int) -> Batch:
    batch, size, position = Batch(), 0, 0
    for folder in _folders(root):
        count = folder.number_of_sub_messages
        for index in range(max(0, start - position), count):
            size += _add(batch, folder, index)
            if len(batch.mails) >= _BATCH_MAILS or size >= _BATCH_BYTES:
                batch.end = position + index + 1
                return batch
        position += count
    batch.end, batch.is_last = position, True
    return batch


def _folders(root: Any) -> Iterator[Any]:
    """All folders that are no searches, each before those in it."""
    waiting, seen = [root], 0
    while waiting and seen < _MAX_FOLDERS:
        folder = waiting.pop()
        seen += 1
        if folder.identifier & _TYPE_BITS == _FOLDER:
            yield folder
        children = range(folder.number_of_sub_folders)
        waiting += reversed([folder.get_sub_folder(number) for number in children])


def _add(batch: Batch, folder: Any, index: int) -> int:
    """Adds an item to a batch; about how many bytes it takes."""
    number = -1
    try:
        item = folder.get_sub_message(index)
        number = item.identifier
        properties = _properties(item)
        if not properties.text(_CLASS).lower().startswith(_MAIL_CLASSES):
            batch.others += 1
            return 0
        message = _message(item, properties, 0)
    except OSError:
        batch.mails.append(StoredMail(number))
        return 0
    batch.mails.append(StoredMail(number, message))
    return _size(message)


def _size(message: OutlookMessage) -> int:
    parts = [message.properties, *(attachment.properties for attachment in message.attachments)]
    return sum(len(value) for properties in parts for _, value in properties.values.values())


def _message(item: Any, properties: Properties, depth: int) -> OutlookMessage:
    kind, subject = properties.values.get(_SUBJECT, (0, b""))
    if kind == mapi_properties.UNICODE and subject[:2] == b"\x01\0":  # the length of a prefix such as Re: (MS-PST)
        properties.values[_SUBJECT] = kind, subject[4:]
    elif kind == mapi_properties.TEXT and subject[:1] == b"\x01":
        properties.values[_SUBJECT] = kind, subject[2:]
    return OutlookMessage(properties, _recipients(item), _attachments(item, depth))


def _recipients(item: Any) -> list[Properties]:
    try:
        recipients = item.recipients
        sets = recipients.record_sets if recipients is not None else ()
        return [_of_set(record_set) for record_set in sets]
    except OSError:
        return [Properties(damaged=True)]


def _attachments(item: Any, depth: int) -> list[Attachment]:
    attachments = []
    for number in range(item.number_of_attachments):
        try:
            attachments.append(_attachment(item.get_attachment(number), depth))
        except OSError:
            attachments.append(Attachment(Properties(damaged=True)))
    return attachments


def _attachment(attachment: Any, depth: int) -> Attachment:
    properties = _properties(attachment)
    if attachment.number_of_sub_items:
        if depth + 2 > MAX_DEPTH:
            return Attachment(properties, too_deep=True)
        inside = attachment.get_sub_item(0)
        return Attachment(properties, _message(inside, _properties(inside), depth + 2))
    size = attachment.size or 0
    if size > _MAX_ATTACHMENT:
        properties.damaged = True
    elif size:
        properties.values[mapi_properties.DATA] = mapi_properties.BINARY, attachment.read_buffer(size)
    return Attachment(properties)


def _properties(item: Any) -> Properties:
    sets = item.record_sets
    return _of_set(sets[0]) if len(sets) else Properties(damaged=True)


def _of_set(record_set: Any) -> Properties:
    """Those properties of a set that are read."""
    properties = Properties()
    for entry in record_set.entries:
        number = entry.entry_type
        if number in mapi_properties.WANTED or number == _CLASS:
            try:
                properties.values[number] = entry.value_type, bytes(entry.data or b"")
            except OSError:
                properties.damaged = True
    properties.charset = mapi_properties.charset_of(properties)
    return properties
