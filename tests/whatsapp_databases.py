"""WhatsApp's databases with invented messages: msgstore.db of both schemas, wa.db, ChatStorage.sqlite.

The tables have what relrag reads of those that WhatsApp-Chat-Exporter and forensic papers describe.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.chat_exports import database

NEW = """
CREATE TABLE jid (_id INTEGER PRIMARY KEY, user TEXT, server TEXT, raw_string TEXT);
CREATE TABLE jid_map (lid_row_id INTEGER PRIMARY KEY, jid_row_id INTEGER);
CREATE TABLE chat (_id INTEGER PRIMARY KEY, jid_row_id INTEGER, subject TEXT);
CREATE TABLE message (_id INTEGER PRIMARY KEY, chat_row_id INTEGER, from_me INTEGER, key_id TEXT,
  sender_jid_row_id INTEGER, timestamp INTEGER, message_type INTEGER, text_data TEXT, sort_id INTEGER);
CREATE TABLE message_media (message_row_id INTEGER PRIMARY KEY, file_path TEXT, media_name TEXT, mime_type TEXT);
CREATE TABLE message_quoted (message_row_id INTEGER PRIMARY KEY, key_id TEXT, text_data TEXT);
CREATE TABLE message_location (message_row_id INTEGER PRIMARY KEY, latitude REAL, longitude REAL, place_name TEXT);
CREATE TABLE message_poll_option (_id INTEGER PRIMARY KEY, message_row_id INTEGER, option_name TEXT,
  vote_total INTEGER);
CREATE TABLE message_edit_info (message_row_id INTEGER PRIMARY KEY, edited_timestamp INTEGER);
CREATE TABLE message_forwarded (message_row_id INTEGER PRIMARY KEY, forward_score INTEGER);
CREATE TABLE message_add_on (_id INTEGER PRIMARY KEY, parent_message_row_id INTEGER, from_me INTEGER,
  sender_jid_row_id INTEGER);
CREATE TABLE message_add_on_reaction (message_add_on_row_id INTEGER, reaction TEXT);
"""
OLD = """
CREATE TABLE messages (_id INTEGER PRIMARY KEY, key_remote_jid TEXT, key_from_me INTEGER, key_id TEXT, status INTEGER,
  data TEXT, timestamp INTEGER, media_wa_type TEXT, media_name TEXT, media_caption TEXT, media_mime_type TEXT,
  latitude REAL, longitude REAL, remote_resource TEXT, quoted_row_id INTEGER, forwarded INTEGER);
CREATE TABLE messages_quotes (_id INTEGER PRIMARY KEY, key_remote_jid TEXT, key_id TEXT, data TEXT);
CREATE TABLE chat_list (_id INTEGER PRIMARY KEY, key_remote_jid TEXT, subject TEXT);
"""
CONTACTS = "CREATE TABLE wa_contacts (_id INTEGER PRIMARY KEY, jid TEXT, display_name TEXT, wa_name TEXT);"
IPHONE = """
CREATE TABLE ZWACHATSESSION (Z_PK INTEGER PRIMARY KEY, ZCONTACTJID TEXT, ZPARTNERNAME TEXT);
CREATE TABLE ZWAGROUPMEMBER (Z_PK INTEGER PRIMARY KEY, ZMEMBERJID TEXT, ZCONTACTNAME TEXT);
CREATE TABLE ZWAPROFILEPUSHNAME (Z_PK INTEGER PRIMARY KEY, ZJID TEXT, ZPUSHNAME TEXT);
CREATE TABLE ZWAMEDIAITEM (Z_PK INTEGER PRIMARY KEY, ZMEDIALOCALPATH TEXT, ZTITLE TEXT, ZLATITUDE REAL, ZLONGITUDE REAL,
  ZVCARDSTRING TEXT, ZVCARDNAME TEXT, ZMETADATA BLOB);
CREATE TABLE ZWAMESSAGE (Z_PK INTEGER PRIMARY KEY, ZISFROMME INTEGER, ZMESSAGETYPE INTEGER, ZCHATSESSION INTEGER,
  ZGROUPMEMBER INTEGER, ZMEDIAITEM INTEGER, ZPARENTMESSAGE INTEGER, ZMESSAGEDATE REAL, ZFROMJID TEXT, ZSTANZAID TEXT,
  ZTEXT TEXT);
"""
TS = 1_705_140_900
"""13 January 2024, 10:15:00 UTC, 11:15 in Prague"""
PETR, EVA, HIDDEN, GROUP = (
    "420601234567@s.whatsapp.net",
    "972521234567@s.whatsapp.net",
    "9988776655@lid",
    "1203630@g.us",
)
NAMES = [{"jid": PETR, "display_name": "Petr Kolář"}, {"jid": EVA, "display_name": "", "wa_name": "Eva"}]
JIDS = [{"_id": number, "raw_string": jid} for number, jid in enumerate((PETR, EVA, HIDDEN, GROUP), 1)]
CHATS = [{"_id": 1, "jid_row_id": 1}, {"_id": 2, "jid_row_id": 4, "subject": "Hiking"}]

Rows = dict[str, list[dict[str, Any]]]


def message(number: int, text: str | None = None, **columns: Any) -> dict[str, Any]:
    """A row of the table `message`, in the chat with Petr, a minute after the one before."""
    row = {"_id": number, "chat_row_id": 1, "from_me": 0, "key_id": f"K{number}", "message_type": 0}
    return row | {"timestamp": (TS + number * 60) * 1000 + 37, "text_data": text} | columns


def msgstore(folder: Path, messages: Sequence[dict[str, Any]], tables: Rows | None = None, script: str = NEW) -> Path:
    """A database of the newer schema, with the names beside it."""
    rows = {"jid": JIDS, "chat": CHATS, "message": list(messages)} | (tables or {})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "msgstore.db").write_bytes(database(script, rows))
    (folder / "wa.db").write_bytes(database(CONTACTS, {"wa_contacts": NAMES}))
    return folder / "msgstore.db"


def old_msgstore(folder: Path, messages: Sequence[dict[str, Any]], quotes: Sequence[dict[str, Any]] = ()) -> Path:
    """A database of the older schema; its first row belongs to no chat, as in WhatsApp's."""
    first = {"_id": 1, "key_remote_jid": "-1", "key_id": "-1", "timestamp": 0}
    rows = {
        "messages": [first, *messages],
        "messages_quotes": list(quotes),
        "chat_list": [{"key_remote_jid": GROUP, "subject": "Hiking"}],
    }
    (folder / "msgstore.db").write_bytes(database(OLD, rows))
    (folder / "wa.db").write_bytes(database(CONTACTS, {"wa_contacts": NAMES}))
    return folder / "msgstore.db"


def chat_storage(folder: Path, messages: Sequence[dict[str, Any]], media: Sequence[dict[str, Any]] = ()) -> Path:
    """A database of an iPhone."""
    rows = {
        "ZWACHATSESSION": [
            {"Z_PK": 1, "ZCONTACTJID": PETR, "ZPARTNERNAME": "Petr Kolář"},
            {"Z_PK": 2, "ZCONTACTJID": GROUP, "ZPARTNERNAME": "Hiking"},
        ],
        "ZWAGROUPMEMBER": [{"Z_PK": 1, "ZMEMBERJID": EVA, "ZCONTACTNAME": "Eva"}],
        "ZWAMEDIAITEM": list(media),
        "ZWAMESSAGE": list(messages),
    }
    (folder / "ChatStorage.sqlite").write_bytes(database(IPHONE, rows))
    return folder / "ChatStorage.sqlite"


def iphone_message(number: int, text: str | None = None, **columns: Any) -> dict[str, Any]:
    """A row of ZWAMESSAGE in the chat with Petr."""
    row = {"Z_PK": number, "ZCHATSESSION": 1, "ZISFROMME": 0, "ZMESSAGETYPE": 0, "ZSTANZAID": f"K{number}"}
    return row | {"ZMESSAGEDATE": TS + number * 60 + 5.25 - 978_307_200, "ZFROMJID": PETR, "ZTEXT": text} | columns
