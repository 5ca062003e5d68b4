"""Channels and direct messages of Discord, as DiscordChatExporter writes them in JSON.

A file is one channel, or a part of it, with `guild` (the server; `Direct Messages` where there is none), `channel` and
`messages`. Written by JsonMessageWriter.cs of https://github.com/Tyrrrz/DiscordChatExporter.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from relrag_pipelines.records import Json, NamedPerson
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item, sent_file
from relrag_pipelines.sources.chats.json_chats import (
    damage_failure,
    identifier,
    iso_seconds,
    mapping,
    objects,
    pieces,
    read_messages,
    string,
)
from relrag_pipelines.sources.chats.json_stream import Damage
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile
from relrag_pipelines.sources.formats.versions import changed

_NEEDED = frozenset({"channel.id"})
_FIELDS = (b'"guild"', b'"channel"', b'"messages"')
_WRITTEN = frozenset({"Default", "Reply", "0", "19", "20", "23", "ApplicationCommand", "ContextMenuCommand"})
"""types of messages that somebody wrote; the others are notices"""
_MENTION = re.compile(r"<@!?(\d{15,20})>")
_EMOJI = re.compile(r"<a?:(\w{2,32}):\d{15,20}>")


def is_export(head: bytes) -> bool:
    """Whether a file begins with a channel in this form."""
    return all(field in head for field in _FIELDS) and b'"iconUrl"' in head


def read(kind: str, files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    """The messages of a file."""
    conversation: Conversation | None = None
    folder = str(PurePosixPath(path).parent)
    for fields, event in pieces(functools.partial(files.open, path), "messages", needed=_NEEDED):
        if isinstance(event, Damage):
            yield damage_failure(event, files.member(path))
        elif event.path == ("messages",):
            if conversation is None:
                key = reading.hash(f"channel {fields.get('channel.id')}")
                conversation = Conversation(kind, key, _title(fields) or kind, f"{files.location(path)}#")
            read_message = functools.partial(_message, files, folder)
            yield from read_messages(conversation, event, read_message, reading, files.member(path))


def _title(fields: Json) -> str:
    """`Server / #channel`; for direct messages the names of who takes part; empty where nothing names it."""
    server, channel = (str(fields.get(name) or "") for name in ("guild.name", "channel.name"))
    if "Direct" in str(fields.get("channel.type")) or fields.get("guild.id") in ("0", 0):
        return channel
    return " / ".join(filter(None, (server, f"#{channel}" if channel else "")))


def _message(files: ExportFiles, folder: str, item: Json, position: int) -> Message:
    author, kind = mapping(item, "author"), str(item.get("type"))
    name = _name(author) or "Deleted User"
    content = string(item, "content")
    message = Message(identifier(item, "id"), content, name, iso_seconds(item, "timestamp"), f"M{position}", extra={})
    people = {string(person, "id"): _name(person) for person in objects(item, "mentions")}
    if kind not in _WRITTEN:
        message.sender, message.text = None, content if name in content else f"{name} {content}"
    else:
        message.people = tuple(NamedPerson("mentioned", own) for own in dict.fromkeys(people.values()) if own)
        message.text = "\n".join(filter(None, (_plain(content, people), *_further_texts(item))))
    _add_rest(message, item)
    rows = [*objects(item, "attachments"), *objects(mapping(item, "forwardedMessage"), "attachments")]
    message.files = tuple(_sent_file(files, folder, row) for row in rows)
    return message


def _name(person: Json) -> str:
    return string(person, "nickname") or string(person, "name")


def _plain(content: str, people: dict[str, str]) -> str:
    """A text with names and emoji instead of Discord's marks for them."""
    if "<" not in content:
        return content
    return _EMOJI.sub(r":\1:", _MENTION.sub(lambda match: f"@{people.get(match[1]) or 'somebody'}", content))


def _further_texts(item: Json) -> Iterator[str]:
    """What a message says beside its text: cards of links, stickers, a forwarded message."""
    for embed in objects(item, "embeds"):
        yield from filter(None, (string(embed, "title"), string(embed, "description")))
        for row in objects(embed, "fields"):
            yield f"{string(row, 'name')}: {string(row, 'value')}"
    yield from (string(sticker, "name") for sticker in objects(item, "stickers"))
    yield string(mapping(item, "forwardedMessage"), "content")


def _add_rest(message: Message, item: Json) -> None:
    extra = message.extra = message.extra or {}
    if item.get("timestampEdited"):
        extra |= {"edited": True} | changed(iso_seconds(item, "timestampEdited"))
    reference = mapping(item, "reference")
    if mapping(item, "forwardedMessage") or reference.get("type") == "Forward":
        extra["forwarded_from"] = "another message"
    elif target := string(reference, "messageId"):
        message.reply_to = target
    if rows := [_reaction(row) for row in objects(item, "reactions")]:
        extra["reactions"] = rows
    if mapping(item, "author").get("isBot") is True:
        extra["bot"] = True


def _reaction(row: Json) -> Json:
    names = [name for person in objects(row, "users") if (name := _name(person))]
    count = row.get("count")
    reaction = {"emoji": string(mapping(row, "emoji"), "name"), "count": count if type(count) is int else 1}
    return reaction | ({"from": names} if names else {})


def _sent_file(files: ExportFiles, folder: str, row: Json) -> SentFile:
    """A file, by its path where the exporter downloaded it, else by its name alone."""
    address, name = string(row, "url"), string(row, "fileName")
    if "://" in address:
        return SentFile(name or PurePosixPath(address.partition("?")[0]).name or "file")
    return sent_file(files, address.replace("\\", "/"), folder, name)
