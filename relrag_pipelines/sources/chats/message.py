"""A conversation and its messages, as every chat export has them, and the records that are made of them."""

from __future__ import annotations

import mimetypes
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from relrag_pipelines.records import Json, NamedPerson, Record
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.text import reference_numbers

_DIGITS = re.compile(r"[0-9]\S*?\d\S*?\d")
"""text without three digits in a word has no reference number; a leading `\\d` would take twice as long"""
_NEW, _FILL = Record.__new__, Record.__init__
"""calling Record passes keywords through a dict, which takes as long as creating the record"""

_TYPES = mimetypes.MimeTypes()  # Python's own table; those of machines differ
for _suffix, _type in {
    ".webp": "image/webp",
    ".heic": "image/heic",
    ".opus": "audio/ogg",
    ".m4a": "audio/mp4",
    ".vcf": "text/vcard",
    ".3gp": "video/3gpp",
    ".md": "text/markdown",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}.items():
    _TYPES.add_type(_type, _suffix)

HASHED = (".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".txt", ".md", ".csv", ".html", ".ics")
"""suffixes of files that may have equal copies elsewhere; chats recode pictures, films and voice messages"""


class SentFile(NamedTuple):
    """A file that was sent with a message."""

    name: str
    location: str = ""
    """where it lies; empty if the export does not hold it"""
    digest: str = ""
    """SHA-256 of its bytes, hex, if files of its type may have copies elsewhere"""
    content_type: str = ""
    """its MIME type, where the export names one"""
    text: str = ""
    """what it says, where the export tells that"""


@dataclass(frozen=True)
class Conversation:
    """A chat: between two people, in a group or in a channel."""

    kind: str
    """the kind that reads it, which is the type of its messages"""
    key: str
    """keyed hash of what identifies it"""
    title: str
    location: str
    """the beginning of the locations of its messages: `<path>#` or `<zip>!<member>#`, with `C2` behind for the second
    chat of a file"""

    message_key: str = ""
    """what precedes a message's id in its record's, where programs do not name the conversation alike; else the key"""

    thread: str = field(init=False)
    """the id of the whole conversation as a thread"""
    message_prefix: str = field(init=False)
    """how the ids of its messages' records begin"""

    def __post_init__(self) -> None:
        """Made once, as every message has it."""
        object.__setattr__(self, "thread", f"{self.kind}:{self.key}")
        object.__setattr__(self, "message_key", self.message_key or self.key)
        object.__setattr__(self, "message_prefix", f"{self.kind}:{self.message_key}")


@dataclass(slots=True)
class Message:
    """A message of a conversation."""

    id: str
    """its id in the conversation, which never changes"""
    text: str
    sender: str | None
    """the name as the export shows it; None for a notice of the system"""
    ts: int | None
    """when it was sent, seconds UTC"""
    anchor: str
    """its place in the file: `M12` for the twelfth, `L12` for one that begins in line 12"""
    date_quality: str = ""
    """how exact the time is, where it is not exact to the second"""
    reply_to: str = ""
    """id of the message that it answers"""
    thread: str = ""
    """id of the message that begins its thread, in chats with threads"""
    people: Sequence[NamedPerson] = ()
    """further identifiers of its sender and recipients, and who is mentioned"""
    to: Sequence[str] = ()
    files: Sequence[SentFile] = ()
    extra: Json | None = None
    """edited, deleted, forwarded_from, reactions, poll, place, system ..."""
    lacks_text: bool = False
    """whether it has content of which no text can be read"""


def message_record(conversation: Conversation, message: Message) -> Record:
    """The record of a message, without its files."""
    text = _clean_text(message.text)
    extra = {} if message.extra is None else message.extra
    if message.sender is None:
        extra["system"] = True
    thread, kind = conversation.thread, conversation.kind
    record = new_record(
        f"{conversation.message_key}:{message.id}", text, f"{conversation.location}{message.anchor}", extra
    )
    record.rag_source_type = kind
    record.from_ = message.sender
    record.subject = conversation.title
    record.ts = message.ts
    record.thread_id = f"{thread}:{message.thread}" if message.thread else thread
    record.content_type = "text/plain"
    if message.reply_to:
        record.parent_asset_id = f"{conversation.message_prefix}:{message.reply_to}"
    if message.people:
        record.people = list(message.people)
    if message.to:
        record.to = list(message.to)
    if message.ts is None:
        record.date_quality = "none"
    elif message.date_quality:
        record.date_quality = message.date_quality
    return record


def _clean_text(text: str) -> str:
    """The text as every record has it; most texts are clean, which is quick to see."""
    if not text.isprintable():
        return clean(text)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def new_record(source_id: str, text: str, location: str, extra: Json) -> Record:
    """A record with the numbers that its text names; quicker than calling Record."""
    record = _NEW(Record)
    numbers: list[str] = []
    if reference_numbers.has_ascii_digit(text) and _DIGITS.search(text):
        numbers = reference_numbers.find_reference_numbers(text)
    _FILL(record, source_id, text, locations=[location], numbers=numbers, extra=extra)
    return record


def records(conversation: Conversation, message: Message, hash_id: Callable[[str], str]) -> Iterator[Record]:
    """The record of a message, and one for each file that was sent with it."""
    record = message_record(conversation, message)
    asset_id = f"{conversation.message_prefix}:{message.id}"
    further = file_records(record, asset_id, message.files, hash_id) if message.files else ()
    yield record
    yield from further


def file_records(
    message: Record, asset_id: str, files: Sequence[SentFile], hash_id: Callable[[str], str]
) -> list[Record]:
    """A record for each file that was sent with a message; notes in the message's record how many there are."""
    message.total_siblings, message.parent_ref = len(files), asset_id
    return [
        Record(
            f"{message.source_id}:a{index}",
            clean(file.text),
            rag_source_type=f"{message.rag_source_type}_attachment",
            from_=message.from_,
            subject=message.subject,
            ts=message.ts,
            date_quality=message.date_quality,
            thread_id=message.thread_id,
            parent_asset_id=asset_id,
            parent_ref=asset_id,
            index_in_parent=index,
            total_siblings=len(files),
            content_type=file.content_type or content_type(file.name),
            file_name=file.name,
            locations=[file.location or message.locations[0]],
            numbers=reference_numbers.find_reference_numbers(file.text) if file.text else [],
            extra={"bytes_hash": hash_id(file.digest)} if file.digest else {},
        )
        for index, file in enumerate(files)
    ]


def content_type(name: str) -> str:
    """The MIME type of a file by its suffix."""
    return _TYPES.types_map[True].get(f".{name.rpartition('.')[2].lower()}", "application/octet-stream")
