"""New messages that a WAHA server sends to `relrag serve`, stored in the mirror for the next sync.

A message is stored once, with the names that stored messages of its chat have; the next fetch brings them up to date.
That fetch also follows edits and deletions, and reads messages that are too old for this. Nothing is replaced, so an
event that is sent twice does no harm.
API: https://waha.devlike.pro/docs/how-to/events/
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from relrag_pipelines.sources.remote import Mirror
from relrag_pipelines.sources.whatsapp.waha_item import SUFFIX
from relrag_pipelines.sources.whatsapp.waha_message import (
    CHATS,
    REREAD_SECONDS,
    chat_folder,
    fields_of,
    item_body,
    item_path,
    message_key,
    plain_account,
    row_id,
    session_of,
)

SIGNATURE, ALGORITHM = "X-Webhook-Hmac", "sha512"
"""header with the HMAC of the body in hex digits, and its hash"""
_EVENTS = ("message", "message.any")


def store_event(mirror: Mirror, url: str, body: bytes, now: int) -> bool:
    """Stores the message of an event; False if it has none to store.

    `url` is the address of the source, which names the session, and `now` the time, seconds UTC.

    Raises ValueError, TypeError, LookupError or AttributeError for a body of an unexpected form.
    """
    event = json.loads(body)
    if event["event"] not in _EVENTS or event["session"] != session_of(url):
        return False
    message = event["payload"]
    chat, age = _chat_of(message), now - int(message["timestamp"])
    if not chat.endswith(CHATS) or not message_key(message) or abs(age) > REREAD_SECONDS:
        return False
    folder = chat_folder(mirror, chat)
    path = item_path(folder, message)
    if not mirror.needs(path):
        return False
    fields, known_chat = fields_of(message, chat), _stored_chat(mirror, folder, chat)
    sender = {"account": plain_account(fields["sender"]), "name": ""}
    if sender["account"] == known_chat["person"]["account"]:
        sender = known_chat["person"]
    mirror.write(path, item_body(known_chat, fields, sender))
    return True


def _chat_of(message: Mapping[str, Any]) -> str:
    """The id of the chat of a message: part of the message's id, else the other account."""
    parts = row_id(message).split("_")
    if len(parts) > 2 and "@" in parts[1]:
        return parts[1]
    return str(message["to" if message.get("fromMe") else "from"])


def _stored_chat(mirror: Mirror, folder: str, chat: str) -> dict[str, Any]:
    """The chat as its newest item has it; without names if no item is stored."""
    names = [file.name for file in (mirror.items / folder).glob(f"*{SUFFIX}")]
    try:
        return dict(json.loads(mirror.read(f"{folder}/{max(names)}"))["chat"])
    except (ValueError, TypeError, LookupError):
        return {"id": chat, "subject": "", "person": {"account": plain_account(chat), "name": ""}}
