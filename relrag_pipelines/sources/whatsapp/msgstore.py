"""Chats of WhatsApp on Android: `msgstore.db`, decrypted, with the names in `wa.db` if that lies beside it.

There are two schemas, neither published, and columns come and go in both, so they are probed. Since 2021 a message is
a row of `message`, and each kind of addition has a table (`message_media`, `message_quoted`, `message_location`,
`message_poll_option`, `message_edit_info`, `message_forwarded`, `message_add_on_reaction`); accounts are rows of `jid`,
and `jid_map` says which number an account has that hides it (`@lid`). Before, all was in `messages`, with quoted
messages in `messages_quotes`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from relrag_pipelines.records import Failure, Json, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats.export_files import FolderFiles, sent_file
from relrag_pipelines.sources.chats.message import SentFile
from relrag_pipelines.sources.formats import sqlite_file
from relrag_pipelines.sources.formats.sqlite_file import Database
from relrag_pipelines.sources.whatsapp import database_rows
from relrag_pipelines.sources.whatsapp.database_rows import Account, MessageRow, StoredChat, StoredMessage, Transcript

NEW_SCHEMA = ("message", "chat_row_id", "key_id", "timestamp")
OLD_SCHEMA = ("messages", "key_remote_jid", "key_id", "timestamp")
"""a table and columns by which a database is recognised"""
_CONTACTS = "wa.db"
_SYSTEM, _DELETED, _DELETED_BY_ADMIN = 7, 15, 64
_CARD, _PLACE, _CARDS, _LIVE_PLACE, _POLL = 4, 5, 14, 16, 66
_MEDIA = {1: "image", 2: "audio", 3: "video", 9: "document", 13: "gif", 20: "sticker", 42: "image", 43: "video",
          81: "video", 82: "audio"}  # fmt: skip
"""types of messages with a file"""
_MISSED_CALLS, _CALLS = "missed call", {8, 10}
_REACTION = 56
"""type of an addition to a message"""
_OWN, _OWN_ROW = "", -1
"""stand for the owner among accounts and among rows of accounts"""


def read(database: Database, unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The messages of a database of either schema."""
    stored = (
        _NewDatabase(database, unit, reading) if database.has(*NEW_SCHEMA) else _OldDatabase(database, unit, reading)
    )
    transcript = Transcript(unit.path, reading, stored.chat, stored.account, with_seconds=False)
    yield from transcript.records(stored.messages())


def _address_book(database: Database, scratch: Path | None) -> dict[str, str]:
    """Account -> the name in the phone's address book, else the one that its holder gave it."""
    file = database.file.with_name(_CONTACTS)
    if not sqlite_file.is_database(file):
        return {}
    try:
        with sqlite_file.open_database(file, scratch) as database:
            names = [database.column("wa_contacts", name) for name in ("display_name", "wa_name")]
            if not database.has("wa_contacts", "jid"):
                return {}
            rows = database.rows(f"SELECT jid, {', '.join(names)} FROM wa_contacts")  # noqa: S608
            return {str(jid): str(name or own) for jid, name, own in rows if name or own}
    except (sqlite3.Error, OSError):  # the messages can be read without names
        return {}


class _Files:
    """Files that were sent, which lie beside the database or beside its folder, as on the phone."""

    def __init__(self, unit: Unit, reading: ReadContext) -> None:
        self._files = FolderFiles(unit, reading)
        folder = PurePosixPath(unit.path).parent
        self._folders = [str(folder), *([str(folder.parent)] if folder.name else [])]

    def sent(self, path: str, name: str, kind: str, content_type: str) -> SentFile:
        """The file of a message of that kind."""
        shown = name or path.rpartition("/")[2] or kind
        for folder in self._folders:
            file = sent_file(self._files, path, folder, shown, content_type.partition(";")[0])
            if file.location:
                return file
        return SentFile(shown, content_type=content_type.partition(";")[0])


class _NewDatabase:
    """A database of the schema since 2021."""

    def __init__(self, database: Database, unit: Unit, reading: ReadContext) -> None:
        self._database, self._reading = database, reading
        self._files, self._names = _Files(unit, reading), _address_book(database, reading.scratch)
        self._jids = {row: str(jid) for row, jid in database.rows(f"SELECT _id, {self._raw_jid()} FROM jid")}  # noqa: S608
        self._numbers = self._read_numbers()
        self._reactions = self._read_reactions()
        self._edited = self._row_ids("message_edit_info")
        self._forwarded = self._row_ids("message_forwarded")

    def chat(self, row: int) -> StoredChat:
        """A chat, by its subject or the name of the other person."""
        database = self._database
        columns = ", ".join(database.column("chat", name) for name in ("jid_row_id", "subject"))
        found = next(database.rows(f"SELECT {columns} FROM chat WHERE _id = ?", (row,)), (None, None))  # noqa: S608
        jid = self._jid(found[0])
        title = str(found[1] or "") or self._name(jid)
        quoted: set[str] = set()
        if database.has("message_quoted", "key_id"):
            here = "WHERE message_row_id IN (SELECT _id FROM message WHERE chat_row_id = ?)"
            quoted.update(str(key) for (key,) in database.rows(f"SELECT key_id FROM message_quoted {here}", (row,)))  # noqa: S608
        return StoredChat(title or f"chat {row}", quoted)

    def account(self, key: int) -> Account:
        """Who wrote a message, by the row of the account."""
        if key == _OWN_ROW:
            return Account(self._reading.owner or "Me")
        jid = self._jid(key)
        return database_rows.account(jid, self._names.get(jid, "")) if jid else Account("unknown")

    def messages(self) -> Iterator[MessageRow]:
        """All messages, chat by chat."""
        database = self._database
        column = database.column
        own, kind = column("message", "from_me", "m", "0"), column("message", "message_type", "m", "0")
        sender, text = column("message", "sender_jid_row_id", "m", "0"), column("message", "text_data", "m")
        quoted, quotes = "NULL", ""
        if database.has("message_quoted", "message_row_id", "key_id"):
            quoted, quotes = "q.key_id", "LEFT JOIN message_quoted q ON q.message_row_id = m._id"
        chat_jid = "(SELECT jid_row_id FROM chat WHERE _id = m.chat_row_id)"
        query = (
            "SELECT m._id, m.chat_row_id, m.timestamp, "  # noqa: S608
            f"CASE WHEN {own} THEN {_OWN_ROW} WHEN {sender} > 0 THEN {sender} ELSE COALESCE({chat_jid}, 0) END, "
            f"{text}, m.key_id, {quoted}, {kind} "
            f"FROM message m {quotes} ORDER BY m.chat_row_id, m.timestamp, m._id"
        )
        marked = self._edited | self._forwarded | self._reactions.keys()
        for row, chat, moment, who, said, key, answered, kind_number in database.stream(query):
            if not kind_number and row not in marked and type(said) is str:
                if said and type(moment) is int:
                    yield row, chat, moment, who, said, key, answered, None, ()  # quicker than a StoredMessage
                continue
            yield from self._special(row, chat, moment, who, said, key, answered, kind_number)

    def _special(
        self, row: int, chat: int, moment: Any, who: int, said: Any, key: str, answered: str | None, kind: Any
    ) -> Iterator[StoredMessage]:
        """A message that is more than a text; none for a notice without words and for one that holds nothing."""
        extra: Json = {}
        text, files = str(said or ""), list[SentFile]()
        if row in self._edited:
            extra["edited"] = True
        if row in self._forwarded:
            extra["forwarded"] = True
        if reactions := self._reactions.get(row):
            extra["reactions"] = self._named(reactions)
        if kind in (_DELETED, _DELETED_BY_ADMIN):
            extra["deleted"], text = True, ""
        elif kind in (_PLACE, _LIVE_PLACE):
            text, place = self._place(row, text)
            extra |= place
        elif kind == _POLL:
            text = self._poll(row, text)
            extra["poll"] = True
        elif kind in (_CARD, _CARDS):
            extra["media"] = "contact"
            files, text = [SentFile(f"{text or 'contact'}.vcf", content_type="text/vcard")], ""
        elif kind in _MEDIA:
            file, caption = self._file(row, _MEDIA[kind])
            files, text = [file], text or caption
        is_notice = kind == _SYSTEM or kind in _CALLS
        if kind in _CALLS:
            text = text or _MISSED_CALLS
        if type(moment) is int and (text or files or extra):
            sender = None if is_notice else who
            yield StoredMessage(row, chat, moment, sender, text, key, answered, extra, files)

    def _raw_jid(self) -> str:
        return "raw_string" if self._database.has("jid", "raw_string") else "user || '@' || server"

    def _read_numbers(self) -> dict[int, int]:
        """Row of an account that hides its number -> row of the account that is its number."""
        if not self._database.has("jid_map", "lid_row_id", "jid_row_id"):
            return {}
        return dict(self._database.rows("SELECT lid_row_id, jid_row_id FROM jid_map ORDER BY ROWID"))

    def _jid(self, row: int | None) -> str:
        return self._jids.get(self._numbers.get(row or 0, row or 0), "")

    def _name(self, jid: str) -> str:
        return database_rows.account(jid, self._names.get(jid, "")).name if jid else ""

    def _row_ids(self, table: str) -> set[int]:
        if not self._database.has(table, "message_row_id"):
            return set()
        return {row for (row,) in self._database.rows(f"SELECT message_row_id FROM {table}")}  # noqa: S608

    def _read_reactions(self) -> dict[int, list[tuple[str, int]]]:
        """Row of a message -> emoji and row of the account of each reaction."""
        database = self._database
        reaction, add_on = "message_add_on_reaction", "message_add_on"
        if not (
            database.has(reaction, "message_add_on_row_id", "reaction")
            and database.has(add_on, "parent_message_row_id")
        ):
            return {}
        own, sender = (
            database.column(add_on, "from_me", "a", "0"),
            database.column(add_on, "sender_jid_row_id", "a", "0"),
        )
        rows = database.rows(
            f"SELECT a.parent_message_row_id, r.reaction, CASE WHEN {own} THEN {_OWN_ROW} ELSE {sender} END "  # noqa: S608
            f"FROM {reaction} r JOIN {add_on} a ON a._id = r.message_add_on_row_id ORDER BY a._id"
        )
        by_message: dict[int, list[tuple[str, int]]] = {}
        for row, emoji, who in rows:
            if emoji:
                by_message.setdefault(row, []).append((str(emoji), int(who or 0)))
        return by_message

    def _named(self, reactions: list[tuple[str, int]]) -> list[Json]:
        names: dict[str, list[str]] = {}
        for emoji, who in reactions:
            names.setdefault(emoji, []).append(self.account(who).name)
        return [{"emoji": emoji, "count": len(people), "from": people} for emoji, people in names.items()]

    def _place(self, row: int, text: str) -> tuple[str, Json]:
        database = self._database
        if not database.has("message_location", "message_row_id", "latitude", "longitude"):
            return text, {}
        columns = ", ".join(database.column("message_location", name) for name in ("place_name", "place_address"))
        query = f"SELECT latitude, longitude, {columns} FROM message_location WHERE message_row_id = ?"  # noqa: S608
        latitude, longitude, name, address = next(database.rows(query, (row,)), (None, None, "", ""))
        if latitude is None:
            return text, {}
        named = ", ".join(str(part) for part in (name, address) if part)
        return database_rows.place_text(latitude, longitude, named), {"place": [latitude, longitude]}

    def _poll(self, row: int, question: str) -> str:
        database = self._database
        if not database.has("message_poll_option", "message_row_id", "option_name"):
            return question
        votes = database.column("message_poll_option", "vote_total", missing="0")
        query = f"SELECT option_name, {votes} FROM message_poll_option WHERE message_row_id = ? ORDER BY ROWID"  # noqa: S608
        return database_rows.poll_text(question, list(database.rows(query, (row,))))

    def _file(self, row: int, kind: str) -> tuple[SentFile, str]:
        """The file of a message, and its caption where that is not its text."""
        database = self._database
        if not database.has("message_media", "message_row_id"):
            return SentFile(kind), ""
        names = ("file_path", "media_name", "mime_type", "media_caption")
        columns = ", ".join(database.column("message_media", name) for name in names)
        query = f"SELECT {columns} FROM message_media WHERE message_row_id = ?"  # noqa: S608
        path, name, content_type, caption = (str(part or "") for part in next(database.rows(query, (row,)), ("",) * 4))
        return self._files.sent(path, name, kind, content_type), caption


class _OldDatabase:
    """A database of the schema before 2021."""

    def __init__(self, database: Database, unit: Unit, reading: ReadContext) -> None:
        self._database, self._reading = database, reading
        self._files, self._names = _Files(unit, reading), _address_book(database, reading.scratch)
        self._chats: dict[int, str] = {}
        """first row of a chat -> its account"""

    def chat(self, row: int) -> StoredChat:
        """A chat, by its subject or the name of the other person."""
        database, jid = self._database, self._chats[row]
        subject = ""
        if database.has("chat_list", "key_remote_jid", "subject"):
            rows = database.rows("SELECT subject FROM chat_list WHERE key_remote_jid = ?", (jid,))
            subject = str(next(rows, ("",))[0] or "")
        quoted: set[str] = set()
        if database.has("messages_quotes", "key_id", "key_remote_jid"):
            rows = database.rows("SELECT key_id FROM messages_quotes WHERE key_remote_jid = ?", (jid,))
            quoted.update(str(key) for (key,) in rows)
        return StoredChat(subject or self.account(jid).name, quoted)

    def account(self, key: str) -> Account:
        """Who wrote a message."""
        if key == _OWN:
            return Account(self._reading.owner or "Me")
        return database_rows.account(key, self._names.get(key, ""))

    def messages(self) -> Iterator[MessageRow]:
        """All messages, chat by chat."""
        database = self._database
        names = ("media_caption", "media_name", "media_mime_type", "latitude", "longitude", "forwarded", "edit_version")
        columns = ", ".join(database.column("messages", name, "m") for name in names)
        kind, status = (
            database.column("messages", "media_wa_type", "m", "0"),
            database.column("messages", "status", "m"),
        )
        own, sender = (
            database.column("messages", "key_from_me", "m", "0"),
            database.column("messages", "remote_resource", "m"),
        )
        text, quoted, quotes = database.column("messages", "data", "m"), "NULL", ""
        if database.has("messages_quotes", "key_id") and database.has("messages", "quoted_row_id"):
            quoted, quotes = (
                "q.key_id",
                "LEFT JOIN messages_quotes q ON q._id = m.quoted_row_id AND m.quoted_row_id > 0",
            )
        query = (
            f"SELECT m._id, m.key_remote_jid, m.timestamp, {own}, {sender}, {text}, "  # noqa: S608
            f"m.key_id, {quoted}, {kind}, {status}, {columns} FROM messages m {quotes} "
            "WHERE m.key_remote_jid <> '-1' ORDER BY m.key_remote_jid, m.timestamp, m._id"
        )
        chat, current = 0, None
        for row, jid, moment, is_own, who, said, key, answered, *rest in database.stream(query):
            if type(moment) is not int:
                continue
            if jid != current:
                chat, current = row, jid
                self._chats = {chat: str(jid)}
            text, extra, files, is_notice = self._content(said, *rest)
            account = None if is_notice else _OWN if is_own else str(who or jid)
            if text or files or extra:
                yield StoredMessage(row, chat, moment, account, text, key, answered, extra, files)

    def _content(
        self, said: Any, kind_name: Any, status: Any, caption: Any, name: Any, content_type: Any, latitude: Any,
        longitude: Any, forwarded: Any, edit: Any,
    ) -> tuple[str, Json, list[SentFile], bool]:  # fmt: skip
        """Text, facts and files of a message, and whether it is a notice."""
        kind = int(kind_name or 0)
        extra: Json = {"forwarded": True} if forwarded else {}
        text = str(said or "")
        if kind == _DELETED or edit == 7:
            return "", {"deleted": True}, [], False
        if kind in (_PLACE, _LIVE_PLACE) and latitude is not None:
            return (
                database_rows.place_text(latitude, longitude, str(name or "")),
                extra | {"place": [latitude, longitude]},
                [],
                False,
            )
        if kind in (_CARD, _CARDS):
            return (
                "",
                extra | {"media": "contact"},
                [SentFile(f"{name or 'contact'}.vcf", content_type="text/vcard")],
                False,
            )
        if kind in _MEDIA:
            return (
                str(caption or ""),
                extra,
                [self._files.sent("", str(name or ""), _MEDIA[kind], str(content_type or ""))],
                False,
            )
        return text or (_MISSED_CALLS if kind in _CALLS else ""), extra, [], status == 6 or kind in _CALLS
