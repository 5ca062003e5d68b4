"""Exports in JSON: conversations whose fields stand around an array of messages.

`pieces` streams a file as runs of messages, each with the fields of its conversation; `read_messages` turns them into
records by a function of the kind that reads one message, and reports the messages that it cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO

from relrag_pipelines.records import Failure, Json
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.chats.export_files import Item
from relrag_pipelines.sources.chats.json_stream import Begin, Damage, Items, JsonStream, Value
from relrag_pipelines.sources.chats.message import Conversation, Message, file_records, message_record
from relrag_pipelines.sources.formats.json_fields import WrongValueError, type_of

LONGEST_CONVERSATION = 2**26
"""bytes of a conversation that is read as a whole, above which it is left out"""
COUNT = "#"
"""the field with the number of messages of a conversation, where the file was read twice"""
Piece = tuple[Json, Items | Damage]
"""fields of a conversation, one object for all its pieces, and messages of it or a fault"""
OpenFile = Callable[[], BinaryIO]
ReadMessage = Callable[[Json, int], Message | None]
"""one message and its position in the file, from 1; None for what is no message. May raise what `_FAULTS` lists"""
_FAULTS = (TypeError, ValueError, KeyError, AttributeError, IndexError, OverflowError, RecursionError)
"""what reading a message raises whose fields have other types than the format has"""


def pieces(
    open_file: OpenFile, messages: str, walked: frozenset[str] = frozenset(), needed: frozenset[str] = frozenset()
) -> Iterator[Piece]:
    """The messages of each conversation, in the order of the file.

    `messages` is the name of the array that holds them, `walked` are arrays of conversations. A conversation begins
    with each object in one of those; without any, the file is one conversation. Names of its fields are joined by
    dots. Where fields that are `needed` stand behind the messages, the file is read once more for them.
    """
    late: list[Json] | None = None
    for ordinal, fields, event in _events(open_file, messages, walked):
        if isinstance(event, Items) and not needed <= fields.keys():
            late = _late_fields(open_file, messages, walked) if late is None else late
            fields.update(late[ordinal])
        yield fields, event


def _late_fields(open_file: OpenFile, messages: str, walked: frozenset[str]) -> list[Json]:
    """The fields of every conversation of a file, those behind its messages too, and how many messages it has."""
    rows: list[Json] = []
    for ordinal, fields, event in _events(open_file, messages, walked, with_end=True):
        del rows[ordinal:]
        rows.append(fields)
        if isinstance(event, Items):
            fields[COUNT] = fields.get(COUNT, 0) + len(event.items)
    return rows


def _events(
    open_file: OpenFile, messages: str, walked: frozenset[str], *, with_end: bool = False
) -> Iterator[tuple[int, Json, Items | Damage]]:
    """Ordinal and fields of a conversation with its messages and faults; at its end once more without, if asked for."""
    ordinal, fields, depth = 0, Json(), 0
    nothing = Items((), 0, [])
    with open_file() as stream:
        for event in JsonStream(stream, walked).events():
            if isinstance(event, Begin):
                if depth and with_end:
                    yield ordinal, fields, nothing
                ordinal, fields, depth = ordinal + (depth > 0), {}, len(event.path)
            elif isinstance(event, Value):
                fields[".".join(event.path[depth:])] = event.value
            elif isinstance(event, Damage) or event.path[-1:] == (messages,) or not event.path:
                yield ordinal, fields, event
            else:
                _add_items(fields, ".".join(event.path[depth:]), event)
    if with_end:
        yield ordinal, fields, nothing


def _add_items(fields: Json, name: str, event: Items) -> None:
    """Adds an array to the fields of a conversation; a long one comes in several runs. Of arrays with one name the
    first counts."""
    items = fields.setdefault(name, [])
    if type(items) is list and event.first == len(items) + 1:
        items.extend(event.items)


def whole_items(open_file: OpenFile, offset: int = 0) -> Iterator[tuple[int, Any] | Damage]:
    """The items of an array that begins at that offset of a file, each with its position from 1, and faults.

    For conversations that have to be read as a whole, and for items that are conversations and messages alike.
    """
    with open_file() as stream:
        stream.read(offset)
        for event in JsonStream(stream, longest=LONGEST_CONVERSATION).events():
            if isinstance(event, Items):
                yield from enumerate(event.items, event.first)
            elif isinstance(event, Damage):
                yield event


def read_messages(
    conversation: Conversation, items: Items, read_message: ReadMessage, reading: ReadContext, member: str
) -> Iterator[Item]:
    """Records of messages in a row and of the files sent with them; a Failure for each that cannot be read."""
    hash_id, prefix = reading.hash, conversation.message_prefix
    for position, item in enumerate(items.items, items.first):
        try:
            if type(item) is not dict:
                raise WrongValueError(f"found {type_of(item)}, wanted an object")
            message = read_message(item, position)
            if message is None:
                continue
            record = message_record(conversation, message)
        except WrongValueError as error:
            yield Failure(f"{member} message {position}".strip(), error.fault, f"{error}; the message is left out")
            continue
        except _FAULTS as error:
            why = f"a field has another type than in this format ({type(error).__name__}); the message is left out"
            yield Failure(f"{member} message {position}".strip(), "wrong_type", why)
            continue
        yield from _faults_of(message, f"{member} message {position}".strip())
        if message.files:
            further = file_records(record, f"{prefix}:{message.id}", message.files, hash_id)
            yield record
            yield from further
        else:
            yield record


NO_SUCH_TIME = "there is no such date or time; the message is kept undated"
_NO_TEXT = "its content has no text that can be read; the message is kept without"


def _faults_of(message: Message, location: str) -> Iterator[Failure]:
    """Failures of a message that is kept."""
    if message.ts is None:
        yield Failure(location, "date", NO_SUCH_TIME)
    if message.lacks_text:
        yield Failure(location, "no_text", _NO_TEXT)


def damage_failure(damage: Damage, member: str) -> Failure:
    """The failure for what is no JSON; deletions cannot be told where the rest of a file was not read."""
    item = f"message {damage.position}" if damage.position else ""
    return Failure(f"{member} {item}".strip(), damage.fault, damage.message, whole_unit=damage.fatal)


def string(item: Json, name: str) -> str:
    """A field that is a string; empty where it is missing or null."""
    value = item.get(name)
    if value is None:
        return ""
    if type(value) is not str:
        raise WrongValueError(f"{name}: found {type_of(value)}, wanted a string")
    return value


def objects(item: Json, name: str) -> list[Json]:
    """A field that is a list of objects; other values in it are left out."""
    value = item.get(name)
    return [part for part in value if type(part) is dict] if type(value) is list else []


def mapping(item: Json, name: str) -> Json:
    """A field that is an object; empty where it is missing or something else."""
    value = item.get(name)
    return value if type(value) is dict else {}


def identifier(item: Json, name: str) -> str:
    """A field that is an id: a string, or a whole number as its digits. Raises WrongValueError where it is missing."""
    value = item.get(name)
    if type(value) is int:
        return str(value)
    if type(value) is str and value:
        return value
    raise WrongValueError(f"{name}: found {type_of(value)}, wanted an id", "missing_id")


def iso_seconds(item: Json, name: str) -> int | None:
    """Seconds UTC of a field in ISO 8601, in UTC where it names no zone; None for what is no time."""
    try:
        moment = datetime.fromisoformat(string(item, name))
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def seconds(value: Any, per_second: int = 1) -> int | None:
    """Seconds UTC of a number, or of its digits, in seconds or a fraction; None for what is no time."""
    try:
        number = int(value) // per_second
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 < number < 2**40 else None
