"""The messages of a `chat.db`, one query for all, in the order of chats and times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from relrag_pipelines.records import Failure, Json
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats.export_files import FolderFiles, Item, sent_file
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile, records
from relrag_pipelines.sources.formats.sqlite_file import Database
from relrag_pipelines.sources.imessage import attributed_text

KIND = "imessage"
_COCOA_EPOCH = 978_307_200
"""1 January 2001 in seconds since 1970"""
_NANOSECONDS = 10**11
"""a larger date is in nanoseconds: macOS 10.13 and newer"""
_GROUP_STYLE = 43
_PLACEHOLDER = "\ufffc"
"""stands in a text where a file is shown"""
_MEDIA_FOLDER = "Library/Messages/"
_REACTIONS = ("❤️", "👍", "👎", "😂", "‼️", "❓")
"""of the types 2000 to 2005; 3000 to 3005 take them back"""
_ADDED, _REMOVED = range(2000, 2008), range(3000, 3008)
_EMOJI_TYPES = (2006, 3006)
_CHAT_OF_MESSAGE = (
    "LEFT JOIN (SELECT message_id, MIN(chat_id) AS chat_id FROM chat_message_join GROUP BY message_id) j "
    "ON j.message_id = m.ROWID"
)
_COLUMNS = (
    "guid", "text", "attributedbody", "handle_id", "date", "is_from_me", "item_type", "group_title",
    "group_action_type", "other_handle", "thread_originator_guid", "date_edited", "date_retracted", "subject",
    "balloon_bundle_id", "is_audio_message", "cache_has_attachments",
)  # fmt: skip


@dataclass(frozen=True)
class _MessageRow:
    """A row of the table `message`; None for columns that its version lacks."""

    row: int
    chat: int | None
    guid: str
    text: str | None
    body: bytes | None
    handle: int
    date: int | None
    is_own: int
    item_type: int
    group_title: str | None
    group_action: int | None
    other_handle: int | None
    originator: str | None
    edited: int | None
    retracted: int | None
    subject: str | None
    balloon: str | None
    is_audio: int | None
    has_files: int | None


class MessagesDatabase:
    """One database that is read."""

    def __init__(self, database: Database, unit: Unit, reading: ReadContext) -> None:
        self._database, self._unit, self._reading = database, unit, reading
        self._files = FolderFiles(unit, reading)
        self._owner = reading.owner or "Me"
        self._handles = self._read_handles()
        self._chats = self._read_chats()
        self._loose: dict[str, Conversation] = {}
        """of messages that belong to no chat, by account"""
        self._reactions = self._read_reactions()

    def items(self) -> Iterator[Item]:
        """All messages, and a failure for each that cannot be read."""
        is_empty = True
        for row in self._rows():
            is_empty = False
            try:
                message = self._message(_MessageRow(*row))
                conversation = self._conversation(row[1], row[5])
                items = list(records(conversation, message, self._reading.hash))
            except (TypeError, ValueError, AttributeError, OverflowError):
                why = "a field of the message has another type than Messages gives it; it is left out"
                yield Failure(f"message {row[0]}", "wrong_type", why)
                continue
            yield from items
        if is_empty:
            yield Failure("", "no_messages", "the database holds no message; if there are any, copy it again")

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """Rows as `_MessageRow` has them, without reactions."""
        database = self._database
        columns = ", ".join(
            f"COALESCE({database.column('message', name, 'm')}, 0)"
            if name in ("handle_id", "is_from_me", "item_type")
            else database.column("message", name, "m")
            for name in _COLUMNS
        )
        chat, join = "NULL", ""
        if database.has("chat_message_join", "chat_id", "message_id"):
            join = _CHAT_OF_MESSAGE
            chat = "j.chat_id"
        kind = database.column("message", "associated_message_type", "m", "0")
        where = f"WHERE COALESCE({kind}, 0) NOT BETWEEN {_ADDED[0]} AND {_REMOVED[-1]}"
        order = f"ORDER BY {chat}, m.date, m.ROWID"
        return database.stream(f"SELECT m.ROWID, {chat}, {columns} FROM message m {join} {where} {order}")  # noqa: S608

    def _read_handles(self) -> dict[int, str]:
        """Row of an account -> its number or address."""
        if not self._database.has("handle", "id"):
            return {}
        return {row: str(account) for row, account in self._database.rows("SELECT ROWID, id FROM handle") if account}

    def _read_chats(self) -> dict[int, Conversation]:
        """Row of a chat -> its conversation; SMS and iMessage with one person are one."""
        database = self._database
        if not database.has("chat", "chat_identifier"):
            return {}
        names = ("display_name", "style")
        columns = ", ".join(database.column("chat", name) for name in names)
        members = self._read_members()
        chats = {}
        for row, account, title, style in database.rows(f"SELECT ROWID, chat_identifier, {columns} FROM chat"):  # noqa: S608
            is_group = style == _GROUP_STYLE
            name = title or (", ".join(members.get(row, ())) if is_group else "") or account or ""
            chats[row] = self._new_conversation(str(account or row), str(name), row)
        return chats

    def _read_members(self) -> dict[int, list[str]]:
        """Row of a chat -> the accounts of who takes part."""
        members: dict[int, list[str]] = {}
        if self._database.has("chat_handle_join", "chat_id", "handle_id"):
            for chat, handle in self._database.rows("SELECT chat_id, handle_id FROM chat_handle_join ORDER BY 1, 2"):
                members.setdefault(chat, []).append(self._handles.get(handle, ""))
        return {chat: sorted({account for account in accounts if account}) for chat, accounts in members.items()}

    def _new_conversation(self, account: str, title: str, row: int | str) -> Conversation:
        return Conversation(KIND, self._reading.hash(f"chat {account}"), title, f"{self._unit.path}#C{row}")

    def _conversation(self, chat: int | None, handle: int) -> Conversation:
        if chat in self._chats:
            return self._chats[chat]
        account = self._handles.get(handle, "")
        if account not in self._loose:
            self._loose[account] = self._new_conversation(account, account, "")
        return self._loose[account]

    def _message(self, row: _MessageRow) -> Message:
        if not row.guid:
            raise ValueError
        sender = self._owner if row.is_own else self._handles.get(row.handle, "unknown")
        extra: Json = {}
        message = Message(row.guid, self._text(row), sender, _seconds(row.date), f"M{row.row}", extra=extra)
        if row.item_type:
            message.text, message.sender = self._notice(row, sender), None
            return message
        if row.originator:
            message.reply_to = row.originator
        if row.has_files != 0:
            message.files = tuple(self._sent_files(row.row))
        is_empty = not message.text and not message.files
        if row.retracted or (row.edited and is_empty):
            extra["deleted"] = True
        elif row.edited:
            extra["edited"] = True
        if row.is_audio:
            extra["media"] = "voice"
        elif row.balloon:
            extra["media"] = row.balloon.rpartition(":")[2].rpartition(".")[2]
        if reactions := self._reactions.get(row.guid):
            extra["reactions"] = reactions
        return message

    def _text(self, row: _MessageRow) -> str:
        text = row.text or (attributed_text.decode(row.body) if row.body else "") or ""
        text = text.replace(_PLACEHOLDER, "").strip()
        return f"{row.subject}\n{text}" if row.subject else text

    def _notice(self, row: _MessageRow, actor: str) -> str:
        """What a notice says; the database holds only what happened."""
        other = self._handles.get(row.other_handle or 0, "")
        renamed = (
            f"named the conversation “{row.group_title}”" if row.group_title else "removed the conversation's name"
        )
        events = {
            (1, 0): f"added {other}", (1, 1): f"removed {other}", (2, 0): renamed, (3, 0): "left the conversation",
            (3, 1): "changed the conversation's picture", (3, 2): "removed the conversation's picture",
            (4, 0): "shared a location", (4, 1): "stopped sharing a location", (5, 0): "kept a voice message",
            (6, 0): "started a call",
        }  # fmt: skip
        event = events.get((row.item_type, row.group_action or 0))
        return f"{actor} {event}" if event else row.text or ""

    def _sent_files(self, message: int) -> Iterator[SentFile]:
        database = self._database
        if not database.has("message_attachment_join", "message_id", "attachment_id"):
            return
        columns = ", ".join(
            database.column("attachment", name, "a") for name in ("filename", "transfer_name", "mime_type")
        )
        query = (
            f"SELECT {columns} FROM message_attachment_join j JOIN attachment a ON a.ROWID = j.attachment_id "  # noqa: S608
            "WHERE j.message_id = ? ORDER BY a.ROWID"
        )
        for path, name, content_type in database.rows(query, (message,)):
            inside = str(path or "").partition(_MEDIA_FOLDER)[2]
            folder = self._unit.path.rpartition("/")[0]
            own = str(name or "") or str(path or "").rpartition("/")[2]
            if own:
                yield sent_file(self._files, inside or own, folder, own, str(content_type or ""))

    def _read_reactions(self) -> dict[str, list[Json]]:
        """GUID of a message -> the reactions to it that were not taken back."""
        database = self._database
        if not database.has("message", "associated_message_guid", "associated_message_type"):
            return {}
        emoji = database.column("message", "associated_message_emoji")
        query = (
            "SELECT associated_message_guid, associated_message_type, handle_id, is_from_me, "  # noqa: S608
            f"{emoji} FROM message WHERE associated_message_type BETWEEN {_ADDED[0]} AND {_REMOVED[-1]} "
            "ORDER BY date, ROWID"
        )
        by_target: dict[str, dict[tuple[str, str], None]] = {}
        for target, kind, handle, is_own, own_emoji in database.rows(query):
            guid = str(target or "").rpartition("/")[2].rpartition(":")[2]
            sender = self._owner if is_own else self._handles.get(handle, "unknown")
            self._apply(by_target.setdefault(guid, {}), int(kind), sender, str(own_emoji or ""))
        return {guid: _counted(list(given)) for guid, given in by_target.items() if given}

    @staticmethod
    def _apply(given: dict[tuple[str, str], None], kind: int, sender: str, own_emoji: str) -> None:
        number = kind % 1000
        emoji = own_emoji if kind in _EMOJI_TYPES else _REACTIONS[number] if number < len(_REACTIONS) else ""
        if not emoji:  # a sticker that was put onto a message
            return
        if kind in _ADDED:
            given[emoji, sender] = None
        else:
            given.pop((emoji, sender), None)


def _counted(given: Sequence[tuple[str, str]]) -> list[Json]:
    """Reactions by emoji."""
    senders: dict[str, list[str]] = {}
    for emoji, sender in given:
        senders.setdefault(emoji, []).append(sender)
    return [{"emoji": emoji, "count": len(names), "from": names} for emoji, names in senders.items()]


def _seconds(date: int | None) -> int | None:
    """Seconds since 1970 of a date, which is in seconds or nanoseconds since 2001; None where there is none."""
    if not date:
        return None
    return _COCOA_EPOCH + (date // 10**9 if abs(date) > _NANOSECONDS else date)
