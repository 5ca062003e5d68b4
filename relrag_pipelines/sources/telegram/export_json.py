"""result.json of Telegram Desktop: one chat, or the chats of an account in `chats.list` and `left_chats.list`."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

from relrag_pipelines.records import Json, NamedPerson
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item, sent_file
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
from relrag_pipelines.sources.formats.json_fields import WrongValueError
from relrag_pipelines.sources.formats.versions import changed

KIND = "telegram"
LISTS = frozenset({"list"})
"""arrays of chats in an export of an account"""
_NEEDED = frozenset({"type", "id"})
_CHAT = re.compile(
    rb'"type"\s*:\s*"(?:saved_messages|replies|verification_codes|personal_chat|bot_chat|(?:private|public)_'
    rb'(?:group|supergroup|channel))"'
)
_ACCOUNT = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\{\s*"about"\s*:\s*"[^"]*Telegram')
_MESSAGE = re.compile(rb'"(?:date_unixtime|text_entities|from_id)"\s*:')
_TITLES = {"saved_messages": "Saved Messages", "replies": "Replies", "verification_codes": "Verification Codes"}
_NOBODY = "Deleted Account"
"""what Telegram shows for a sender whose account is gone"""
_PLAIN = frozenset({"id", "type", "date", "date_unixtime", "from", "from_id", "text", "text_entities"})
"""fields of a message of text alone"""
_MEDIA = {"photo": "photo", "file": "file"}
"""fields that name a file -> what is said to be left out where the export does not hold it"""
_LEFT_OUT = re.compile(r"\((?:File (?:not included|unavailable|exceeds)|Photo (?:not included|unavailable|exceeds))")
_ACTIONS = {
    "create_group": "created the group “{title}”",
    "create_channel": "created the channel “{title}”",
    "edit_group_title": "changed the title to “{title}”",
    "edit_group_photo": "changed the photo of the group",
    "delete_group_photo": "removed the photo of the group",
    "invite_members": "added {members}",
    "remove_members": "removed {members}",
    "join_group_by_link": "joined the group by a link",
    "join_group_by_request": "joined the group on request",
    "pin_message": "pinned a message",
    "topic_created": "created the topic “{title}”",
    "topic_edit": "changed the topic to “{new_title}”",
    "joined_telegram": "joined Telegram",
    "migrate_to_supergroup": "made the group a supergroup",
    "migrate_from_group": "made the group “{title}” a supergroup",
    "clear_history": "cleared the history",
    "take_screenshot": "took a screenshot",
}
"""what a notice says; of other actions the name stands in it"""


def is_export(head: bytes) -> bool:
    """Whether a file begins like one of these."""
    if b'"messages"' in head and (_CHAT.search(head) or (_MESSAGE.search(head) and b'"text"' in head)):
        return True
    return _ACCOUNT.search(head) is not None


def read(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    """The messages of each chat in the file."""
    fields: Json | None = None
    member, ordinal = files.member(path), 0
    for own, event in pieces(functools.partial(files.open, path), "messages", LISTS, _NEEDED):
        if isinstance(event, Damage):
            yield damage_failure(event, member)
            continue
        if event.path[-1:] != ("messages",):
            continue
        if own is not fields:
            fields, ordinal = own, ordinal + 1
            location = f"{files.location(path)}#C{ordinal}"
            conversation = Conversation(KIND, chat_key(own, reading.hash), title(own, path), location)
            read_message = _Messages(files, path, reading).read
        yield from read_messages(conversation, event, read_message, reading, member)


def chat_key(fields: Json, id_hash: Callable[[str], str]) -> str:
    """The part of ids that names a chat."""
    chat_id = fields.get("id")
    return id_hash(f"chat {chat_id}") if type(chat_id) is int else title_key(str(fields.get("name") or ""), id_hash)


def title_key(name: str, id_hash: Callable[[str], str]) -> str:
    """The same where only the title is known."""
    return id_hash(f"title {' '.join(name.split()).casefold()}")


def title(fields: Json, path: str) -> str:
    """The title of a chat: that of a chat with oneself is Telegram's, one without a name has that of its folder."""
    name = fields.get("name")
    folder = PurePosixPath(path).parent.name or KIND
    return name if type(name) is str and name else _TITLES.get(str(fields.get("type")), folder)


class _Messages:
    """Reads the messages of one chat."""

    def __init__(self, files: ExportFiles, path: str, reading: ReadContext) -> None:
        self._files, self._folder = files, str(PurePosixPath(path).parent)
        self._zone = ZoneInfo(reading.timezone)
        self._id_hash = functools.cache(reading.hash)

    def read(self, item: Json, position: int) -> Message | None:
        """One message; this is the hot loop, and most messages are plain."""
        if item["type"] != "message":
            return self._notice(item, position)
        own_id, text, sender, sender_id = item["id"], item.get("text"), item.get("from"), item.get("from_id")
        message = Message(
            str(own_id) if type(own_id) is int else identifier(item, "id"),
            text if type(text) is str else joined_text(text),
            sender if sender and type(sender) is str else _NOBODY,
            self._time(item),
            f"M{position}",
        )
        if type(sender_id) is str:
            message.extra = {"sender_id": self._id_hash(sender_id)}
        if type(text) is list or not item.keys() <= _PLAIN:
            self._add_rest(message, item)
        return message

    def _time(self, item: Json) -> int | None:
        if (ts := seconds(item.get("date_unixtime"))) is not None:
            return ts
        return self._local_time(item, "date")  # exports before 2022 have no other

    def _local_time(self, item: Json, name: str) -> int | None:
        """A time of the computer's clock."""
        try:
            return int(datetime.fromisoformat(string(item, name)).replace(tzinfo=self._zone).timestamp())
        except (ValueError, OverflowError):
            return None

    def _edited(self, item: Json) -> int | None:
        return seconds(item.get("edited_unixtime")) or self._local_time(item, "edited")

    def _add_rest(self, message: Message, item: Json) -> None:
        """Adds what most messages do not have."""
        extra = message.extra = message.extra or {}
        if "edited" in item or "edited_unixtime" in item:
            extra |= {"edited": True} | changed(self._edited(item))
        if "forwarded_from" in item:
            extra["forwarded_from"] = string(item, "forwarded_from") or _NOBODY
        if "reply_to_message_id" in item and "reply_to_peer_id" not in item:
            message.reply_to = identifier(item, "reply_to_message_id")
        for name in ("via_bot", "author", "saved_from"):
            if value := string(item, name):
                extra[name] = value
        if reactions := _reactions(item):
            extra["reactions"] = reactions
        message.people = _mentions(item)
        message.files = tuple(self._sent_files(item, extra))
        message.text = "\n".join(filter(None, (message.text, *_further_texts(item, extra))))

    def _sent_files(self, item: Json, extra: Json) -> Iterator[SentFile]:
        media_type = string(item, "media_type")
        if media_type:
            extra["media"] = media_type
        for field, word in _MEDIA.items():
            name = string(item, field)
            if not name:
                continue
            if _LEFT_OUT.search(name):
                extra["omitted"] = (media_type or word).replace("_", " ")
            elif media_type != "sticker":
                yield sent_file(self._files, name, self._folder, string(item, "file_name"), string(item, "mime_type"))

    def _notice(self, item: Json, position: int) -> Message:
        """What happened to the chat, with who did it."""
        if item["type"] != "service":
            raise WrongValueError("Telegram Desktop does not export messages of this kind", "unsupported")
        message = Message(identifier(item, "id"), notice(item), None, self._time(item), f"M{position}")
        if item.get("action") == "pin_message" and "message_id" in item:
            message.reply_to = identifier(item, "message_id")
        return message


def joined_text(text: Any) -> str:
    """A text of parts, some with a format: strings and objects with `text`; links show their address."""
    if type(text) is not list:
        return ""
    return "".join(part if type(part) is str else _part(part) for part in text if type(part) in (str, dict))


def _part(part: Json) -> str:
    text, href = string(part, "text"), part.get("href")
    return f"{text} ({href})" if type(href) is str and href and href != text else text


def notice(item: Json) -> str:
    """What a notice says: `Dana Levi added Petr`."""
    action = string(item, "action")
    if action == "phone_call":
        return f"{_actor(item)} {_call(item)}"
    members = item.get("members")
    names = [name or _NOBODY for name in members if name is None or type(name) is str] if type(members) is list else []
    words = {name: string(item, name) for name in ("title", "new_title")} | {"members": ", ".join(names)}
    information = string(item, "information_text") or joined_text(item.get("text")) or ""
    phrase = _ACTIONS[action].format(**words) if action in _ACTIONS else action.replace("_", " ")
    return " ".join(filter(None, (_actor(item), phrase or information)))


def _actor(item: Json) -> str:
    return string(item, "actor") or string(item, "from")


def _call(item: Json) -> str:
    length = item.get("duration_seconds")
    return f"called, {length} s" if type(length) is int else "called, no answer"


def _reactions(item: Json) -> list[Json]:
    rows = []
    for reaction in objects(item, "reactions"):
        row: Json = {"emoji": string(reaction, "emoji") or string(reaction, "type").replace("_", " ")}
        row["count"] = reaction.get("count") if type(reaction.get("count")) is int else 1
        if names := [name for person in objects(reaction, "recent") if (name := string(person, "from"))]:
            row["from"] = names
        rows.append(row)
    return rows


def _mentions(item: Json) -> tuple[NamedPerson, ...]:
    """People whom the text names by a link to their account."""
    parts = [*objects(item, "text_entities"), *objects(item, "text")]
    names = [string(part, "text") for part in parts if part.get("type") == "mention_name"]
    return tuple(NamedPerson("mentioned", name) for name in dict.fromkeys(names) if name)


def _further_texts(item: Json, extra: Json) -> Iterator[str]:
    """What a message says beside its text: a sticker, a poll, a contact, a place, a game, an invoice."""
    yield string(item, "sticker_emoji")
    if poll := mapping(item, "poll"):
        extra["poll"] = True
        yield string(poll, "question")
        yield from (f"- {string(row, 'text')} ({row.get('voters')})" for row in objects(poll, "answers"))
    if contact := mapping(item, "contact_information"):
        yield " ".join(filter(None, (string(contact, name) for name in ("first_name", "last_name", "phone_number"))))
    if "location_information" in item or "place_name" in item:
        # coordinates tell where somebody lives; nothing finds them in order to redact them
        extra["place"] = True
        yield ", ".join(filter(None, (string(item, "place_name"), string(item, "address")))) or "(location)"
    yield string(item, "game_title")
    if invoice := mapping(item, "invoice_information"):
        yield ": ".join(filter(None, (string(invoice, "title"), string(invoice, "description"))))
