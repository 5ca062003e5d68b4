"""Conversations with assistants: the exports of ChatGPT and of Claude.

Both write `conversations.json`, an array of conversations, which a reader takes as a whole: the messages of ChatGPT are
a tree. ChatGPT also splits a large array into several files, and repeats it in the script of `chat.html`, which is read
only where it is alone. Other programs save one conversation in the same form, as an object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from relrag_pipelines.records import Failure, Json
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.assistant import chatgpt, claude
from relrag_pipelines.sources.chats import export_files
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item
from relrag_pipelines.sources.chats.json_chats import damage_failure, read_messages
from relrag_pipelines.sources.chats.json_stream import Damage, Items, JsonStream, parse_item
from relrag_pipelines.sources.chats.message import Conversation
from relrag_pipelines.sources.formats.json_fields import WrongValueError, type_of

_KIND = "assistant"
_LONGEST = 2**26
"""bytes of a conversation, above which it is left out"""
_BEGINNING = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*([\[{])")
_PAGE = re.compile(rb"<title>ChatGPT Data Export</title>.*?\bjsonData\s*=\s*(?=\[)", re.DOTALL)
"""the page of ChatGPT's export, up to the array in its script"""

Part = tuple[int, Json] | Damage
"""a conversation with its place in the file, from 1, or a fault"""


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit, and the files that were sent with them."""
    if not _is_named_as_page(unit.file):
        yield from export_files.read_export(unit, reading, _holds_messages, _read_file)
    elif not any(unit.file.parent.glob("conversations*.json")):
        yield from export_files.read_export(unit, reading, _is_page, _read_file)


def recognise(file: Path) -> bool:
    """Whether a file begins like an export, or one in a zip does."""
    return export_files.recognises(file, _is_page if _is_named_as_page(file) else _holds_messages)


def _is_named_as_page(file: Path) -> bool:
    return file.suffix.lower() in (".html", ".htm")


def _holds_messages(path: str, head: bytes) -> bool:
    return _BEGINNING.match(head) is not None and (chatgpt.is_export(head) or claude.is_export(head))


def _is_page(path: str, head: bytes) -> bool:
    return _PAGE.search(head) is not None


def _read_file(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    head, member = export_files.head(files, path), files.member(path)
    beginning, page = _BEGINNING.match(head), _PAGE.search(head)
    is_object = beginning is not None and beginning[1] == b"{"
    parts = _object(files, path) if is_object else _array(files, path, page.end() if page else 0)
    format_ = claude if claude.is_export(head) else chatgpt
    reader = format_.Messages(files, str(PurePosixPath(path).parent), reading.owner or "Me")
    for part in parts:
        if isinstance(part, Damage):
            yield damage_failure(part, member)
        else:
            yield from _conversation(reader, part, files.location(path), member, reading)


def _array(files: ExportFiles, path: str, begins: int) -> Iterator[Part]:
    """The conversations of an array that begins at that offset."""
    with files.open(path) as stream:
        stream.read(begins)
        for event in JsonStream(stream, longest=_LONGEST).events():
            if isinstance(event, Items):
                yield from enumerate(event.items, event.first)
            elif isinstance(event, Damage):
                yield event


def _object(files: ExportFiles, path: str) -> Iterator[Part]:
    """The conversation that a file is."""
    with files.open(path) as stream:
        data = stream.read(_LONGEST + 1)
    try:
        yield 1, parse_item(data)
    except (ValueError, RecursionError):
        message = "the file is no JSON, or ends before it should; export it again"
        yield Damage((), 0, "truncated", message, fatal=True)


def _conversation(
    reader: chatgpt.Messages | claude.Messages, part: tuple[int, Json], location: str, member: str, reading: ReadContext
) -> Iterator[Item]:
    ordinal, fields = part
    name = f"{member} conversation {ordinal}".strip()
    try:
        if type(fields) is not dict:
            raise WrongValueError(f"found {type_of(fields)}, wanted an object")
        key = reading.hash(f"conversation {reader.conversation_id(fields)}")
        messages = reader.messages(fields)
    except WrongValueError as error:
        yield Failure(name, error.fault, f"{error}; the conversation is left out")
        return
    conversation = Conversation(_KIND, key, reader.title(fields) or reader.name, f"{location}#C{ordinal}")
    yield from read_messages(conversation, Items((), 1, messages), reader.read, reading, name)
