"""Hangouts, which Google Chat replaced, as Google Takeout exports it: Hangouts.json with all conversations.

A conversation holds its people in `participant_data` and what happened in `events`: messages in segments of text, and
notices. A person is known by `gaia_id` or `chat_id`; times are microseconds.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import PurePosixPath

from relrag_pipelines.records import Json
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item
from relrag_pipelines.sources.chats.json_chats import (
    damage_failure,
    identifier,
    mapping,
    objects,
    pieces,
    read_messages,
    seconds,
    string,
)
from relrag_pipelines.sources.chats.json_stream import Damage
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile

_FIELDS = (b'"conversations"', b'"conversation_id"', b'"participant_data"')
_EVENTS, _PEOPLE = "events", "conversation.conversation.participant_data"
"""the arrays that are read, the second as a field of its conversation"""
_PER_SECOND = 1_000_000
_WRITTEN = frozenset({"REGULAR_CHAT_MESSAGE", "SMS"})
_NOTICES = {
    "ADD_USER": "{name} added {others}",
    "REMOVE_USER": "{name} removed {others}",
    "RENAME_CONVERSATION": "{name} renamed the conversation to “{title}”",
    "HANGOUT_EVENT": "{name}: a call",
}
"""type of an event that is no message -> what it says"""


def is_hangouts(head: bytes) -> bool:
    """Whether a file begins like an export of Hangouts."""
    return all(field in head for field in _FIELDS)


def read(kind: str, files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    """The messages of each conversation in the file, as records of that kind."""
    chat: _Chat | None = None
    member, ordinal = files.member(path), 0
    for fields, event in pieces(functools.partial(files.open, path), _EVENTS, frozenset({"conversations"})):
        if isinstance(event, Damage):
            yield damage_failure(event, member)
            continue
        if chat is None or fields is not chat.fields:
            ordinal += 1
            chat = _Chat(fields)
        if event.path[-1:] == (_EVENTS,):
            location = f"{files.location(path)}#C{ordinal}"
            key = reading.hash(f"hangouts {chat.id or ordinal}")
            conversation = Conversation(kind, key, chat.title(reading.owner), location)
            yield from read_messages(conversation, event, chat.read, reading, member)


class _Chat:
    """A conversation and its people."""

    def __init__(self, fields: Json) -> None:
        self.fields = fields
        self._names: dict[str, str] = {}
        for person in objects(fields, _PEOPLE):
            ids, name = mapping(person, "id"), string(person, "fallback_name")
            self._names.update({str(ids[key]): name for key in ("gaia_id", "chat_id") if ids.get(key)})

    @property
    def id(self) -> str:
        """Google's id of the conversation; empty where it is missing."""
        return str(self.fields.get("conversation.conversation_id.id") or "")

    def title(self, owner: str) -> str:
        """Its name, else those of the people in it without the owner's."""
        name = str(self.fields.get("conversation.conversation.name") or "")
        others = [person for person in dict.fromkeys(self._names.values()) if person and person != owner]
        return name or ", ".join(others) or "Hangouts"

    def read(self, item: Json, position: int) -> Message:
        """One event."""
        sender = self._name(mapping(item, "sender_id"))
        content = mapping(mapping(item, "chat_message"), "message_content")
        own_id, ts = identifier(item, "event_id"), seconds(item.get("timestamp"), _PER_SECOND)
        message = Message(own_id, _text(content), sender, ts, f"M{position}")
        if string(item, "event_type") not in _WRITTEN and not content:
            message.sender, message.text = None, self._notice(item, sender)
        message.files = tuple(_files(content))
        return message

    def _name(self, ids: Json) -> str:
        keys = (str(ids[key]) for key in ("gaia_id", "chat_id") if ids.get(key))
        return next(filter(None, (self._names.get(key, "") for key in keys)), "unknown")

    def _notice(self, item: Json, name: str) -> str:
        change = mapping(item, "membership_change")
        others = ", ".join(self._name(person) for person in objects(change, "participant_id"))
        title = string(mapping(item, "conversation_rename"), "new_name")
        form = _NOTICES.get(string(item, "event_type"), "{name}: {kind}")
        kind = string(item, "event_type").lower().replace("_", " ")
        return form.format(name=name, others=others or "somebody", title=title, kind=kind)


def _text(content: Json) -> str:
    parts = ("\n" if row.get("type") == "LINE_BREAK" else string(row, "text") for row in objects(content, "segment"))
    return "".join(parts)


def _files(content: Json) -> Iterator[SentFile]:
    """Pictures and other files by the names in their addresses, as the export does not hold them."""
    for row in objects(content, "attachment"):
        photo = mapping(mapping(row, "embed_item"), "plus_photo")
        address = string(photo, "url") or string(mapping(photo, "thumbnail"), "image_url")
        if name := PurePosixPath(address.partition("?")[0]).name:
            yield SentFile(name)
