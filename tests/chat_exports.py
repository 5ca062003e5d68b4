"""Exports of chats in the form of each program, of whatever messages a test wants."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr


class Said(NamedTuple):
    """A message."""

    number: int
    """its id, from 1"""
    ts: int
    sender: str
    text: str


def _milliseconds(one: Said) -> int:
    return one.ts * 1000 + one.number % 1000


Files = dict[str, bytes]
"""path -> content"""


def _json(value: Any, indent: int | None = 2) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=indent).encode()


def telegram(messages: Sequence[Said], title: str) -> Files:
    rows = [
        {
            "id": one.number,
            "type": "message",
            "date": datetime.fromtimestamp(one.ts, UTC).isoformat()[:19],
            "date_unixtime": str(one.ts),
            "from": one.sender,
            "from_id": f"user{len(one.sender)}",
            "text": one.text,
            "text_entities": [{"type": "plain", "text": one.text}],
        }
        for one in messages
    ]
    chat = {"name": title, "type": "private_group", "id": 4200000012, "messages": rows}
    return {f"ChatExport {title}/result.json": _json(chat, 1)}


def slack(messages: Sequence[Said], title: str) -> Files:
    days: dict[str, list[dict[str, Any]]] = {}
    for one in messages:
        day = datetime.fromtimestamp(one.ts, UTC).date().isoformat()
        row = {"type": "message", "user": f"U{len(one.sender)}", "ts": f"{one.ts}.{one.number:06}", "text": one.text}
        days.setdefault(day, []).append(row)
    names = {f"U{len(one.sender)}": one.sender for one in messages}
    users = [{"id": user, "team_id": "T1", "name": user.lower(), "real_name": name} for user, name in names.items()]
    channels = [{"id": "C01", "name": "hiking", "is_archived": False, "members": [*names]}]
    files = {"users.json": _json(users), "channels.json": _json(channels)}
    files |= {f"hiking/{day}.json": _json(rows) for day, rows in days.items()}
    return {f"{title} Slack export.zip": zipped(files)}


def messenger(messages: Sequence[Said], title: str) -> Files:
    return _meta(messages, title, "your_facebook_activity")


def instagram(messages: Sequence[Said], title: str) -> Files:
    return _meta(messages, title, "your_instagram_activity")


def _meta(messages: Sequence[Said], title: str, top: str) -> Files:
    def escaped(text: str) -> str:
        return text.encode().decode("latin-1")

    rows = [
        {
            "sender_name": escaped(one.sender),
            "timestamp_ms": one.ts * 1000 + one.number % 1000,
            "content": escaped(one.text),
        }
        for one in reversed(messages)
    ]
    people = [{"name": escaped(name)} for name in dict.fromkeys(one.sender for one in messages)]
    chat = {"participants": people, "messages": rows, "title": escaped(title), "thread_path": "inbox/hiking_42"}
    return {f"{top}/messages/inbox/hiking_42/message_1.json": json.dumps(chat, indent=2).encode()}


def sms(messages: Sequence[Said], title: str) -> Files:
    rows = "".join(
        f'  <sms protocol="0" address="+420601000{len(one.sender):03}" date="{_milliseconds(one)}" type="1" '
        f'subject="null" body={quoteattr(one.text)} read="1" contact_name={quoteattr(one.sender)} />\n'
        for one in messages
    )
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<smses count="{len(messages)}">\n'
    return {f"sms {title}.xml": f"{head}{rows}</smses>\n".encode()}


def signal(messages: Sequence[Said], title: str) -> Files:
    lines = [
        {
            "date": datetime.fromtimestamp(one.ts, UTC).isoformat(),
            "sender": one.sender,
            "body": one.text,
            "quote": "",
            "sticker": "",
            "reactions": [],
            "attachments": [],
        }
        for one in messages
    ]
    return {f"{title}/data.json": b"".join(_json(line, None) + b"\n" for line in lines)}


def teams(messages: Sequence[Said], title: str) -> Files:
    rows = [
        {
            "id": str(_milliseconds(one)),
            "displayName": one.sender,
            "originalarrivaltime": datetime.fromtimestamp(one.ts, UTC).isoformat(),
            "messagetype": "Text",
            "content": one.text,
            "conversationid": "19:hiking@thread.v2",
            "from": f"8:live:{len(one.sender)}",
            "properties": None,
        }
        for one in reversed(messages)
    ]
    chat = {"id": "19:hiking@thread.v2", "displayName": title, "threadProperties": None, "MessageList": rows}
    return {f"{title}/messages.json": _json({"userId": "8:live:me", "conversations": [chat]}, None)}


def discord(messages: Sequence[Said], title: str) -> Files:
    rows = [
        {
            "id": str(10**18 + one.number),
            "type": "Default",
            "timestamp": datetime.fromtimestamp(one.ts, UTC).isoformat(),
            "content": one.text,
            "author": {"id": str(len(one.sender)), "name": one.sender, "nickname": one.sender, "isBot": False},
            "attachments": [],
        }
        for one in messages
    ]
    guild = {"id": "1", "name": "Club", "iconUrl": ""}
    channel = {"id": "2", "type": "GuildTextChat", "name": title}
    return {f"Club - {title}.json": _json({"guild": guild, "channel": channel, "messages": rows})}


def google_chat(messages: Sequence[Said], title: str) -> Files:
    rows = [
        {
            "creator": {"name": one.sender, "user_type": "Human"},
            "created_date": datetime.fromtimestamp(one.ts, UTC).strftime("%A, %B %d, %Y at %I:%M:%S\u202f%p UTC"),
            "text": one.text,
            "topic_id": f"t{one.number}",
            "message_id": f"AAAA/t{one.number}/t{one.number}",
        }
        for one in messages
    ]
    folder = f"Takeout {title}/Google Chat/Groups/Space AAAA"
    return {f"{folder}/messages.json": _json({"messages": rows})}


def typed_stream(text: str) -> bytes:
    """A text as Messages stores it in `attributedBody`."""
    data = text.encode()
    wide = 2 if len(data) < 2**16 else 4
    length = bytes([len(data)]) if len(data) < 0x80 else bytes([0x80 + wide // 2]) + len(data).to_bytes(wide, "little")
    head = b"\x04\x0bstreamtyped\x81\xe8\x03\x84\x01@\x84\x84\x84\x12NSAttributedString\x00\x84\x84\x08NSObject\x00\x85"
    string = b"\x92\x84\x84\x84\x08NSString\x01\x94\x84\x01+" + length + data
    return head + string + b"\x86\x84\x02iI\x01\x04\x92\x84\x84\x84\x0cNSDictionary\x00\x94\x84\x01i\x00\x86\x86"


MESSAGES_TABLES = """
CREATE TABLE handle (ROWID INTEGER PRIMARY KEY, id TEXT NOT NULL, service TEXT, uncanonicalized_id TEXT);
CREATE TABLE chat (ROWID INTEGER PRIMARY KEY, guid TEXT, style INTEGER, chat_identifier TEXT, display_name TEXT);
CREATE TABLE message (ROWID INTEGER PRIMARY KEY, guid TEXT UNIQUE NOT NULL, text TEXT, handle_id INTEGER DEFAULT 0,
  subject TEXT, attributedBody BLOB, date INTEGER, is_from_me INTEGER DEFAULT 0, item_type INTEGER DEFAULT 0,
  other_handle INTEGER DEFAULT 0, group_title TEXT, group_action_type INTEGER DEFAULT 0, is_audio_message INTEGER,
  cache_has_attachments INTEGER DEFAULT 0, associated_message_guid TEXT, associated_message_type INTEGER DEFAULT 0,
  associated_message_emoji TEXT, balloon_bundle_id TEXT, thread_originator_guid TEXT, reply_to_guid TEXT,
  date_edited INTEGER, date_retracted INTEGER);
CREATE TABLE attachment (ROWID INTEGER PRIMARY KEY, guid TEXT, filename TEXT, mime_type TEXT, transfer_name TEXT);
CREATE TABLE chat_message_join (chat_id INTEGER, message_id INTEGER);
CREATE TABLE chat_handle_join (chat_id INTEGER, handle_id INTEGER);
CREATE TABLE message_attachment_join (message_id INTEGER, attachment_id INTEGER);
"""
"""what relrag reads of the tables of macOS 13 and newer"""


def database(script: str, rows: dict[str, list[dict[str, Any]]]) -> bytes:
    """A SQLite database of these tables and rows."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(script)
        for table, records in rows.items():
            for record in records:
                marks = ", ".join("?" * len(record))
                made.execute(f"INSERT INTO {table} ({', '.join(record)}) VALUES ({marks})", list(record.values()))
        made.commit()
        return made.serialize()


def cocoa(ts: int) -> int:
    """Nanoseconds since 2001."""
    return (ts - 978_307_200) * 10**9


def imessage(messages: Sequence[Said], title: str) -> Files:
    senders = {name: number for number, name in enumerate(dict.fromkeys(one.sender for one in messages), 1)}
    rows = [
        {"guid": f"G-{one.number}", "text": one.text if one.number % 2 else None, "handle_id": senders[one.sender],
         "attributedBody": None if one.number % 2 else typed_stream(one.text), "date": cocoa(one.ts),
         "ROWID": one.number}
        for one in messages
    ]  # fmt: skip
    tables = {
        "handle": [{"ROWID": number, "id": name, "service": "iMessage"} for name, number in senders.items()],
        "chat": [{"ROWID": 1, "guid": "c12", "style": 43, "chat_identifier": "chat12", "display_name": title}],
        "message": rows,
        "chat_message_join": [{"chat_id": 1, "message_id": one.number} for one in messages],
    }  # fmt: skip
    return {f"Messages {title}/chat.db": database(MESSAGES_TABLES, tables)}


def ai_chat(messages: Sequence[Said], title: str) -> Files:
    nodes: dict[str, Any] = {"n0": {"id": "n0", "message": None, "parent": None, "children": ["n1"]}}
    for place, said in enumerate(messages, 1):
        message = {
            "id": f"m{said.number}",
            "author": {"role": "user", "name": None},
            "create_time": said.ts + 0.5,
            "content": {"content_type": "text", "parts": [said.text]},
            "metadata": {},
            "recipient": "all",
        }
        nodes[f"n{place}"] = {"id": f"n{place}", "message": message, "parent": f"n{place - 1}", "children": []}
    times = {"create_time": messages[0].ts, "update_time": messages[-1].ts} if messages else {}
    chat = {"title": title, **times, "mapping": nodes, "current_node": f"n{len(messages)}", "conversation_id": "c-12"}
    return {f"ChatGPT {title}/conversations.json": _json([chat], None)}


def twitter(messages: Sequence[Said], title: str) -> Files:
    rows = [
        {
            "tweet": {
                "id_str": str(10**18 + said.number),
                "created_at": f"{datetime.fromtimestamp(said.ts, UTC):%a %b %d %H:%M:%S +0000 %Y}",
                "full_text": said.text.replace("&", "&amp;").replace("<", "&lt;"),
                "entities": {"user_mentions": [{"name": said.sender, "screen_name": "x", "id_str": said.sender}]},
            }
        }
        for said in messages
    ]
    return {f"twitter {title}/data/tweets.js": b"window.YTD.tweets.part0 = " + _json(rows)}


def linkedin(messages: Sequence[Said], title: str) -> Files:
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["CONVERSATION ID", "CONVERSATION TITLE", "FROM", "SENDER PROFILE URL", "TO", "DATE", "SUBJECT",
                   "CONTENT", "FOLDER"])  # fmt: skip
    for said in messages:
        date = f"{datetime.fromtimestamp(said.ts, UTC):%Y-%m-%d %H:%M:%S} UTC"
        rows.writerow(["2-abc", title, said.sender, "", "", date, "", said.text, "INBOX"])
    return {f"LinkedIn {title}/messages.csv": out.getvalue().encode()}


WRITERS: dict[str, Callable[[Sequence[Said], str], Files]] = {
    "telegram": telegram,
    "slack": slack,
    "messenger": messenger,
    "instagram": instagram,
    "sms": sms,
    "signal": signal,
    "teams": teams,
    "discord": discord,
    "google_chat": google_chat,
    "imessage": imessage,
    "ai_chat": ai_chat,
    "twitter": twitter,
    "linkedin": linkedin,
}
"""kind -> what writes messages of a chat with that title"""


def zipped(files: Files) -> bytes:
    """A zip of these files, the same bytes whenever it is made."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()
