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


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The record of a message, and one for each file that was sent with it."""
    try:
        item = json.loads(read_plain(unit.file))
        rows = [_row(1, item["quoted"])] if item.get("quoted") else []
        rows.append(_row(2, item))
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
    return StoredChat((chat["id"].endswith("@g.us") and chat["subject"]) or person, quoted={"quoted"})


def _account(item: Mapping[str, Any]) -> tuple[str, Account]:
    """A sender, by the account."""
    sender = item["sender"]
    return sender["account"], database_rows.account(sender["account"], sender["name"])


def _row(number: int, item: Mapping[str, Any]) -> StoredMessage:
    """A message of an item, or the message that it quotes, as the reader of databases takes it."""
    message = item["message"]
    extra: Json = {name: True for name in ("edited", "deleted") if message.get(name)}
    text, files = str(message.get("body") or ""), list[SentFile]()
    if place := message.get("location"):
        text = database_rows.place_text(place["latitude"], place["longitude"], str(place.get("name") or ""))
        extra["place"] = [place["latitude"], place["longitude"]]
    if message.get("vCards"):
        extra["media"] = "contact"
        files = [SentFile("contact.vcf", content_type="text/vcard")]
    elif message.get("hasMedia"):
        files = [_file(message.get("media") or {})]
    return StoredMessage(
        number,
        0,
        int(message["timestamp"]) * 1000,
        _OWN if message.get("fromMe") else item["sender"]["account"],
        "" if message.get("deleted") else text,
        "quoted" if number == 1 else "",
        "quoted" if number > 1 and item.get("quoted") else None,
        extra or None,
        () if number == 1 else files,
    )


def _file(media: Mapping[str, Any]) -> SentFile:
    """A file that was sent; the server gives its type, and its name where it is a document."""
    content_type = str(media.get("mimetype") or "").partition(";")[0]
    return SentFile(str(media.get("filename") or content_type.partition("/")[0] or "file"), content_type=content_type)
