"""Microsoft Teams (free) and Skype: messages.json of the export of personal data.

`conversations` holds each chat with its `MessageList`, newest first. Contents are RichText, HTML with elements of its
own: `at` names a person, `quote` and a `blockquote` of http://schema.skype.com/Reply the message that is answered. Ids
of conversations and accounts hold handles (`8:live:jane.doe`), so only their keyed hashes stand in ids.
Where to get it: https://go.skype.com/export. The export comes as a .tar with messages.json and the media.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from relrag_pipelines.records import Json, NamedPerson
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats import export_files
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item
from relrag_pipelines.sources.chats.json_chats import (
    damage_failure,
    identifier,
    iso_seconds,
    mapping,
    objects,
    pieces,
    read_messages,
    seconds,
    string,
)
from relrag_pipelines.sources.chats.json_stream import Damage
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile
from relrag_pipelines.sources.formats.html_spacing import tidy
from relrag_pipelines.sources.formats.html_text import HtmlTextReader
from relrag_pipelines.sources.formats.versions import changed

_KIND = "teams"
_WALKED = frozenset({"conversations"})
_EXPORT = re.compile(rb'"(?:conversations|MessageList)"\s*:\s*\[')
_SKYPE = re.compile(rb'"(?:MessageList|originalarrivaltime|messagetype|threadProperties)"\s*:')
_QUOTE = re.compile(r"<(quote|blockquote)\b([^<>]*+)>")
"""a message that is quoted, in Skype and in Teams"""
_TARGET = re.compile(r'(?:messageid|itemid)="(\d+)"')
_AT = re.compile(r"<at\b[^<>]*>([^<>]*)</at>")
_FILE = re.compile(r'<OriginalName\b[^<>]*\bv="([^"]*)"')
_ADDRESS = re.compile(r'<location\b[^<>]*\baddress="([^"]*)"')
_ROOT = re.compile(r";messageid=(\d+)")
_NOTICES = ("ThreadActivity/", "Event/", "InviteFreeRelationshipChanged", "Notice")
"""beginnings of types of messages that nobody wrote"""
_NOT_WRITTEN = "RichText/Media_CallRecording"
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_HANDLE = re.compile(r"\A\d+:(?:live:|orgid:)?")


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit, and the files that were sent with them."""
    yield from export_files.read_export(unit, reading, _holds_messages, _read_file)


def recognise(file: Path) -> bool:
    """Whether a file begins like an export, or one in a zip does."""
    return export_files.recognises(file, _holds_messages)


def _holds_messages(path: str, head: bytes) -> bool:
    return _EXPORT.search(head) is not None and _SKYPE.search(head) is not None


def _read_file(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    fields: Json | None = None
    member, ordinal = files.member(path), 0
    names: dict[str, str] = {}
    for own, event in pieces(functools.partial(files.open, path), "MessageList", _WALKED):
        if isinstance(event, Damage):
            yield damage_failure(event, member)
            continue
        if event.path[-1:] != ("MessageList",):
            continue
        if own is not fields:
            fields, ordinal = own, ordinal + 1
            conversation = _conversation(own, f"{files.location(path)}#C{ordinal}", reading)
        _learn_names(event.items, names)
        read_message = functools.partial(_message, names)
        yield from read_messages(conversation, event, read_message, reading, member)


def _conversation(fields: Json, location: str, reading: ReadContext) -> Conversation:
    chat_id = str(fields.get("id") or "")
    handle = _HANDLE.sub("", chat_id.partition("@")[0])
    names = (fields.get("displayName"), fields.get("threadProperties.topic"), handle, _KIND)
    title = next(str(name) for name in names if type(name) is str and name)
    return Conversation(_KIND, reading.hash(f"chat {chat_id.partition(';')[0]}"), title, location)


def _learn_names(items: list[Any], names: dict[str, str]) -> None:
    """Notes the name of each account, which some of its messages lack."""
    for item in items:
        if type(item) is dict and type(name := item.get("displayName")) is str and name:
            names.setdefault(str(item.get("from")), name)


def _message(names: dict[str, str], item: Json, position: int) -> Message:
    kind, content, account = string(item, "messagetype"), string(item, "content"), string(item, "from")
    name = string(item, "displayName") or names.get(account) or _HANDLE.sub("", account)
    name = name or "unknown"
    is_notice = kind.startswith(_NOTICES) or kind == _NOT_WRITTEN
    own, quotation = _without_quotes(content)
    message = Message(identifier(item, "id"), "", None if is_notice else name, _time(item), f"M{position}", extra={})
    if kind == "Text" and "<" not in content:
        message.text = content
    else:
        message.text = _text(own)
    if is_notice:
        # what stands in a notice are accounts, which are handles
        message.text = _CAPITAL.sub(" ", kind.partition("/")[2] or kind).lower()
    _add_reply(message, quotation, string(item, "conversationid"))
    _add_rest(message, item, content)
    return message


def _time(item: Json) -> int | None:
    """When it arrived, else the time in its id."""
    arrival = iso_seconds(item, "originalarrivaltime")
    return seconds(item.get("id"), 1000) if arrival is None else arrival


def _text(content: str) -> str:
    """The text of RichText."""
    return tidy("".join(HtmlTextReader(content).read()))


def _without_quotes(content: str) -> tuple[str, str]:
    """The content without the messages that it quotes, and the attributes of the first quotation."""
    pieces, attributes, position = [], "", 0
    while opening := _QUOTE.search(content, position):
        end = content.find(f"</{opening[1]}>", opening.end())
        if end < 0:
            break
        pieces.append(content[position : opening.start()])
        attributes, position = attributes or opening[2], end + len(opening[1]) + 3
    return " ".join([*pieces, content[position:]]), attributes


def _add_reply(message: Message, quotation: str, conversation_id: str) -> None:
    """The message that is answered: a quoted one, else the one that began the thread in a channel."""
    target = _TARGET.search(quotation)
    root = _ROOT.search(conversation_id)
    if root:
        message.thread = root[1]
    if target:
        message.reply_to = target[1]
    elif root and root[1] != message.id:
        message.reply_to = root[1]


def _add_rest(message: Message, item: Json, content: str) -> None:
    extra = message.extra = message.extra or {}
    properties = mapping(item, "properties")
    if properties.get("edittime") or item.get("skypeeditedid"):
        extra["edited"] = True
    extra |= changed(seconds(properties.get("deletetime") or properties.get("edittime"), 1000))
    if properties.get("deletetime") or (not content and string(item, "messagetype").startswith("RichText")):
        extra["deleted"], message.text = True, ""
    if rows := [_reaction(row) for row in objects(properties, "emotions")]:
        extra["reactions"] = rows
    message.people = tuple(NamedPerson("mentioned", name) for name in dict.fromkeys(_AT.findall(content)) if name)
    message.files = tuple(SentFile(name) for name in dict.fromkeys(_FILE.findall(content)) if name)
    if string(item, "messagetype") == "RichText/Location":
        extra["place"], message.text = True, _location_text(content)


def _location_text(content: str) -> str:
    """The address of a location, without its coordinates: they reveal a home, and no redactor recognises them."""
    address = _ADDRESS.search(content)
    return address[1] if address and address[1] else "(location)"


def _reaction(row: Json) -> Json:
    return {"emoji": string(row, "key"), "count": len(objects(row, "users")) or 1}
