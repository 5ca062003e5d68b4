"""The archive of X, once Twitter: own posts and direct messages.

The files below `data` are scripts: `window.YTD.tweets.part0 = [...]`. People are ids there, so names are taken from
account.js, of the owner, and from the mentions in the posts. A conversation's id is made of the ids of its members.
Files that were posted or sent lie in `tweets_media` and `direct_messages_media`, named after the id and the address.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from relrag_pipelines.records import Failure, Json, NamedPerson
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats import export_files
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item, sent_file
from relrag_pipelines.sources.chats.json_chats import (
    damage_failure,
    identifier,
    iso_seconds,
    mapping,
    objects,
    read_messages,
    seconds,
    string,
    whole_items,
)
from relrag_pipelines.sources.chats.json_stream import Damage, Items
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile
from relrag_pipelines.sources.formats.safe_zip import ZipRejected
from relrag_pipelines.sources.formats.versions import changed

_KIND = "twitter"
_SCRIPT = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*window\.YTD\.([a-z_]+)\.part\d+\s*=\s*(?=\[)")
_POSTS = frozenset({b"tweet", b"tweets", b"community_tweet", b"note_tweet"})
_CHATS = frozenset({b"direct_message", b"direct_messages", b"direct_message_group", b"direct_messages_group"})
_POST_FILES = ("tweets.js", "tweet.js", *(f"tweets-part{number}.js" for number in range(1, 10)))
_REPOST = re.compile(r"\ART @(\w{1,20}): ")
_MAX_ACCOUNT_BYTES = 2**20

ReadNames = Callable[[ExportFiles, str], Mapping[str, str]]
"""names of accounts, as the posts in a folder mention them"""


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit, and the files that were sent with them."""
    read_file = functools.partial(_read_file, functools.cache(_names))
    yield from export_files.read_export(unit, reading, _holds_messages, read_file)


def recognise(file: Path) -> bool:
    """Whether a file begins like posts or direct messages of an archive, or one in a zip does."""
    return export_files.recognises(file, _holds_messages)


def _holds_messages(path: str, head: bytes) -> bool:
    script = _SCRIPT.match(head)
    return script is not None and script[1] in _POSTS | _CHATS


def _read_file(read_names: ReadNames, files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    script = _SCRIPT.match(export_files.head(files, path))
    if script is None:  # the file has changed since it was recognised
        return
    if script[1] in _POSTS:
        yield from _read_posts(files, path, script.end(), reading)
    else:
        names = read_names(files, str(PurePosixPath(path).parent))
        yield from _read_chats(_Chats(files, path, reading, names), files, path, script.end())


def _read_posts(files: ExportFiles, path: str, offset: int, reading: ReadContext) -> Iterator[Item]:
    folder = str(PurePosixPath(path).parent)
    account = _account(files, folder)
    name = reading.owner or string(account, "accountDisplayName") or "Me"
    key = reading.hash(f"posts {account.get('accountId')}")
    handle = string(account, "username")
    title = f"Posts of @{handle}" if handle else "Posts"
    conversation = Conversation(_KIND, key, title, f"{files.location(path)}#")
    read_post = functools.partial(_post, files, folder, name)
    for part in whole_items(functools.partial(files.open, path), offset):
        if isinstance(part, Damage):
            yield damage_failure(part, files.member(path))
        else:
            yield from read_messages(
                conversation, Items((), part[0], [part[1]]), read_post, reading, files.member(path)
            )


def _post(files: ExportFiles, folder: str, name: str, item: Json, position: int) -> Message:
    if note := mapping(item, "noteTweet"):
        return _long_post(note, name, position)
    post = mapping(item, "tweet") or item
    entities = mapping(post, "entities")
    media = objects(mapping(post, "extended_entities"), "media") or objects(entities, "media")
    own_id = identifier(post, "id_str" if "id_str" in post else "id")
    text = _post_text(post, [*objects(entities, "urls"), *({"url": row.get("url"), "is_media": True} for row in media)])
    message = Message(own_id, text, name, _post_time(post), f"M{position}", extra={})
    message.reply_to = string(post, "in_reply_to_status_id_str")
    names = dict.fromkeys(string(person, "name") for person in objects(entities, "user_mentions"))
    message.people = tuple(NamedPerson("mentioned", person) for person in names if person)
    if repost := _REPOST.match(text):
        message.extra = {"forwarded_from": f"@{repost[1]}"}
    message.files = tuple(_files(files, f"{folder}/tweets_media", own_id, map(_media_address, media)))
    return message


def _long_post(note: Json, name: str, position: int) -> Message:
    own_id = f"note:{identifier(note, 'noteTweetId')}"
    return Message(own_id, string(mapping(note, "core"), "text"), name, iso_seconds(note, "createdAt"), f"M{position}")


def _post_text(post: Json, links: list[Json]) -> str:
    """The text of a post with its links in full; the link to a picture is no part of it."""
    text = string(post, "full_text") or string(post, "text")
    return _with_addresses(html.unescape(text), links).rstrip()


def _media_address(row: Json) -> str:
    return string(row, "media_url_https") or string(row, "media_url")


def _post_time(post: Json) -> int | None:
    """`Wed Mar 06 10:00:00 +0000 2024`."""
    words = string(post, "created_at").split()
    try:
        weekday, month, day, clock, zone, year = words
        return int(parsedate_to_datetime(f"{weekday}, {day} {month} {year} {clock} {zone}").timestamp())
    except (ValueError, OverflowError):
        return None


def _with_addresses(text: str, links: list[Json]) -> str:
    """A text with the addresses that its short links lead to, and without links to media."""
    for row in links:
        if short := string(row, "url"):
            text = text.replace(short, "" if "is_media" in row else _full_address(row) or short)
    return text


def _full_address(row: Json) -> str:
    return string(row, "expanded_url") or string(row, "expanded")


def _files(files: ExportFiles, folder: str, own_id: str, addresses: Iterable[str]) -> Iterator[SentFile]:
    for address in addresses:
        if name := PurePosixPath(address.partition("?")[0]).name:
            yield sent_file(files, f"{own_id}-{name}", folder, name)


def _read_chats(chats: _Chats, files: ExportFiles, path: str, offset: int) -> Iterator[Item]:
    for part in whole_items(functools.partial(files.open, path), offset):
        if isinstance(part, Damage):
            yield damage_failure(part, files.member(path))
        else:
            yield from chats.read(*part)


class _Chats:
    """Reads conversations, with the names of people by the ids of their accounts."""

    def __init__(self, files: ExportFiles, path: str, reading: ReadContext, names: Mapping[str, str]) -> None:
        self._files, self._path, self._reading = files, path, reading
        self._folder = str(PurePosixPath(path).parent)
        account = _account(files, self._folder)
        self._owner = str(account.get("accountId") or "")
        owner = reading.owner or string(account, "accountDisplayName") or "Me"
        self._names = {**names, self._owner: owner}

    def read(self, ordinal: int, item: Any) -> Iterator[Item]:
        """The messages of one conversation."""
        chat = mapping(item, "dmConversation") if type(item) is dict else {}
        member = f"{self._files.member(self._path)} conversation {ordinal}".strip()
        own_id = chat.get("conversationId")
        if type(own_id) is not str or type(chat.get("messages")) is not list:
            why = "it has no id or no messages, as each conversation in this format has; it is left out"
            yield Failure(member, "wrong_type", why)
            return
        messages = chat["messages"][::-1]  # the newest is first in the file
        title = _group_name(messages) or ", ".join(self._members(own_id, messages)) or _KIND
        location = f"{self._files.location(self._path)}#C{ordinal}"
        conversation = Conversation(_KIND, self._reading.hash(f"conversation {own_id}"), title, location)
        yield from read_messages(conversation, Items((), 1, messages), self._message, self._reading, member)

    def _members(self, own_id: str, messages: list[Any]) -> list[str]:
        """The names of the others: of two people the id of the conversation has both, of a group who wrote."""
        ids = own_id.split("-")
        if len(ids) == 1:
            rows = (mapping(message, "messageCreate") for message in messages if type(message) is dict)
            ids = [sender for row in rows if type(sender := row.get("senderId")) is str]
        return [self._name(account) for account in dict.fromkeys(ids) if account != self._owner]

    def _name(self, account: str) -> str:
        return self._names.get(account) or f"account {account}"

    def _message(self, item: Json, position: int) -> Message | None:
        row = mapping(item, "messageCreate")
        if not row:
            return self._notice(item, position)
        own_id, sender = identifier(row, "id"), identifier(row, "senderId")
        text = _with_addresses(string(row, "text"), objects(row, "urls"))
        message = Message(own_id, text, self._name(sender), iso_seconds(row, "createdAt"), f"M{position}", extra={})
        if recipient := string(row, "recipientId"):
            message.to = (self._name(recipient),)
        self._add_rest(message, row)
        media = row.get("mediaUrls")
        addresses = [address for address in media if type(address) is str] if type(media) is list else []
        message.files = tuple(_files(self._files, f"{self._folder}/direct_messages_media", own_id, addresses))
        return message

    def _add_rest(self, message: Message, row: Json) -> None:
        extra = message.extra = message.extra or {}
        if edits := objects(row, "editHistory"):
            extra |= {"edited": True} | changed(max(seconds(edit.get("createdAtSec")) or 0 for edit in edits))
        if reactions := objects(row, "reactions"):
            extra["reactions"] = [
                {"emoji": string(row, "reactionKey"), "count": 1, "from": [self._name(string(row, "senderId"))]}
                for row in reactions
            ]

    def _notice(self, item: Json, position: int) -> Message | None:
        """A new name of a group, and who joined it; None for anything else."""
        named, joined = mapping(item, "conversationNameUpdate"), mapping(item, "participantsJoin")
        row = named or joined
        if not row:
            return None
        who, ts = self._name(string(row, "initiatingUserId")), iso_seconds(row, "createdAt")
        ids = joined.get("userIds")
        people = ", ".join(map(self._name, map(str, ids))) if type(ids) is list else ""
        text = f"{who} named the conversation “{string(named, 'name')}”" if named else f"{who} added {people}"
        own_id = self._reading.hash(f"{string(row, 'createdAt')} {text}")
        return Message(own_id, text, None, ts, f"M{position}")


def _group_name(messages: list[Any]) -> str:
    """The last name that a group was given; empty for one without."""
    rows = (mapping(message, "conversationNameUpdate") for message in messages if type(message) is dict)
    names = [name for row in rows if type(name := row.get("name")) is str and name]
    return names[-1] if names else ""


def _account(files: ExportFiles, folder: str) -> Json:
    """The owner's account; empty where its file is missing or damaged."""
    path = (PurePosixPath(folder) / "account.js").as_posix()
    if not files.has(path):
        return {}
    try:
        with files.open(path) as stream:
            data = stream.read(_MAX_ACCOUNT_BYTES)
        script = _SCRIPT.match(data)
        rows = orjson.loads(data[script.end() :]) if script else []
    except (OSError, ZipRejected, orjson.JSONDecodeError):  # posts and messages are read without it
        return {}
    account = mapping(rows[0], "account") if type(rows) is list and rows and type(rows[0]) is dict else {}
    return {name: value for name, value in account.items() if type(value) is str}


def _names(files: ExportFiles, folder: str) -> dict[str, str]:
    """Names of accounts, as posts mention them."""
    names: dict[str, str] = {}
    for name in _POST_FILES:
        path = (PurePosixPath(folder) / name).as_posix()
        if files.has(path):
            names |= _mentioned(files, path)
    return names


def _mentioned(files: ExportFiles, path: str) -> Iterator[tuple[str, str]]:
    script = _SCRIPT.match(export_files.head(files, path))
    for part in whole_items(functools.partial(files.open, path), script.end()) if script else ():
        if isinstance(part, Damage) or type(part[1]) is not dict:
            continue
        post = mapping(part[1], "tweet") or part[1]
        for row in objects(mapping(post, "entities"), "user_mentions"):
            if type(account := row.get("id_str")) is str and type(name := row.get("name")) is str and name:
                yield account, name
