"""Discord's own data package: the owner's messages, a folder `c<id>` a channel, and nobody else's.

`messages.json`, in older packages `messages.csv`, has the fields ID, Timestamp, Contents and Attachments;
`channel.json` beside it names the channel and its server, `index.json` above the folders whom direct messages are with.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

import orjson

from relrag_pipelines.records import Json
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item
from relrag_pipelines.sources.chats.json_chats import (
    damage_failure,
    identifier,
    iso_seconds,
    mapping,
    read_messages,
    string,
    whole_items,
)
from relrag_pipelines.sources.chats.json_stream import Damage, Items
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile
from relrag_pipelines.sources.chats.tables import table_rows
from relrag_pipelines.sources.formats.safe_zip import ZipRejected

LISTS = ("channel.json", "index.json", "user.json")
"""names of files that name channels, and the owner"""
_JSON = re.compile(rb'\A(?:\xef\xbb\xbf)?\s*\[\s*\{\s*"ID"\s*:\s*"?\d+"?\s*,\s*"Timestamp"\s*:')
_TABLE = re.compile(rb"\A(?:\xef\xbb\xbf)?ID,Timestamp,Contents,Attachments\r?\n")
_LIST = re.compile(rb'\A\s*\{\s*"(?:id"\s*:\s*"\d{15,20}"|\d{15,20}"\s*:)')
_FOLDER = re.compile(r"\Ac?(\d{15,20})\Z")
_DIRECT = re.compile(r"\ADirect Message with (.+?)(?:#\d{1,4})?\Z")
_MAX_LIST_BYTES = 2**24

ReadList = Callable[[ExportFiles, PurePosixPath], Json]


def is_export(head: bytes) -> bool:
    """Whether a file begins with messages in this form."""
    return _JSON.match(head) is not None or _TABLE.match(head) is not None


def is_list(head: bytes) -> bool:
    """Whether a file names channels or the owner."""
    return _LIST.match(head) is not None


def read(kind: str, files: ExportFiles, path: str, reading: ReadContext, read_list: ReadList) -> Iterator[Item]:
    """The messages of a file. `read_list` is `list_of_package`, or a cache of it for all files of a read."""
    folder, member = PurePosixPath(path).parent, files.member(path)
    channel = list_of_package(files, folder / "channel.json")
    channel_id = str(channel.get("id") or _id_of_folder(files.folder_name(path)))
    key = reading.hash(f"channel {channel_id}")
    title = _title(channel, read_list(files, folder.parent / "index.json").get(channel_id)) or kind
    conversation = Conversation(kind, key, title, f"{files.location(path)}#")
    read_message = functools.partial(_message, reading.owner or _owner(files, folder.parent.parent, read_list))
    for part in _rows(files, path):
        if isinstance(part, Damage):
            yield damage_failure(part, member)
        else:
            yield from read_messages(conversation, Items((), part[0], [part[1]]), read_message, reading, member)


def _rows(files: ExportFiles, path: str) -> Iterator[tuple[int, Any] | Damage]:
    open_file = functools.partial(files.open, path)
    return table_rows(open_file) if path.lower().endswith(".csv") else whole_items(open_file)


def list_of_package(files: ExportFiles, path: PurePosixPath) -> Json:
    """A list that is an object; empty where it is missing or damaged."""
    if ".." in path.parts or not files.has(path.as_posix()):
        return {}
    try:
        with files.open(path.as_posix()) as stream:
            fields = orjson.loads(stream.read(_MAX_LIST_BYTES))
    except (OSError, ZipRejected, orjson.JSONDecodeError):  # the messages are read without it
        return {}
    return fields if type(fields) is dict else {}


def _id_of_folder(name: str) -> str:
    folder = _FOLDER.match(name)
    return folder[1] if folder else name


def _title(channel: Json, listed: Any) -> str:
    """`Server / #channel`; of direct messages the name of the other; empty where nothing names it."""
    name = channel.get("name")
    if server := mapping(channel, "guild").get("name"):
        return f"{server} / #{name}" if name else str(server)
    listed = listed if type(listed) is str else ""
    direct = _DIRECT.match(listed)
    return str(name or (direct[1] if direct else listed))


def _owner(files: ExportFiles, root: PurePosixPath, read_list: ReadList) -> str:
    """The name of the account."""
    for folder in ("account", "Account"):
        user = read_list(files, root / folder / "user.json")
        if name := user.get("global_name") or user.get("username"):
            return str(name)
    return "Me"


def _message(owner: str, item: Json, position: int) -> Message:
    contents, addresses = string(item, "Contents"), string(item, "Attachments").split()
    message = Message(identifier(item, "ID"), contents, owner, iso_seconds(item, "Timestamp"), f"M{position}")
    names = (PurePosixPath(address.partition("?")[0]).name for address in addresses)
    message.files = tuple(SentFile(name) for name in names if name)
    return message
