"""SMS, MMS and calls of Android, as the app SMS Backup & Restore writes them: XML, or a zip of it.

Each message is an element `sms`, or `mms` with its parts and addresses; each call is an element `call`, and a notice in
the conversation with its number. Fields:
https://www.synctech.com.au/sms-backup-restore/fields-in-xml-backup-files/. The app writes an emoji as the two halves of
a surrogate pair, `&#55357;&#56832;`, which is no XML, so tags are read one by one: a damaged message does not concern
the others. The bytes of pictures, most of such a file, are skipped as a stream.

A message has no id; it is identified by its time in milliseconds, its direction and its text, in the conversation of
its addresses.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from relrag_pipelines.records import Failure, Json, NamedPerson
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item
from relrag_pipelines.sources.chats.json_chats import NO_SUCH_TIME, seconds
from relrag_pipelines.sources.chats.message import Conversation, Message, SentFile, records

_BLOCK = 2**18
_MAX_TAG_BYTES = 2**22
"""bytes of one tag, without a picture, above which it is left out"""
_ROOT = re.compile(rb"<smses\b|<calls\s[^<>]*\bcount=|<(?:sms|mms)\s[^<>]*\bdate=")
_TAG = re.compile(rb"<(/?)(smses|sms|mms|part|addr|calls|call)\b((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>")
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_PICTURE = re.compile(rb'(?<=\sdata=")[A-Za-z0-9+/=\s]++')
_PICTURE_REST = re.compile(rb"[A-Za-z0-9+/=\s]*+")
_BEGINS_PICTURE = re.compile(rb'\sdata="[A-Za-z0-9+/=\s]*+\Z')
_HALF = re.compile(r"&#(\d{5});|&#[xX]([dD][89a-fA-F][0-9a-fA-F]{2});")
"""an emoji's half as a number"""
_NAMELESS = frozenset({"", "null", "(Unknown)"})
_FROM = "137"
"""type of the address that sent an MMS; others received it"""
_TOKEN = "insert-address-token"  # noqa: S105
"""what stands for the owner's own number"""
_SENT = frozenset({"2", "3", "4", "5", "6"})
"""sent, draft, in the outbox, failed, queued"""
_STATES = {"3": "draft", "4": "not_sent", "5": "not_sent", "6": "not_sent"}


_ROOTS = ("smses", "calls")
_CALLS = {
    "1": "{name} called, {seconds} s",
    "2": "{owner} called {name}, {seconds} s",
    "3": "{name} called, and nobody answered",
    "4": "{name} left a voice message, {seconds} s",
    "5": "{name} called, and {owner} declined",
    "6": "{name} called, and was blocked",
}
"""type of a call -> what it says"""
_ANY_CALL = "a call with {name}, {seconds} s"


def is_backup(head: bytes) -> bool:
    """Whether a file begins with messages in this form."""
    return _ROOT.search(head) is not None


def is_of_signal(head: bytes) -> bool:
    """Whether Signal wrote it: its plaintext backup has the same form."""
    return b"Created By Signal" in head


MessageId = Callable[[int | None, bool, str, int], str]
"""the id of a message by its time in seconds, whether the owner sent it, its text and the number of its files"""


def read_backup(
    kind: str,
    files: ExportFiles,
    path: str,
    reading: ReadContext,
    message_id: MessageId | None = None,
    message_key: str = "",
) -> Iterator[Item]:
    """The messages of a file, as records of a kind; `message_id` and `message_key` make ids of another kind."""
    position, ends = 0, False
    with files.open(path) as stream:
        for element in _elements(stream):
            if element is None:
                ends = True
                continue
            position += 1
            location = f"{files.member(path)} message {position}".strip()
            ts = seconds(element.fields.get("date"), 1000)
            if ts is None:
                yield Failure(location, "date", NO_SUCH_TIME)
            conversation = _conversation(kind, element, files.location(path), reading)
            make = _call if element.is_call else _message
            message = make(element, ts, position, reading)
            if message_id:
                message.id = message_id(ts, element.is_sent, message.text, len(message.files))
                conversation = replace(conversation, message_key=message_key)
            yield from records(conversation, message, reading.hash)
    if not ends:
        why = "the file ends before it should; export it again"
        yield Failure(files.member(path), "truncated", why, whole_unit=True)


@dataclass
class _Element:
    """A message with its parts and addresses, as attributes."""

    fields: Json
    is_mms: bool
    is_call: bool = False
    parts: list[Json] = field(default_factory=list)
    addresses: list[Json] = field(default_factory=list)

    def add(self, name: str, fields: Json) -> None:
        """Adds the attributes of an element within it."""
        if name == "part":
            self.parts.append(fields)
        elif name == "addr":
            self.addresses.append(fields)

    @property
    def people(self) -> Mapping[str, str]:
        """Address -> name of everyone else in the conversation; the address itself where the phone knows no name."""
        addresses = [
            part.strip()
            for part in self.fields.get("number" if self.is_call else "address", "").split("~")
            if part.strip() not in _NAMELESS
        ]
        name = self.fields.get("contact_name", "").strip()
        names = [name] if len(addresses) == 1 else [part.strip() for part in name.split(",")]
        if len(names) != len(addresses):
            names = [""] * len(addresses)
        return {address: address if name in _NAMELESS else name for address, name in zip(addresses, names, strict=True)}

    @property
    def is_sent(self) -> bool:
        """Whether the phone's owner wrote it."""
        return self.fields.get("msg_box" if self.is_mms else "type", "") in _SENT


def _elements(stream: BinaryIO) -> Iterator[_Element | None]:
    """The messages of a file; None for the end of them all."""
    mms: _Element | None = None
    for closing, name, fields in _tags(stream):
        if name in _ROOTS and (closing or "count" not in fields):
            yield None
        elif name == "sms" and not closing:
            yield _Element(fields, is_mms=False)
        elif name == "call" and not closing:
            yield _Element(fields, is_mms=False, is_call=True)
        elif name == "mms" and not closing:
            mms = _Element(fields, is_mms=True)
        elif name == "mms" and mms:
            yield mms
            mms = None
        elif mms and not closing:
            mms.add(name, fields)


def _tags(stream: BinaryIO) -> Iterator[tuple[bool, str, Json]]:
    """The tags of a file: whether it closes an element, its name and attributes."""
    rest = b""
    for block in _without_pictures(stream):
        rest += block
        position = 0
        for match in _TAG.finditer(rest):
            position = match.end()
            attributes = match[3].decode("utf-8", "replace")
            yield bool(match[1]), match[2].decode(), _attributes(attributes)
        rest = rest[max(position, len(rest) - _MAX_TAG_BYTES) :]


def _without_pictures(stream: BinaryIO) -> Iterator[bytes]:
    """The file in blocks, without the bytes of pictures."""
    is_within, rest = False, b""
    while block := stream.read(_BLOCK):
        if is_within:
            match = _PICTURE_REST.match(block)
            block = block[match.end() :] if match else block
            if not block:
                continue
        block = _PICTURE.sub(b"", rest + block)
        is_within = _BEGINS_PICTURE.search(block, max(0, len(block) - 16)) is not None
        # what may be the beginning of the mark of a picture waits for the next block
        cut = len(block) if is_within else max(0, len(block) - 8)
        rest = block[cut:]
        yield block[:cut]
    yield rest


def _attributes(text: str) -> Json:
    return {match[1]: _unescaped(match[2] or match[3] or "") for match in _ATTRIBUTE.finditer(text)}


def _unescaped(value: str) -> str:
    if "&" not in value:
        return value
    # halves of a pair become their letter when the text is cleaned, which html.unescape would not leave a chance
    halves = _HALF.sub(lambda match: _half(int(match[1]) if match[1] else int(match[2], 16)) or match[0], value)
    return html.unescape(halves).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _half(number: int) -> str:
    return chr(number) if 0xD800 <= number < 0xE000 else ""


def _conversation(kind: str, element: _Element, location: str, reading: ReadContext) -> Conversation:
    return conversation_with(kind, element.people, location, reading)


def conversation_with(kind: str, people: Mapping[str, str], location: str, reading: ReadContext) -> Conversation:
    """The conversation with people, by address: the last digits of each, as a number has them in all its forms."""
    keys = sorted({_short(address) for address in people})
    return Conversation(kind, reading.hash(f"addresses {' '.join(keys)}"), ", ".join(people.values()), f"{location}#")


def _short(address: str) -> str:
    digits = re.sub(r"\D", "", address)
    return digits[-9:] if len(digits) >= 9 else address.casefold()


def _message(element: _Element, ts: int | None, position: int, reading: ReadContext) -> Message:
    fields = element.fields
    owner = reading.owner or "Me"
    text = _full_text(element)
    files = tuple(_files(element))
    sender = owner if element.is_sent else _sender(element)
    # a receiver's phone number is part of the conversation already
    identity = f"{'sent' if element.is_sent else 'received'} {text} {' '.join(file.name for file in files)}"
    own_id = f"{fields.get('date') or 0}:{reading.hash(identity)}"
    message = Message(own_id, text, sender, ts, f"M{position}", files=files, extra={})
    message.people = tuple(_named_people(element, sender))
    message.to = tuple(element.people.values()) if element.is_sent else (owner,)
    if state := "" if element.is_mms else _STATES.get(fields.get("type", ""), ""):
        message.extra = {state: True}
    return message


def _call(element: _Element, ts: int | None, position: int, reading: ReadContext) -> Message:
    """The notice of a call."""
    fields, owner = element.fields, reading.owner or "Me"
    name = ", ".join(element.people.values()) or "unknown"
    length = fields.get("duration", "") or "0"
    kind = str(fields.get("type", ""))
    text = call_text(kind, name, owner, length)
    own_id = f"{fields.get('date') or 0}:{reading.hash(f'call {kind} {length}')}"
    return Message(own_id, text, None, ts, f"M{position}", extra={"call": True})


def call_text(kind: str, name: str, owner: str, length: str) -> str:
    """What a notice says of a call, by the number that Android has for its type; `length` in seconds."""
    return _CALLS.get(kind, _ANY_CALL).format(name=name, owner=owner, seconds=length)


def _full_text(element: _Element) -> str:
    """Subject, text and plain text parts of a message, a line each."""
    text = "" if element.is_mms else _value(element.fields, "body")
    parts = [_value(part, "text") for part in element.parts if part.get("ct") == "text/plain"]
    subject = _value(element.fields, "sub" if element.is_mms else "subject")
    return "\n".join(filter(None, (subject, text, *parts)))


def _named_people(element: _Element, sender: str) -> Iterator[NamedPerson]:
    """The recipients of a sent message, or the sender of a received one, if the phone has a name for their address."""
    role = "recipient" if element.is_sent else "sender"
    for address, name in element.people.items():
        if name != address and (element.is_sent or name == sender):
            yield NamedPerson(role, f"{name} {address}")


def _sender(element: _Element) -> str:
    """The name of who sent a message that was received."""
    people = element.people
    sent_from = [row.get("address", "") for row in element.addresses if row.get("type") == _FROM]
    address = next((sender for sender in sent_from if sender not in (*_NAMELESS, _TOKEN)), next(iter(people), ""))
    by_key = {_short(own): name for own, name in people.items()}
    return by_key.get(_short(address), address) or "unknown"


def _files(element: _Element) -> Iterator[SentFile]:
    """Pictures and other parts by name; where an MMS has none, by their place and type."""
    for part in element.parts:
        kind = _value(part, "ct")
        if kind in ("text/plain", "application/smil", ""):
            continue
        name = next(filter(None, (_value(part, name) for name in ("cl", "name", "fn"))), "")
        yield SentFile(name or f"part {part.get('seq', '0')}.{kind.rpartition('/')[2]}", content_type=kind)


def _value(fields: Json, name: str) -> str:
    """An attribute; the app writes `null` for none."""
    value = fields.get(name, "")
    return "" if value == "null" else str(value)
