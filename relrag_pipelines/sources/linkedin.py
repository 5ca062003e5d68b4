"""Messages of LinkedIn: messages.csv of "Get a copy of your data", in the zip or unpacked.

A row is a message: conversation, sender, recipients, date in UTC, subject, content, folder. Rows have no ids; one is
identified by its time, its sender and its content. InMail is HTML. Connections.csv beside it is read as contacts.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from relrag_pipelines.records import Json
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats import export_files
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item
from relrag_pipelines.sources.chats.json_chats import damage_failure, read_messages, string
from relrag_pipelines.sources.chats.json_stream import Damage, Items
from relrag_pipelines.sources.chats.message import Conversation, Message
from relrag_pipelines.sources.chats.tables import table_rows
from relrag_pipelines.sources.formats.html_spacing import tidy
from relrag_pipelines.sources.formats.html_text import HtmlTextReader

_KIND = "linkedin"
_HEADER = re.compile(rb'\A(?:\xef\xbb\xbf)?"?CONVERSATION ID"?,"?CONVERSATION TITLE"?,"?FROM"?,')
_ADDRESS = re.compile(r"[^\s,;]+")
_MARKUP = re.compile(r"</\w+>|<br\s*/?>")
_DRAFT = ("yes", "true")


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit."""
    yield from export_files.read_export(unit, reading, _holds_messages, _read_file)


def recognise(file: Path) -> bool:
    """Whether a file begins like messages.csv."""
    return export_files.recognises(file, _holds_messages)


def _holds_messages(path: str, head: bytes) -> bool:
    return _HEADER.match(head) is not None


def _read_file(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    member, location = files.member(path), f"{files.location(path)}#"
    read_message = functools.partial(_message, reading)
    for part in table_rows(functools.partial(files.open, path)):
        if isinstance(part, Damage):
            yield damage_failure(part, member)
        else:
            position, row = part
            conversation = _conversation(row, location, reading)
            yield from read_messages(conversation, Items((), position, [row]), read_message, reading, member)


def _conversation(row: Json, location: str, reading: ReadContext) -> Conversation:
    """The conversation of a row; without a title it is called by its people, the owner left out."""
    people = dict.fromkeys(filter(None, (string(row, "FROM"), *_recipients(row))))
    title = string(row, "CONVERSATION TITLE") or ", ".join(sorted(people.keys() - {reading.owner}))
    return Conversation(_KIND, reading.hash(f"conversation {string(row, 'CONVERSATION ID')}"), title or _KIND, location)


def _recipients(row: Json) -> list[str]:
    """The names of the recipients. Names hold commas too: `Jane Doe, MBA`, so their addresses are counted."""
    written = string(row, "TO").strip()
    names = [name.strip() for name in written.split(",") if name.strip()]
    addresses = _ADDRESS.findall(string(row, "RECIPIENT PROFILE URLS"))
    return [written] if written and len(addresses) == 1 else names


def _message(reading: ReadContext, row: Json, position: int) -> Message:
    date, sender = string(row, "DATE"), string(row, "FROM")
    content = string(row, "CONTENT")
    if _MARKUP.search(content):
        content = tidy("".join(HtmlTextReader(content).read()))
    text = "\n".join(filter(None, (string(row, "SUBJECT"), content)))
    own_id = reading.hash(f"{date} {string(row, 'SENDER PROFILE URL') or sender} {text}")
    message = Message(own_id, text, sender or "unknown", _time(date), f"M{position}", to=tuple(_recipients(row)))
    if string(row, "IS MESSAGE DRAFT").lower() in _DRAFT:
        message.extra = {"draft": True}
    return message


def _time(date: str) -> int | None:
    """`2024-03-05 10:11:12 UTC`."""
    try:
        return int(datetime.strptime(date, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None
