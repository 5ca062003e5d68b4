"""Slack's workspace export: a zip, or its folder, with a file for each channel and day.

`channels.json` (public), `groups.json` (private), `dms.json` and `mpims.json` (direct messages) list the conversations,
`users.json` the people. A conversation's folder has its name, one of direct messages its id. Texts are Slack's mrkdwn,
where `<@U012>` names a person. Format: https://slack.com/help/articles/220556107 (How to read Slack data exports).

A message is identified by its `ts`, which is unique in its channel; `thread_ts` is that of the message which begins the
thread. That message and its answers are a thread of their own.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from relrag_pipelines.records import Json, NamedPerson
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats import export_files
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item
from relrag_pipelines.sources.chats.json_chats import (
    damage_failure,
    mapping,
    objects,
    pieces,
    read_messages,
    seconds,
    string,
)
from relrag_pipelines.sources.chats.json_stream import Damage, Items, JsonStream
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile
from relrag_pipelines.sources.formats.json_fields import WrongValueError
from relrag_pipelines.sources.formats.safe_zip import ZipRejected
from relrag_pipelines.sources.formats.versions import changed
from relrag_pipelines.sources.slack import blocks

_KIND = "slack"
_LISTS = ("channels.json", "groups.json", "mpims.json", "dms.json")
"""lists of conversations"""
_MESSAGE = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\[.*?"ts"\s*:\s*"\d{9,11}\.\d{1,9}"', re.DOTALL)
_WORKSPACE_MARKS = re.compile(
    rb'\A(?:\xef\xbb\xbf)?\s*\[.*?"(?:team_id|is_archived|is_general|creator|members)"\s*:', re.DOTALL
)
"""the lists of people and conversations"""
_LINK = re.compile(r"<([@#!]?)([^<>|\s]+)(?:\|([^<>]*))?>")
_NOTICES = frozenset(
    {"channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "channel_archive"}
    | {"channel_unarchive", "group_join", "group_leave", "group_topic", "group_purpose", "group_name", "group_archive"}
    | {"group_unarchive", "pinned_item", "unpinned_item", "bot_add", "bot_remove", "channel_posting_permissions"}
    | {"channel_convert_to_private", "reminder_add", "huddle_thread"}
)
"""subtypes of messages that nobody wrote"""
_GONE = frozenset({"tombstone", "message_deleted"})


@dataclass(frozen=True)
class _Person:
    name: str
    address: str = ""

    @property
    def identifiers(self) -> tuple[NamedPerson, ...]:
        """Name and address as one sender, if the export has an address."""
        return (NamedPerson("sender", f"{self.name} <{self.address}>"),) if self.address else ()


@dataclass(frozen=True)
class _Workspace:
    """People by id, and conversations by the name of their folder: id and title."""

    people: Mapping[str, _Person]
    conversations: Mapping[str, tuple[str, str]]


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit, and the files that were sent with them."""
    if _is_list(unit.path):  # it is read with the days beside it
        return
    workspace = functools.cache(_workspace)

    def read_file(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
        root = str(PurePosixPath(path).parent.parent)
        yield from _read_day(files, path, reading, workspace(files, root))

    yield from export_files.read_export(unit, reading, _holds_messages, read_file)


def recognise(file: Path) -> bool:
    """Whether a file is a day of a channel or a list of people or channels, or a zip with such days."""
    return export_files.recognises(file, _is_of_export)


def _is_of_export(path: str, head: bytes) -> bool:
    return _holds_messages(path, head) or (_is_list(path) and _WORKSPACE_MARKS.match(head) is not None)


def _holds_messages(path: str, head: bytes) -> bool:
    return b'"type"' in head and b'"ts"' in head and not _is_list(path) and _MESSAGE.match(head) is not None


def _is_list(path: str) -> bool:
    return PurePosixPath(path).name in (*_LISTS, "users.json")


def _workspace(files: ExportFiles, root: str) -> _Workspace:
    """Who and what the lists in the folder of the export name."""
    people = {string(row, "id"): _person(row) for row in _rows(files, root, "users.json")}
    conversations: dict[str, tuple[str, str]] = {}
    for name in _LISTS:
        for row in _rows(files, root, name):
            members = row.get("members")
            ids = [user_id for user_id in members if type(user_id) is str] if type(members) is list else []
            names = [people[user_id].name if user_id in people else user_id for user_id in ids]
            title = f"#{row['name']}" if name in _LISTS[:2] and row.get("name") else ", ".join(names)
            own_id = string(row, "id")
            conversations |= dict.fromkeys({string(row, "name"), own_id} - {""}, (own_id, title or own_id))
    return _Workspace(people, conversations)


def _rows(files: ExportFiles, root: str, name: str) -> Iterator[Json]:
    """The objects of a list, those that can be read."""
    path = (PurePosixPath(root) / name).as_posix()
    if not files.has(path):
        return
    try:
        with files.open(path) as stream:
            for event in JsonStream(stream).events():
                if isinstance(event, Items):
                    yield from (row for row in event.items if type(row) is dict and type(row.get("id")) is str)
    except (OSError, ZipRejected):  # the messages are read without it
        return


def _person(row: Json) -> _Person:
    profile = mapping(row, "profile")
    names = (profile.get("real_name"), row.get("real_name"), profile.get("display_name"), row.get("name"))
    name = next((name for name in names if type(name) is str and name.strip()), str(row["id"]))
    address = profile.get("email")
    return _Person(name, address if type(address) is str and "@" in address else "")


def _read_day(files: ExportFiles, path: str, reading: ReadContext, workspace: _Workspace) -> Iterator[Item]:
    folder = PurePosixPath(path).parent.name
    own_id, title = workspace.conversations.get(folder, (folder, f"#{folder}" if folder else _KIND))
    conversation = Conversation(_KIND, reading.hash(own_id), title, f"{files.location(path)}#")
    read_message = _Messages(workspace).read
    for _, event in pieces(functools.partial(files.open, path), ""):
        if isinstance(event, Damage):
            yield damage_failure(event, files.member(path))
        else:
            yield from read_messages(conversation, event, read_message, reading, files.member(path))


class _Messages:
    """Reads the messages of a day."""

    def __init__(self, workspace: _Workspace) -> None:
        self._people = workspace.people
        self._titles = dict(workspace.conversations.values())

    def read(self, item: Json, position: int) -> Message | None:
        """One message; None for what is none."""
        if item.get("type") != "message":
            return None
        own_id, subtype = string(item, "ts"), string(item, "subtype")
        if not own_id:
            raise WrongValueError("a message without ts, which is its id", "missing_id")
        person = self._sender(item)
        is_notice = subtype in _NOTICES
        source = "" if subtype in _GONE else blocks.message_text(item)
        text = self.plain(source)
        message = Message(
            own_id,
            text,
            None if is_notice else person.name,
            seconds(own_id.partition(".")[0]),
            f"M{position}",
            extra={},
        )
        if is_notice and person.name not in text:
            message.text = f"{person.name} {text}"
        message.people = (*(() if is_notice else person.identifiers), *self._mentions(source))
        self._add_thread(message, item)
        self._add_rest(message, item, subtype)
        message.lacks_text = subtype not in _GONE and self._lacks_text(message, item)
        return message

    def _lacks_text(self, message: Message, item: Json) -> bool:
        """Whether nothing was read of a message although it holds something."""
        return not (message.text or message.files) and any(item.get(name) for name in ("blocks", "attachments"))

    def _sender(self, item: Json) -> _Person:
        own_id = string(item, "user") or string(item, "bot_id")
        if own_id in self._people:
            return self._people[own_id]
        profile = mapping(item, "user_profile")
        names = (string(profile, "real_name"), string(item, "username"), string(mapping(item, "bot_profile"), "name"))
        return _Person(next(filter(None, names), own_id or "unknown"))

    def _add_thread(self, message: Message, item: Json) -> None:
        first = string(item, "thread_ts")
        if first:
            message.thread = first if first != message.id or item.get("reply_count") else ""
            message.reply_to = first if first != message.id else ""

    def _add_rest(self, message: Message, item: Json, subtype: str) -> None:
        extra = message.extra = {}
        if "edited" in item:
            extra |= {"edited": True} | changed(seconds(str(mapping(item, "edited").get("ts")).partition(".")[0]))
        if subtype in _GONE:
            extra["deleted"] = True
        if rows := [self._reaction(row) for row in objects(item, "reactions")]:
            extra["reactions"] = rows
        shared = [row for row in objects(item, "attachments") if blocks.is_shared(row)]
        if shared:
            extra["forwarded_from"] = string(shared[0], "author_name") or "another channel"
        message.files = tuple(self._files(item))

    def _files(self, item: Json) -> Iterator[SentFile]:
        """Files by name; Slack's export holds a link to each and not the file."""
        for row in objects(item, "files") or [mapping(item, "file")]:
            if name := string(row, "name") or string(row, "title"):
                yield SentFile(name, content_type=string(row, "mimetype"))

    def _reaction(self, row: Json) -> Json:
        users = row.get("users")
        ids = [user_id for user_id in users if type(user_id) is str] if type(users) is list else []
        names = [self._people[user_id].name if user_id in self._people else user_id for user_id in ids]
        return {"emoji": f":{string(row, 'name')}:", "count": len(ids), "from": names}

    def _mentions(self, text: str) -> tuple[NamedPerson, ...]:
        ids = dict.fromkeys(match[2] for match in _LINK.finditer(text) if match[1] == "@")
        return tuple(NamedPerson("mentioned", self._people[user_id].name) for user_id in ids if user_id in self._people)

    def plain(self, text: str) -> str:
        """A text without the marks of mrkdwn: people and channels by name, links with their address."""
        return html.unescape(_LINK.sub(self._replace, text)) if "<" in text or "&" in text else text

    def _replace(self, match: re.Match[str]) -> str:
        mark, target, label = match.groups()
        if mark == "@":
            return f"@{self._people[target].name if target in self._people else label or target}"
        if mark == "#":
            return f"#{label or self._titles.get(target, target).removeprefix('#')}"
        if mark == "!":
            return label or f"@{target.partition('^')[0]}"
        address = target.removeprefix("mailto:")
        return f"{label} ({address})" if label and label != address else address
