"""Conversations of Meta's "Download your information" in JSON: Messenger and Instagram write the same.

A conversation is a folder with `message_1.json`, `message_2.json` ..., 10,000 messages a file, newest first, the title
behind them. Each byte of UTF-8 above 127 is written as an escape of its own, `\\u00c3\\u00a9` for an é: `repaired`
undoes that, and leaves alone what is right already. End-to-end encrypted chats of Messenger come in a file of their
own, `<Name>_<n>.json`, with other names of the fields and without that fault.

Messages have no ids; one is identified by its time in milliseconds, its sender and its content.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from urllib.parse import unquote_plus

from relrag_pipelines.records import Json
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item, sent_file
from relrag_pipelines.sources.chats.json_chats import (
    COUNT,
    damage_failure,
    mapping,
    objects,
    pieces,
    read_messages,
    string,
)
from relrag_pipelines.sources.chats.json_stream import Damage
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile
from relrag_pipelines.sources.formats.json_fields import WrongValueError

_NEEDED = frozenset({"title"})
_NEEDED_ENCRYPTED = frozenset({"threadName"})
_CONVERSATION = re.compile(rb'"participants"\s*:\s*\[')
_MESSAGE = re.compile(rb'"sender_name"\s*:|"timestamp_ms"\s*:')
_ENCRYPTED = re.compile(rb'"(?:threadName|senderName|isUnsent)"\s*:')
_PLAIN = frozenset(
    {"sender_name", "timestamp_ms", "content", "type", "is_unsent", "is_taken_down", "is_geoblocked_for_viewer"}
    | {"is_unsent_image_by_messenger_kid_parent", "bumped_message_metadata"}
)
"""fields of a message of text alone"""
_MEDIA = ("photos", "videos", "audio_files", "files", "gifs")
_INSTAGRAM_MARKS = re.compile(rb"your_instagram_activity|instagram\.com/(?:p|reel|stories)/|cdninstagram")
_MESSENGER_MARKS = re.compile(rb"your_facebook_activity|facebook\.com/")
_NUMBERED = re.compile(r"_\d{1,4}\Z")
"""what the name of an encrypted chat has behind it"""
_INSTAGRAM_PATH = re.compile(r"instagram", re.IGNORECASE)


def is_export(head: bytes) -> bool:
    """Whether a file begins like a conversation."""
    if b'"messages"' not in head:
        return False
    return bool((_CONVERSATION.search(head) and _MESSAGE.search(head)) or is_encrypted(head))


def is_encrypted(head: bytes) -> bool:
    """Whether it is a chat of Messenger that was encrypted end to end."""
    return b'"threadName"' in head and _ENCRYPTED.search(head) is not None


def is_of_instagram(path: str, head: bytes) -> bool:
    """Whether a conversation is one of Instagram: by the links in it, else by the folders around it."""
    if _INSTAGRAM_MARKS.search(head):
        return True
    if _MESSENGER_MARKS.search(head) or is_encrypted(head):
        return False
    return _INSTAGRAM_PATH.search("/".join(PurePosixPath(path).parts[-8:])) is not None


def repaired(text: str) -> str:
    """A text whose bytes of UTF-8 stand as a letter each; any other text as it is."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def read(kind: str, files: ExportFiles, path: str, reading: ReadContext, head: bytes) -> Iterator[Item]:
    """The messages of a file."""
    encrypted = is_encrypted(head)
    needed = _NEEDED_ENCRYPTED if encrypted else _NEEDED
    read_message: Callable[[Json, int], Message | None] | None = None
    for fields, event in pieces(functools.partial(files.open, path), "messages", needed=needed):
        if isinstance(event, Damage):
            yield damage_failure(event, files.member(path))
        elif event.path == ("messages",):
            if read_message is None:
                conversation = _conversation(kind, files, path, fields, reading)
                reader = _EncryptedMessages if encrypted else _Messages
                read_message = reader(files, path, reading, fields.get(COUNT, 0)).read
            yield from read_messages(conversation, event, read_message, reading, files.member(path))


def _conversation(kind: str, files: ExportFiles, path: str, fields: Json, reading: ReadContext) -> Conversation:
    """The conversation of a file: by its path at Meta, which its folder is named after, else by its title."""
    given = fields.get("title") or fields.get("threadName")
    title = repaired(given) if type(given) is str and given else ", ".join(map(repaired, _participants(fields)))
    title = _NUMBERED.sub("", title) if "threadName" in fields else title
    folder = PurePosixPath(path).parent.name
    thread = fields.get("thread_path")
    key = PurePosixPath(thread).name if type(thread) is str and thread else ""
    key = key or (f"encrypted {given}" if "threadName" in fields else folder) or title
    return Conversation(kind, reading.hash(f"thread {key}"), title or folder or kind, f"{files.location(path)}#")


def _participants(fields: Json) -> list[str]:
    """Names of the participants, which are texts or objects with a name."""
    people = fields.get("participants")
    if type(people) is not list:
        return []
    names = [row.get("name") if type(row) is dict else row for row in people]
    return [name for name in names if type(name) is str]


class _Messages:
    """Reads the messages of a file."""

    def __init__(self, files: ExportFiles, path: str, reading: ReadContext, count: int) -> None:
        self._files, self._folder = files, PurePosixPath(path).parent
        self._count = count
        self._hash = reading.hash
        self._repaired = functools.lru_cache(10_000)(repaired)

    def read(self, item: Json, position: int) -> Message | None:
        """One message; this is the hot loop, and most messages are plain."""
        sender, stamp, content = item.get("sender_name"), item["timestamp_ms"], item.get("content")
        if type(stamp) is not int:
            raise WrongValueError("timestamp_ms is no whole number")
        sender = self._repaired(sender) if type(sender) is str and sender else _NOBODY
        text = repaired(content) if type(content) is str else ""
        own_id = f"{stamp}:{self._hash(f'{sender}: {text}')}"
        # counted from the oldest, so that those of one second are in order
        message = Message(own_id, text, sender, stamp // 1000, f"M{self._count + 1 - position}")
        if not item.keys() <= _PLAIN or item.get("is_unsent"):
            self._add_rest(message, item)
        return message

    def _add_rest(self, message: Message, item: Json) -> None:
        """Adds what most messages do not have."""
        extra = message.extra = {}
        if item.get("is_unsent"):
            extra["deleted"] = True
        if rows := [_reaction(row) for row in objects(item, "reactions")]:
            extra["reactions"] = rows
        message.files = tuple(self._sent_files(item))
        if message.files and message.text.endswith((" sent an attachment.", " sent a photo.", " sent a video.")):
            message.text = ""
        if "call_duration" in item:
            extra["call_seconds"] = item["call_duration"] if type(item["call_duration"]) is int else 0
        if "sticker" in item:
            extra["media"] = "sticker"
        message.text = "\n".join(filter(None, (message.text, *_shared(item, extra, message.text))))
        if message.files:  # several files sent at once are several messages of one moment
            message.id = f"{message.id}:{self._hash(' '.join(file.name for file in message.files))}"

    def _sent_files(self, item: Json) -> Iterator[SentFile]:
        for name in _MEDIA:
            for row in objects(item, name):
                if uri := repaired(string(row, "uri")):
                    yield self._sent_file(uri)

    def _sent_file(self, uri: str) -> SentFile:
        """A file that is named by its path from the top of the export, which may not be the source's folder."""
        if "://" in uri:
            return SentFile(PurePosixPath(uri.partition("?")[0]).name or "link")
        parts = PurePosixPath(uri).parts
        for folder in (".", *map(str, self._folder.parents)):
            file = sent_file(self._files, uri, folder)
            if file.location:
                return file
        nearby = self._folder.joinpath(*parts[-2:])
        return sent_file(self._files, nearby.as_posix(), name=parts[-1] if parts else uri)


_NOBODY = "Facebook user"
"""what Meta shows for a sender whose account is gone"""


_DEGREES = re.compile(r"-?\d{1,3}\.\d{3,}\s*[,;/]\s*-?\d{1,3}\.\d{3,}")
"""latitude and longitude"""


def _reaction(row: Json) -> Json:
    return {"emoji": repaired(string(row, "reaction")), "count": 1, "from": [repaired(string(row, "actor"))]}


def _names_a_position(link: str) -> bool:
    """Whether a link leads to a map, or holds a pair of decimal degrees."""
    plain = unquote_plus(link)
    return "maps" in plain or _DEGREES.search(plain) is not None


def _shared(item: Json, extra: Json, text: str) -> Iterator[str]:
    """A link, a post or a place that was shared."""
    share = mapping(item, "share")
    if not share:
        return
    if owner := repaired(string(share, "original_content_owner")):
        extra["forwarded_from"] = owner
    link, words = string(share, "link"), repaired(string(share, "share_text"))
    if _names_a_position(link):
        # coordinates tell where somebody lives; nothing finds them in order to redact them
        extra["place"] = True
        link = ""
    yield from (part for part in (words, link) if part and part not in text)


class _EncryptedMessages(_Messages):
    """Reads the messages of a chat that was encrypted end to end."""

    def read(self, item: Json, position: int) -> Message | None:
        """One message."""
        sender, stamp, text = string(item, "senderName") or _NOBODY, item["timestamp"], string(item, "text")
        if type(stamp) is not int:
            raise WrongValueError("timestamp is no whole number")
        sender, text = self._repaired(sender), repaired(text)
        own_id = f"{stamp}:{self._hash(f'{sender}: {text}')}"
        message = Message(own_id, text, sender, stamp // 1000, f"M{position}", extra={})
        self._add_rest(message, item | {"is_unsent": item.get("isUnsent")})
        return message

    def _sent_files(self, item: Json) -> Iterator[SentFile]:
        for row in objects(item, "media"):
            if uri := string(row, "uri"):
                yield sent_file(self._files, uri.removeprefix("./"), str(self._folder))
