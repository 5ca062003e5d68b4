"""Messages as waha_server.py mirrors them, a file for each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from relrag_pipelines.files.regular_files import read_plain
from relrag_pipelines.records import Failure, Json, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats.message import SentFile
from relrag_pipelines.sources.whatsapp import database_rows
from relrag_pipelines.sources.whatsapp.database_rows import Account, StoredChat, StoredMessage, Transcript

SUFFIX = ".waha"
_OWN = ""
"""stands for the owner among accounts"""
_QUOTED, _OF_ITEM = 1, 2
"""numbers of the message that is quoted, and of the item's own"""
_KEY = "quoted"
"""stands for WhatsApp's id of what is quoted"""


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The record of a message, and one for each file that was sent with it."""
    try:
        item = json.loads(read_plain(unit.file))
        rows = [_row(_QUOTED, item["quoted"])] if item.get("quoted") else []
        rows.append(_row(_OF_ITEM, item))
        if not _holds_anything(rows[-1]):
            return
        chat = _chat(item["chat"])
        people = dict(map(_account, filter(None, (item, item.get("quoted")))))
    except (ValueError, KeyError, TypeError, AttributeError):
        yield Failure("", "damaged", "the file is not a message of WAHA; run `relrag sync` again", whole_unit=True)
        return
    people[_OWN] = Account(reading.owner or "Me")
    transcript = Transcript(unit.path, reading, lambda _: chat, people.__getitem__, with_seconds=False)
    records = transcript.records(iter(rows))
    if len(rows) > 1:
        next(records)  # what is quoted is a record of its own file
    yield from records


def _holds_anything(row: StoredMessage) -> bool:
    """Whether a message has words, a file or a mark; a poll of which the server tells nothing has none."""
    return bool(row.text or row.extra or row.files)


def _chat(chat: Mapping[str, Any]) -> StoredChat:
    """A chat, by its subject if it is of a group, else by the other person."""
    person = database_rows.account(chat["person"]["account"], chat["person"]["name"]).name
    return StoredChat((chat["id"].endswith("@g.us") and chat["subject"]) or person, quoted={_KEY})


def _account(item: Mapping[str, Any]) -> tuple[str, Account]:
    """A sender, by the account."""
    sender = item["sender"]
    return sender["account"], database_rows.account(sender["account"], sender["name"])


def _row(number: int, item: Mapping[str, Any]) -> StoredMessage:
    """A message of an item, or the message that it quotes, as the reader of databases takes it."""
    message = item["message"]
    row = StoredMessage(
        number,
        0,
        int(message["timestamp"]) * 1000,
        _OWN if message.get("fromMe") else item["sender"]["account"],
        _text(message),
        "",
        None,
        _extra(message) or None,
    )
    if number == _QUOTED:
        return row._replace(key=_KEY)
    return row._replace(quoted=_KEY if item.get("quoted") else None, files=_files(message))


def _text(message: Mapping[str, Any]) -> str:
    """The words of a message, or its place as WhatsApp's exports have it."""
    if message.get("deleted"):
        return ""
    if point := message.get("location"):
        return database_rows.place_text(point["latitude"], point["longitude"], str(point.get("name") or ""))
    return str(message.get("body") or "")


def _extra(message: Mapping[str, Any]) -> Json:
    extra: Json = {name: True for name in ("edited", "deleted") if message.get(name)}
    if point := message.get("location"):
        extra["place"] = [point["latitude"], point["longitude"]]
    if message.get("vCards"):
        extra["media"] = "contact"
    return extra


def _files(message: Mapping[str, Any]) -> list[SentFile]:
    if message.get("vCards"):
        return [SentFile("contact.vcf", content_type="text/vcard")]
    return [_file(message.get("media") or {})] if message.get("hasMedia") else []


def _file(media: Mapping[str, Any]) -> SentFile:
    """A file that was sent; the server gives its type, and its name where it is a document."""
    content_type = str(media.get("mimetype") or "").partition(";")[0]
    return SentFile(str(media.get("filename") or content_type.partition("/")[0] or "file"), content_type=content_type)
