"""Conversations with assistants: the exports of ChatGPT and of Claude.

Both write `conversations.json`, an array of conversations, which a reader takes as a whole: the messages of ChatGPT are
a tree. ChatGPT also splits a large array into several files, and repeats it in the script of `chat.html`, which is read
only where it is alone. Other programs save one conversation in the same form, as an object.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from relrag_pipelines.records import Failure
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.ai_chat import chatgpt, claude
from relrag_pipelines.sources.chats import export_files
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item
from relrag_pipelines.sources.chats.json_chats import (
    LONGEST_CONVERSATION,
    OpenFile,
    damage_failure,
    read_messages,
    whole_items,
)
from relrag_pipelines.sources.chats.json_stream import Damage, Items, parse_item
from relrag_pipelines.sources.chats.message import Conversation
from relrag_pipelines.sources.formats.json_fields import WrongValueError, type_of

_KIND = "ai_chat"
_BEGINNING = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*([\[{])")
_PAGE = re.compile(rb"<title>ChatGPT Data Export</title>.*?\bjsonData\s*=\s*(?=\[)", re.DOTALL)
"""the page of ChatGPT's export, up to the array in its script"""

_CONVERSATIONS = "conversations*.json"
_FURTHER_FILES = frozenset(
    {"user.json", "users.json", "user_settings.json", "message_feedback.json", "shared_conversations.json"}
    | {"model_comparisons.json", "projects.json", "memories.json", "group_chats.json", "shopping.json", "sora.json"}
)
"""what both exports hold beside conversations, and nothing reads"""

Part = tuple[int, Any] | Damage
"""a conversation with its place in the file, from 1, or a fault"""


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit, and the files that were sent with them."""
    if not (_is_further(unit.path) and _is_beside_conversations(unit.file)):
        yield from export_files.read_export(unit, reading, _holds_messages, _read_file, _without_further_files)


def recognise(file: Path) -> bool:
    """Whether a file begins like an export, or one in a zip does, or is a further file of one."""
    if file.name in _FURTHER_FILES and _is_beside_conversations(file):
        return True
    return export_files.recognises(file, _holds_messages)


def _is_beside_conversations(file: Path) -> bool:
    return any(file.parent.glob(_CONVERSATIONS))


def _without_further_files(paths: list[str]) -> list[str]:
    """The members of a zip but for the page and the further files that lie beside conversations."""
    folders = {member.parent for path in paths if (member := PurePosixPath(path)).match(_CONVERSATIONS)}
    return [path for path in paths if not (_is_further(path) and PurePosixPath(path).parent in folders)]


def _is_further(path: str) -> bool:
    return _is_named_as_page(path) or PurePosixPath(path).name in _FURTHER_FILES


def _is_named_as_page(path: str) -> bool:
    return path.lower().endswith((".html", ".htm"))


def _holds_messages(path: str, head: bytes) -> bool:
    if _is_named_as_page(path):
        return _PAGE.search(head) is not None
    return _BEGINNING.match(head) is not None and (chatgpt.is_export(head) or claude.is_export(head))


def _read_file(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    head, member = export_files.head(files, path), files.member(path)
    beginning, page = _BEGINNING.match(head), _PAGE.search(head)
    is_object = beginning is not None and beginning[1] == b"{"
    open_file = functools.partial(files.open, path)
    parts = _object(open_file) if is_object else whole_items(open_file, page.end() if page else 0)
    format_ = claude if claude.is_export(head) else chatgpt
    reader = format_.Messages(files, str(PurePosixPath(path).parent), reading.owner or "Me")
    for part in parts:
        if isinstance(part, Damage):
            yield damage_failure(part, member)
        else:
            yield from _conversation(reader, part, files.location(path), member, reading)


def _object(open_file: OpenFile) -> Iterator[Part]:
    """The conversation that a file is."""
    with open_file() as stream:
        data = stream.read(LONGEST_CONVERSATION)
    try:
        yield 1, parse_item(data)
    except (ValueError, RecursionError):
        message = "the file is no JSON, or ends before it should; export it again"
        yield Damage((), 0, "truncated", message, fatal=True)


def _conversation(
    reader: chatgpt.Messages | claude.Messages, part: tuple[int, Any], location: str, member: str, reading: ReadContext
) -> Iterator[Item]:
    ordinal, fields = part
    name = f"{member} conversation {ordinal}".strip()
    try:
        if type(fields) is not dict:
            raise WrongValueError(f"found {type_of(fields)}, wanted an object")
        key = reading.hash(f"conversation {reader.conversation_id(fields)}")
        messages = reader.messages(fields)
        title = reader.title(fields) or reader.name
    except WrongValueError as error:
        yield Failure(name, error.fault, f"{error}; the conversation is left out")
        return
    conversation = Conversation(_KIND, key, title, f"{location}#C{ordinal}")
    yield from read_messages(conversation, Items((), 1, messages), reader.read, reading, name)
