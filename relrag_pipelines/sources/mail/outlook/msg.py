"""Reads a mail that Outlook saved as .msg: its properties, from a compound file.

The format is MS-OXMSG: properties of fixed length stand in one stream, each other one in a stream named by its number
and type; recipients, attachments, and messages that are attached have storages of their own. python-oxmsg, the
permissive library for it, reads no message that is attached, and raises where a text is not in the charset it names.
"""

from __future__ import annotations

import re
import struct

from relrag_pipelines.sources.mail.mime import MAX_DEPTH, Part
from relrag_pipelines.sources.mail.outlook import mapi_properties
from relrag_pipelines.sources.mail.outlook.cfb import SIGNATURE, Compound, CompoundError, Storage, Stream
from relrag_pipelines.sources.mail.outlook.mapi_properties import Attachment, OutlookMessage, Properties

__all__ = ["SIGNATURE", "CompoundError", "parse"]

_FIXED = "__properties_version1.0"
_ENTRY = struct.Struct("<HHL8s")
_LONG = re.compile(r"__substg1\.0_([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})")
_ATTACHED_MESSAGE = "__substg1.0_3701000D"
_RECIPIENT, _ATTACHMENT = "__recip_version1.0_#", "__attach_version1.0_#"
_HEAD, _HEAD_OF_ATTACHED, _HEAD_OF_OTHERS = 32, 24, 8
"""bytes before the properties of fixed length: of the mail, of a message that is attached, of anything else"""
_METHOD_MESSAGE = 5


def parse(data: bytes, depth: int = 0) -> Part:
    """The mail in a .msg file, nested `depth` parts deep. Raises CompoundError if it is not one, or damaged."""
    file = Compound(data)
    if _FIXED not in file.root.streams:
        raise CompoundError("it is a compound file without a mail in it")
    return mapi_properties.mail_of(_message(file, file.root, _HEAD, depth), data, depth)


def _message(file: Compound, storage: Storage, head: int, depth: int) -> OutlookMessage:
    properties = _properties(file, storage, head)
    charset = properties.charset = mapi_properties.charset_of(properties)
    inside = sorted(storage.storages.items())
    recipients = [nested_storage for name, nested_storage in inside if name.startswith(_RECIPIENT)]
    attachments = [nested_storage for name, nested_storage in inside if name.startswith(_ATTACHMENT)]
    return OutlookMessage(
        properties,
        [_properties(file, nested_storage, _HEAD_OF_OTHERS, charset) for nested_storage in recipients],
        [_attachment(file, nested_storage, charset, depth) for nested_storage in attachments],
    )


def _attachment(file: Compound, storage: Storage, charset: str, depth: int) -> Attachment:
    properties = _properties(file, storage, _HEAD_OF_OTHERS, charset)
    inside = storage.storages.get(_ATTACHED_MESSAGE)
    if inside is None or properties.number(mapi_properties.METHOD) != _METHOD_MESSAGE or _FIXED not in inside.streams:
        return Attachment(properties)
    if depth + 2 > MAX_DEPTH:
        return Attachment(properties, too_deep=True)
    return Attachment(properties, _message(file, inside, _HEAD_OF_ATTACHED, depth + 2))


def _properties(file: Compound, storage: Storage, head: int, charset: str = "cp1252") -> Properties:
    """Those properties of a storage that are read; what is missing of them is noted."""
    properties = Properties(charset=charset)
    for name, stream in storage.streams.items():
        long = _LONG.fullmatch(name)
        if long and (number := int(long[1], 16)) in mapi_properties.WANTED:
            kind = int(long[2], 16)
            if kind == mapi_properties.TEXT and number in properties.values:
                continue  # it stands there as Unicode too
            properties.values[number] = (kind, _read(file, stream, properties))
    fixed = _read(file, storage.streams[_FIXED], properties)[head:] if _FIXED in storage.streams else b""
    for kind, number, _, value in _ENTRY.iter_unpack(fixed[: len(fixed) // _ENTRY.size * _ENTRY.size]):
        if kind in (mapi_properties.INTEGER, mapi_properties.TIME) and number in mapi_properties.WANTED:
            properties.values.setdefault(number, (kind, value))
    return properties


def _read(file: Compound, stream: Stream, properties: Properties) -> bytes:
    try:
        return file.read(stream)
    except CompoundError:
        properties.damaged = True
        return b""
