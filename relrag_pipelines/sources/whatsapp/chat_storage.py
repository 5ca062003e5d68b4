"""Chats of WhatsApp on an iPhone: `ChatStorage.sqlite`, from a backup of the phone.

It is a Core Data store without a published form: `ZWAMESSAGE`, `ZWACHATSESSION`, `ZWAGROUPMEMBER`, `ZWAMEDIAITEM`,
`ZWAPROFILEPUSHNAME`. Columns are probed. Times are seconds since 2001. The message that one answers is
`ZPARENTMESSAGE`, or a field of the protocol buffer `ZMETADATA` of its media item: field 5, the `ZSTANZAID` of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from relrag_pipelines.records import Failure, Json, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats.export_files import FolderFiles, sent_file
from relrag_pipelines.sources.chats.message import SentFile
from relrag_pipelines.sources.formats.sqlite_file import Database
from relrag_pipelines.sources.whatsapp import database_rows
from relrag_pipelines.sources.whatsapp.database_rows import Account, StoredChat, StoredMessage, Transcript

SCHEMA = ("zwamessage", "zchatsession", "zmessagedate", "zisfromme")
_COCOA_EPOCH = 978_307_200
_GROUP_EVENT, _SYSTEM, _DELETED, _PLACE, _CARD, _POLL = 6, 10, 14, 5, 4, 46
_MEDIA = {1: "image", 2: "video", 3: "audio", 8: "document", 11: "gif", 15: "sticker", 38: "image", 39: "video"}
"""types of messages with a file"""
_QUOTED_TAG = 0x2A
"""field 5 of a protocol buffer, of bytes"""
_OWN = ""


def read(database: Database, unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The messages of a database."""
    stored = _Storage(database, unit, reading)
    transcript = Transcript(unit.path, reading, stored.chat, stored.account, with_seconds=True)
    yield from transcript.records(stored.messages())


class _Storage:
    """A database of an iPhone."""

    def __init__(self, database: Database, unit: Unit, reading: ReadContext) -> None:
        self._database, self._reading, self._unit = database, reading, unit
        self._files = FolderFiles(unit, reading)
        self._names = self._read_names()
        self._members = self._read_members()

    def chat(self, row: int) -> StoredChat:
        """A chat, by its subject or the name of the other person."""
        database = self._database
        columns = ", ".join(database.column("zwachatsession", name) for name in ("zpartnername", "zcontactjid"))
        found = next(database.rows(f"SELECT {columns} FROM zwachatsession WHERE z_pk = ?", (row,)), ("", ""))  # noqa: S608
        title, jid = (str(part or "") for part in found)
        quoted = set[str]()
        for metadata, parent in self._quotations(row):
            quoted.add(quoted_key(metadata) if metadata else str(parent))
        return StoredChat(title or (self.account(jid).name if jid else f"chat {row}"), quoted)

    def account(self, key: str) -> Account:
        """Who wrote a message."""
        if key == _OWN:
            return Account(self._reading.owner or "Me")
        return database_rows.account(key, self._names.get(key, ""))

    def messages(self) -> Iterator[StoredMessage]:
        """All messages, chat by chat."""
        database, column = self._database, self._database.column
        media = ("zmedialocalpath", "ztitle", "zlatitude", "zlongitude", "zvcardstring", "zvcardname", "zmetadata")
        columns = ", ".join(column("zwamediaitem", name, "i") for name in media)
        names = ("ztext", "zstanzaid", "zmessagetype", "zfromjid", "zgroupmember", "zparentmessage", "zflags")
        own_columns = ", ".join(column("zwamessage", name, "m") for name in names)
        join = ""
        if database.has("zwamediaitem", "z_pk") and database.has("zwamessage", "zmediaitem"):
            join = "LEFT JOIN zwamediaitem i ON i.z_pk = m.zmediaitem"
        else:
            columns = ", ".join(["NULL"] * len(media))
        query = (
            f"SELECT m.z_pk, m.zchatsession, m.zmessagedate, m.zisfromme, {own_columns}, {columns} "  # noqa: S608
            f"FROM zwamessage m {join} WHERE m.zchatsession IS NOT NULL ORDER BY m.zchatsession, m.zmessagedate, m.z_pk"
        )
        keys: dict[int, str] = {}
        chat = None
        for row, session, moment, is_own, text, key, kind, jid, member, parent, _flags, *item in database.stream(query):
            if session != chat:
                chat, keys = session, {}
            if not isinstance(moment, int | float):
                continue
            keys[row] = str(key or row)
            said, extra, files = self._content(str(text or ""), int(kind or 0), item)
            author = _OWN if is_own else self._members.get(member) or str(jid or "")
            who = None if kind in (_GROUP_EVENT, _SYSTEM) else author
            answered = quoted_key(item[-1]) if item[-1] else keys.get(parent or 0)
            if said or files or extra:
                milliseconds = round((_COCOA_EPOCH + moment) * 1000)
                yield StoredMessage(row, session, milliseconds, who, said, keys[row], answered, extra, files)

    def _content(self, text: str, kind: int, item: list[Any]) -> tuple[str, Json, list[SentFile]]:
        """Text, facts and files of a message."""
        path, title, latitude, longitude, card, card_name, _ = item
        if kind == _DELETED:
            return "", {"deleted": True}, []
        if kind == _PLACE and latitude is not None:
            place = database_rows.place_text(latitude, longitude, str(title or ""))
            return place, {"place": [latitude, longitude]}, []
        if kind == _POLL:
            return text, {"poll": True}, []
        if kind == _CARD:
            name = f"{card_name or 'contact'}.vcf"
            return "", {"media": "contact"}, [SentFile(name, content_type="text/vcard")]
        if kind in _MEDIA:
            content_type = str(card or "") if "/" in str(card or "") else ""
            name = text if kind == 8 and text else str(path or "").rpartition("/")[2] or _MEDIA[kind]
            return str(title or ""), {}, [self._file(str(path or ""), name, content_type)]
        return text, {}, []

    def _file(self, path: str, name: str, content_type: str) -> SentFile:
        folder = str(PurePosixPath(self._unit.path).parent)
        for start in ("Message/", ""):
            file = sent_file(self._files, f"{start}{path.lstrip('/')}" if path else "", folder, name, content_type)
            if file.location:
                return file
        return SentFile(name, content_type=content_type)

    def _quotations(self, chat: int) -> Iterator[tuple[bytes | None, str | None]]:
        """Metadata, or the key of the answered message, of each message of a chat that answers one."""
        database = self._database
        if database.has("zwamessage", "zparentmessage", "zstanzaid"):
            query = (
                "SELECT p.zstanzaid, p.z_pk FROM zwamessage m JOIN zwamessage p ON p.z_pk = m.zparentmessage "
                "WHERE m.zchatsession = ?"
            )
            for key, row in database.rows(query, (chat,)):
                yield None, str(key or row)
        if database.has("zwamediaitem", "zmetadata") and database.has("zwamessage", "zmediaitem"):
            query = (
                "SELECT i.zmetadata FROM zwamessage m JOIN zwamediaitem i ON i.z_pk = m.zmediaitem "
                "WHERE m.zchatsession = ? AND i.zmetadata IS NOT NULL"
            )
            for (metadata,) in database.rows(query, (chat,)):
                yield metadata, None

    def _read_names(self) -> dict[str, str]:
        """Account -> the name of its chat in the address book, else the one that its holder gave it."""
        database, names = self._database, dict[str, str]()
        for table, name in (("zwaprofilepushname", "zpushname"), ("zwachatsession", "zpartnername")):
            jid = "zjid" if table == "zwaprofilepushname" else "zcontactjid"
            if database.has(table, jid, name):
                rows = database.rows(f"SELECT {jid}, {name} FROM {table}")  # noqa: S608
                names |= {str(account): str(shown) for account, shown in rows if account and shown}
        return names

    def _read_members(self) -> dict[int | None, str]:
        """Row of a member of a group -> the account; notes the names of members."""
        database = self._database
        if not database.has("zwagroupmember", "z_pk", "zmemberjid"):
            return {}
        columns = ", ".join(database.column("zwagroupmember", name) for name in ("zcontactname", "zfirstname"))
        members: dict[int | None, str] = {}
        for row, jid, name, first in database.rows(f"SELECT z_pk, zmemberjid, {columns} FROM zwagroupmember"):  # noqa: S608
            if jid:
                members[row] = str(jid)
                if shown := name or first:
                    self._names.setdefault(str(jid), str(shown))
        return members


def quoted_key(metadata: Any) -> str:
    """The key of the answered message in the metadata of a media item; empty if it names none."""
    if not isinstance(metadata, bytes) or len(metadata) < 2 or metadata[0] != _QUOTED_TAG:
        return ""
    key = metadata[2 : 2 + metadata[1]]
    return key.decode("ascii", "replace") if len(key) == metadata[1] else ""
