"""Messages as WAHA's API and its webhook give them, and the items of the mirror that hold them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from relrag_pipelines.sources.remote.mirror import Mirror, safe_component
from relrag_pipelines.sources.whatsapp.waha_item import SUFFIX

CHATS = ("@c.us", "@s.whatsapp.net", "@g.us", "@lid")
"""ends of the ids of chats; statuses and channels are not chats"""
REREAD_SECONDS = 3 * 86_400
"""WhatsApp lets a message be deleted for everyone for about two days; so long each fetch reads messages again"""
_SESSION = "default"
"""WAHA's own name for the session of an account"""
_FIELDS = ("id", "timestamp", "fromMe", "body", "hasMedia", "location", "vCards")


def session_of(url: str) -> str:
    """The session that the address of a source names by its last part."""
    return PurePosixPath(urlsplit(url).path).name or _SESSION


def fields_of(message: Mapping[str, Any], chat: str) -> dict[str, Any]:
    """What is stored of a message; who sent it has another name in each engine."""
    fields = {name: message[name] for name in _FIELDS if message.get(name)}
    senders = (message.get(name) for name in ("participant", "author", "from"))
    fields["sender"] = str(next(filter(None, senders), chat))
    if media := message.get("media"):
        fields["media"] = {name: media[name] for name in ("mimetype", "filename") if media.get(name)}
    return fields


def row_id(row: Mapping[str, Any]) -> str:
    """The id of a chat, contact or message: a text, or an object that some engines give."""
    own = row.get("id") or row.get("lid")
    return str(own.get("_serialized", "")) if isinstance(own, Mapping) else str(own or "")


def message_key(message: Mapping[str, Any]) -> str:
    """WhatsApp's own id of a message: the third part of `false_420601234567@c.us_3EB0965B12_123@c.us`."""
    parts = row_id(message).split("_")
    return parts[2] if len(parts) > 2 else parts[-1]


def plain_account(account: str) -> str:
    """An account in the one form that all engines share, without the number of a device."""
    user, _, server = account.partition("@")
    return f"{user.partition(':')[0]}@{'c.us' if server == 's.whatsapp.net' else server}"


def chat_folder(mirror: Mirror, chat: str) -> str:
    """The folder of a chat: a keyed hash, since the id of a chat is a phone number."""
    return "".join(filter(str.isalnum, mirror.hash_path(plain_account(chat))))


def item_path(folder: str, message: Mapping[str, Any]) -> str:
    """The path of a message's item in the mirror."""
    return f"{folder}/{int(message['timestamp'])}-{safe_component(message_key(message))}{SUFFIX}"


def item_body(
    chat: Mapping[str, Any],
    message: Mapping[str, Any],
    sender: Mapping[str, Any],
    quoted: Mapping[str, Any] | None = None,
) -> bytes:
    """The bytes of an item: a message with the names of its chat and its sender, and the message that it answers.

    Halves of surrogate pairs, which UTF-8 cannot hold, become question marks.
    """
    body = {"chat": chat, "message": message, "sender": sender} | ({"quoted": quoted} if quoted else {})
    return json.dumps(body, ensure_ascii=False, sort_keys=True).encode(errors="replace")
