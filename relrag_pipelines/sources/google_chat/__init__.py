"""Google Chat, as Google Takeout exports it: a folder a conversation, with `messages.json` and `group_info.json`.

Takeout's files come as a zip or unpacked, below `Google Chat/Groups`. A message's id is `<space>/<topic>/<message>`;
the message that begins a topic has the topic's id, and the others of the topic answer it. Dates are sentences in the
language of the account, `Monday, January 15, 2024 at 10:00:00 AM UTC`. Chats of Hangouts: hangouts.py.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from datetime import UTC
from pathlib import Path, PurePosixPath

import orjson

from relrag_pipelines.records import Json, NamedPerson
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats import export_files
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item, sent_file
from relrag_pipelines.sources.chats.json_chats import (
    damage_failure,
    identifier,
    mapping,
    objects,
    pieces,
    read_messages,
    string,
)
from relrag_pipelines.sources.chats.json_stream import Damage
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile
from relrag_pipelines.sources.formats.safe_zip import ZipRejected
from relrag_pipelines.sources.formats.versions import changed
from relrag_pipelines.sources.google_chat import hangouts
from relrag_pipelines.sources.mail import localised_dates

_KIND = "google_chat"
_INFO = "group_info.json"
_MAX_GROUP_BYTES = 2**22
_SPACE = re.compile(r"\s")
_BEGINNING = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"messages"\s*:\s*\[')
_FIELDS = (b'"created_date"', b'"topic_id"', b'"creator"')


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit, and the files that were sent with them."""
    if PurePosixPath(unit.path).name == _INFO:  # it is read with the messages beside it
        return
    yield from export_files.read_export(unit, reading, _holds_messages, _read_file)


def recognise(file: Path) -> bool:
    """Whether a file holds messages of a conversation or its members, or a zip does."""
    return export_files.recognises(file, _is_of_export)


def _is_of_export(path: str, head: bytes) -> bool:
    is_info = PurePosixPath(path).name == _INFO and b'"members"' in head
    return is_info or _holds_messages(path, head)


def _holds_messages(path: str, head: bytes) -> bool:
    return _is_of_chat(head) or hangouts.is_hangouts(head)


def _is_of_chat(head: bytes) -> bool:
    return _BEGINNING.match(head) is not None and any(field in head for field in _FIELDS)


def _read_file(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    is_chat = _is_of_chat(export_files.head(files, path))
    return _read_chat(files, path, reading) if is_chat else hangouts.read(_KIND, files, path, reading)


def _read_chat(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    folder = PurePosixPath(path).parent
    title, names = _group(files, folder)
    conversation: Conversation | None = None
    reader = _Messages(files, str(folder), names)
    for _, event in pieces(functools.partial(files.open, path), "messages"):
        if isinstance(event, Damage):
            yield damage_failure(event, files.member(path))
            continue
        if conversation is None:
            key = reading.hash(f"space {_space(event.items) or folder.name}")
            conversation = Conversation(_KIND, key, title or folder.name or _KIND, f"{files.location(path)}#")
        yield from read_messages(conversation, event, reader.read, reading, files.member(path))


def _space(items: Sequence[object]) -> str:
    """The space that the first message with an id is in; empty without one."""
    ids = (row.get("message_id") for row in items if isinstance(row, dict))
    return next((own_id.partition("/")[0] for own_id in ids if type(own_id) is str and own_id), "")


def _link_titles(item: Json, text: str) -> list[str]:
    """The titles of linked pages that a message does not hold itself."""
    titles = (string(mapping(row, "url_metadata"), "title") for row in objects(item, "annotations"))
    return [title for title in titles if title not in text]


def _group(files: ExportFiles, folder: PurePosixPath) -> tuple[str, dict[str, str]]:
    """The title of a conversation, for one without a name that of its members; names of members by address."""
    path = (folder / _INFO).as_posix()
    if not files.has(path):
        return "", {}
    try:
        with files.open(path) as stream:
            group = orjson.loads(stream.read(_MAX_GROUP_BYTES))
    except (OSError, ZipRejected, orjson.JSONDecodeError):  # the messages are read without it
        return "", {}
    if type(group) is not dict:
        return "", {}
    names = {str(row.get("email") or row.get("name")): str(row.get("name") or "") for row in objects(group, "members")}
    title = group.get("name")
    return title if type(title) is str and title else ", ".join(filter(None, names.values())), names


class _Messages:
    """Reads the messages of a conversation."""

    def __init__(self, files: ExportFiles, folder: str, names: dict[str, str]) -> None:
        self._files, self._folder, self._names = files, folder, names

    def read(self, item: Json, position: int) -> Message | None:
        """One message."""
        own_id = self._id(item)
        topic, creator = string(item, "topic_id"), mapping(item, "creator")
        name, address = string(creator, "name"), string(creator, "email")
        ts = time(string(item, "created_date"))
        message = Message(own_id, string(item, "text"), name or address or "unknown", ts, f"M{position}", extra={})
        if name and "@" in address:
            message.people = (NamedPerson("sender", f"{name} <{address}>"),)
        if topic and "message_id" in item and own_id.rpartition(":")[2] != topic:
            message.reply_to = f"{topic}:{topic}"
        quoted = mapping(item, "quoted_message_metadata")
        if quoted.get("message_id"):
            message.reply_to = self._id(quoted)
        self._add_rest(message, item, quoted)
        return message

    def _id(self, item: Json) -> str:
        """Topic and message; the space stands in the conversation's part of ids."""
        parts = identifier(item, "message_id" if "message_id" in item else "topic_id").split("/")
        return ":".join(parts[-2:])

    def _add_rest(self, message: Message, item: Json, quoted: Json) -> None:
        extra = message.extra = message.extra or {}
        if item.get("updated_date"):
            extra |= {"edited": True} | changed(time(string(item, "updated_date")))
        if item.get("message_state") == "DELETED" or "deletion_metadata" in item:
            extra["deleted"], message.text = True, ""
        if quoted and not message.reply_to:
            extra["quoted"] = string(quoted, "text")
        if rows := [self._reaction(row) for row in objects(item, "reactions")]:
            extra["reactions"] = rows
        message.files = tuple(self._files_of(item))
        message.text = "\n".join(filter(None, (message.text, *_link_titles(item, message.text))))

    def _files_of(self, item: Json) -> Iterator[SentFile]:
        for row in objects(item, "attached_files"):
            exported, original = string(row, "export_name"), string(row, "original_name")
            if exported or original:
                yield sent_file(self._files, exported or original, self._folder, original or exported)

    def _reaction(self, row: Json) -> Json:
        addresses = row.get("reactor_emails")
        names = (
            [self._names.get(email, email) for email in addresses if type(email) is str]
            if type(addresses) is list
            else []
        )
        return {"emoji": string(mapping(row, "emoji"), "unicode"), "count": len(names) or 1, "from": names}


@functools.lru_cache(4096)
def time(text: str) -> int | None:
    """Seconds UTC of a date in words."""
    try:
        when = localised_dates.parse(_SPACE.sub(" ", text))
        return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()) if when else None
    except (ValueError, OverflowError):
        return None
