"""Signal, as three programs export it: signal-export, signal-cli, and Signal's own plaintext backup.

signal-export (sigexport) writes a folder a chat with `data.json`, an object a line; its times are those of the
computer's clock. signal-cli writes what it receives as JSON, an envelope a line. The plaintext backup of Signal for
Android is XML in the form of SMS Backup & Restore. A message has no id, and the programs name people and chats in
different ways. So it is identified by what all of them show: its second, whether the owner sent it, and its text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from zoneinfo import ZoneInfo

from relrag_pipelines.records import Failure, Json, NamedPerson
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats import export_files
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item, sent_file
from relrag_pipelines.sources.chats.json_chats import mapping, objects, read_messages, seconds, string
from relrag_pipelines.sources.chats.json_stream import Items, parse_item
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile
from relrag_pipelines.sources.formats.versions import changed
from relrag_pipelines.sources.sms import backup_xml

_KIND = "signal"
_MAX_LINE_BYTES = 2**23
_KEY = "m"
"""what precedes the ids of messages: no program names the chat as another does"""
_CHAT_FIELDS = (b'"date"', b'"sender"', b'"body"', b'"attachments"')
_ENVELOPE_FIELDS = (b'"envelope"', b'"timestamp"')
"""fields in the first line of a file"""


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit, and the files that were sent with them."""
    yield from export_files.read_export(unit, reading, _holds_messages, _read_file)


def recognise(file: Path) -> bool:
    """Whether a file begins like one of these exports, or one in a zip does."""
    return export_files.recognises(file, _holds_messages)


def _holds_messages(path: str, head: bytes) -> bool:
    if backup_xml.is_backup(head):
        return backup_xml.is_of_signal(head)
    return _begins_with(head, _CHAT_FIELDS) or _begins_with(head, _ENVELOPE_FIELDS)


def _begins_with(head: bytes, fields: tuple[bytes, ...]) -> bool:
    """Whether the first line is an object with these fields."""
    line = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    return line.startswith(b"{") and all(field in line for field in fields)


def _message_id(hash_id: Callable[[str], str], ts: int | None, is_sent: bool, text: str, files: int) -> str:
    """The id that all three programs give to a message."""
    stated = ["sent" if is_sent else "received", str(files), *text.split()]
    return f"{ts or 0}:{hash_id(' '.join(stated))}"


def _read_file(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    head = export_files.head(files, path)
    if backup_xml.is_backup(head):
        return backup_xml.read_backup(_KIND, files, path, reading, functools.partial(_message_id, reading.hash), _KEY)
    return (
        _read_envelopes(files, path, reading)
        if _begins_with(head, _ENVELOPE_FIELDS)
        else _read_chat(files, path, reading)
    )


def _lines(files: ExportFiles, path: str) -> Iterator[Items | Failure]:
    """The objects of a file with one object per line, and a failure for each line that is not an object."""
    with files.open(path) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(_MAX_LINE_BYTES), b""), 1):
            if not line.strip():
                continue
            try:
                yield Items((), number, [parse_item(line.removeprefix(b"\xef\xbb\xbf"))])
            except (ValueError, RecursionError):
                is_last = not line.endswith(b"\n")
                fault, why = ("truncated", "ends within") if is_last else ("not_json", "holds")
                message = f"the file {why} a line that is no JSON; the line is left out, export it again"
                yield Failure(f"{files.member(path)} message {number}".strip(), fault, message, whole_unit=is_last)


def _read_chat(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    """A chat as signal-export writes it, in a folder that has its name."""
    title = files.folder_name(path) or PurePosixPath(path).stem
    key = reading.hash(f"title {' '.join(title.split()).casefold()}")
    conversation = Conversation(_KIND, key, title, f"{files.location(path)}#", _KEY)
    zone, folder = ZoneInfo(reading.timezone), str(PurePosixPath(path).parent)

    def read_message(item: Json, position: int) -> Message:
        when, sender = string(item, "date"), string(item, "sender")
        is_sent = sender == "Me"
        sender = reading.owner if sender == "Me" and reading.owner else sender
        text = string(item, "body").rstrip(" ")
        ts = _local_time(when, zone)
        own_id = _message_id(reading.hash, ts, is_sent, text, len(objects(item, "attachments")))
        is_notice = item.get("call") is True or sender in ("", "No-Sender")
        message = Message(own_id, text, None if is_notice else sender, ts, f"M{position}", extra={})
        if is_notice and sender not in ("", "No-Sender"):
            message.text = f"{sender}: {text}"
        _add_rest(message, item, files, folder)
        return message

    for line in _lines(files, path):
        if isinstance(line, Failure):
            yield line
        else:
            yield from read_messages(conversation, line, read_message, reading, files.member(path))


def _local_time(when: str, zone: ZoneInfo) -> int | None:
    try:
        at = datetime.fromisoformat(when)
        return int((at if at.tzinfo else at.replace(tzinfo=zone)).timestamp())
    except (ValueError, OverflowError):
        return None


def _add_rest(message: Message, item: Json, files: ExportFiles, folder: str) -> None:
    extra = message.extra = message.extra or {}
    if quote := string(item, "quote").strip().removeprefix("> "):
        extra["quoted"] = quote
    if item.get("deleted") is True:
        extra["deleted"], message.text = True, ""
    if sticker := item.get("sticker"):
        extra["media"] = "sticker"
        message.text = message.text or _sticker_emoji(sticker)
    rows = item.get("reactions")
    reactions = [_reaction(row) for row in rows if row] if type(rows) is list else []
    if reactions:
        extra["reactions"] = reactions
    message.files = tuple(
        sent_file(files, string(row, "path").replace("%20", " ").removeprefix("./"), folder, string(row, "name"))
        for row in objects(item, "attachments")
        if string(row, "path") or string(row, "name")
    )


def _sticker_emoji(sticker: object) -> str:
    """The emoji of a sticker, which is a text or an object by the version of the exporter."""
    if type(sticker) is str:
        return sticker
    return string(sticker, "emoji") if type(sticker) is dict else ""


def _reaction(row: object) -> Json:
    """A reaction, `[name, emoji]` in the JSON of signal-export."""
    name, emoji = row if isinstance(row, list) else (string(dict(row), "name"), string(dict(row), "emoji"))  # type: ignore[call-overload]
    return {"emoji": str(emoji), "count": 1, "from": [str(name)]}


def _read_envelopes(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    """What signal-cli received, of all chats."""

    names: dict[str, str] = {}

    def conversation(envelope: Json) -> Conversation:
        content = _content(envelope)
        group, sent = mapping(content, "groupInfo"), mapping(mapping(envelope, "syncMessage"), "sentMessage")
        other = string(group, "groupId") or (_account(sent, "destination") if sent else _account(envelope, "source"))
        if not sent:
            names[_account(envelope, "source")] = _name(envelope)
        name = string(group, "groupName") or names.get(other) or (string(sent, "destination") if sent else "") or other
        return Conversation(_KIND, reading.hash(f"account {other}"), name or _KIND, f"{files.location(path)}#", _KEY)

    ids = _EnvelopeIds(reading.hash)

    def read_message(item: Json, position: int) -> Message | None:
        return _envelope(item, position, reading, ids)

    for line in _lines(files, path):
        if isinstance(line, Failure):
            yield line
            continue
        (item,) = line.items
        envelope = mapping(mapping(item, "params") or item, "envelope") if type(item) is dict else {}
        try:
            chat = conversation(envelope)
        except ValueError:
            chat = Conversation(_KIND, reading.hash("account"), _KIND, f"{files.location(path)}#", _KEY)
        line = Items((), line.first, [envelope])
        yield from read_messages(chat, line, read_message, reading, files.member(path))


def _content(envelope: Json) -> Json:
    """The message in an envelope: received, edited, or sent from another device of the owner."""
    edit = mapping(envelope, "editMessage")
    sent = mapping(mapping(envelope, "syncMessage"), "sentMessage")
    return mapping(envelope, "dataMessage") or mapping(edit, "dataMessage") or sent


def _account(row: Json, name: str) -> str:
    return string(row, f"{name}Uuid") or string(row, f"{name}Number") or string(row, name)


def _name(envelope: Json) -> str:
    return string(envelope, "sourceName") or string(envelope, "sourceNumber") or string(envelope, "source")


@dataclass
class _EnvelopeIds:
    """The ids of the messages of one file, which edits and answers name by their time in milliseconds."""

    hash_id: Callable[[str], str]
    by_stamp: dict[tuple[int, str], str] = field(default_factory=dict)
    """time and author -> id"""
    own_accounts: set[str] = field(default_factory=set)

    def message_id(self, stamp: int, author: str, is_sent: bool, content: Json) -> str:
        """The id of a message; of an edited one that of its first version."""
        if is_sent:
            self.own_accounts.add(author)
        text, files = string(content, "message"), len(objects(content, "attachments"))
        own_id = _message_id(self.hash_id, stamp // 1000, is_sent, text, files)
        return self.by_stamp.setdefault((stamp, author), own_id)

    def quoted_id(self, quote: Json) -> str:
        """The id of a message that is answered; empty if the quotation does not name one."""
        author, stamp = _account(quote, "author"), quote.get("id")
        if type(stamp) is not int or not author:
            return ""
        text, files = string(quote, "text"), len(objects(quote, "attachments"))
        quoted = _message_id(self.hash_id, stamp // 1000, author in self.own_accounts, text, files)
        return self.by_stamp.get((stamp, author), quoted)


def _envelope(envelope: Json, position: int, reading: ReadContext, ids: _EnvelopeIds) -> Message | None:
    """One message; None for receipts, typing, reactions and other things that are no message."""
    content = _content(envelope)
    if not content or "reaction" in content or "remoteDelete" in content:
        return None
    is_sent = "syncMessage" in envelope
    sender = reading.owner or "Me" if is_sent else _name(envelope) or "unknown"
    edited = mapping(envelope, "editMessage").get("targetSentTimestamp")
    is_edited = type(edited) is int
    stamp = edited if is_edited else content.get("timestamp") or envelope.get("timestamp")
    if type(stamp) is not int:
        raise TypeError
    own_id = ids.message_id(stamp, _account(envelope, "source"), is_sent, content)
    message = Message(own_id, string(content, "message"), sender, stamp // 1000, f"M{position}", extra={})
    number = string(envelope, "sourceNumber")
    if number and not is_sent and number != sender:
        message.people = (NamedPerson("sender", f"{sender} {number}"),)
    extra = message.extra = {}
    if is_edited:
        extra |= {"edited": True} | changed(seconds(envelope.get("timestamp"), 1000))
    if quote := mapping(content, "quote"):
        message.reply_to = ids.quoted_id(quote)
    if sticker := mapping(content, "sticker"):
        extra["media"] = "sticker"
        message.text = message.text or string(sticker, "emoji")
    message.files = tuple(_envelope_files(content))
    return message


def _envelope_files(content: Json) -> Iterator[SentFile]:
    """The attachments that have a file name or an id."""
    for row in objects(content, "attachments"):
        if name := string(row, "filename") or string(row, "id"):
            yield SentFile(name, content_type=string(row, "contentType"))
