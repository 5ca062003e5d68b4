"""Mirrors the chats of a WAHA server, the WhatsApp HTTP API, which many people run beside their phone.

One item is one message, `<keyed hash of the chat>/<time>-<WhatsApp's id>.waha`, so that forgetting a message withholds
that message alone. The first fetch of a chat reads all that the server has; later ones read the last days, in which
messages may still be edited or deleted for everyone. A message goes only if the server does not have it by its id. A
chat that the server no longer lists stays: after a new login WAHA lists only what the phone sends it again.
API: https://waha.devlike.pro/docs/how-to/chats/
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

from relrag_pipelines.sources.remote import FetchError, Mirror, Server, readable_answers
from relrag_pipelines.sources.remote.http_client import HttpClient, Limits, UnexpectedStatusError
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

_PAGE = 100
_NOT_FOUND, _LOGGED_OUT = 404, (401, 403)
_UNTIL, _WHOLE, _NAMES, _LISTS = "until", "whole", "names", "lists"
"""parts of the cursor: the newest message, the chats that were read to their beginning, a hash of all names, and the
lists that had rows"""


def fetch(server: Server, mirror: Mirror, limits: Limits | None = None) -> None:
    """Brings the mirror up to date. Raises FetchError; what was mirrored before stays."""
    key = server.secret()
    parts = urlsplit(server.url)
    session = session_of(server.url)
    base = f"{parts.scheme}://{parts.netloc}/api"
    client = HttpClient(
        base, lambda: {"X-Api-Key": key}, server.secret_name, limits or Limits(), ca_file=server.ca_file
    )
    try:
        with readable_answers(client.host):
            _Fetch(server, mirror, client, session).run()
    finally:
        client.close()


@dataclass
class _People:
    """What the server knows of accounts."""

    names: dict[str, str] = field(default_factory=dict)
    """account -> the name in the address book, else the one that its holder gave it"""
    numbers: dict[str, str] = field(default_factory=dict)
    """account that hides its number -> the account that is its number"""

    def of_account(self, account: str) -> dict[str, str]:
        """An account as items hold it: by its number where that is known, with its name."""
        own = plain_account(account)
        number = self.numbers.get(own, own)
        return {"account": number, "name": self.names.get(number) or self.names.get(own, "")}


class _Fetch:
    """One fetch from a server."""

    def __init__(self, server: Server, mirror: Mirror, client: HttpClient, session: str) -> None:
        self._server, self._mirror, self._client, self._session = server, mirror, client, session
        self._people = _People()
        self._subjects: dict[str, str] = {}
        """id of a chat -> its name on the server"""
        self._paths: dict[str, dict[str, str]] = {}
        """folder of a chat -> id of a message -> path of its item"""
        for path in sorted(mirror.paths()):
            self._paths.setdefault(path.partition("/")[0], {})[_key_of_path(path)] = path
        self._since = int(mirror.cursor.get(_UNTIL, 0)) - REREAD_SECONDS
        self._newest = int(mirror.cursor.get(_UNTIL, 0))

    def run(self) -> None:
        """All steps."""
        self._require_login()
        self._people = self._read_people()
        overview = self._pages(f"{self._session}/chats/overview", {})
        chats = {row_id(chat): chat for chat in overview if row_id(chat).endswith(CHATS)}
        self._subjects = {chat: str(row["name"]) for chat, row in chats.items() if row.get("name")}
        self._rename()
        for number, (chat, row) in enumerate(chats.items(), start=1):
            self._mirror_chat(chat, row.get("lastMessage") or {})
            self._mirror.save()
            self._server.report(number, 0)
        self._mirror.cursor[_UNTIL] = self._newest
        self._mirror.save()

    def _require_login(self) -> None:
        status = str(self._client.get_json(f"sessions/{quote(self._session)}").get("status"))
        if status != "WORKING":
            raise FetchError(
                f"session {self._session} of {self._client.host} is {status}, not WORKING; "
                "log in to WhatsApp on WAHA's dashboard (nothing was removed)"
            )

    def _pages(self, path: str, query: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """The rows of all pages. A page of rows that all came before ends them: some engines know no offset."""
        seen: set[str] = set()
        for offset in range(0, self._client.limits.requests * _PAGE, _PAGE):
            rows = self._client.get_json(path, {**query, "limit": _PAGE, "offset": offset})
            if not isinstance(rows, list):
                raise FetchError(f"{self._client.host} answers {path.split('/')[-1]} with something else than a list")
            fresh = [row for row in rows if row_id(row) not in seen]
            seen.update(map(row_id, fresh))
            yield from fresh
            if not fresh:
                return

    def _read_people(self) -> _People:
        people = _People()
        for row in self._optional("contacts/all", {"session": self._session}):
            if name := str(row.get("name") or row.get("pushname") or ""):
                people.names[plain_account(row_id(row))] = name
        for row in self._optional(f"{self._session}/lids", {}):
            if row.get("lid") and row.get("pn"):
                people.numbers[plain_account(str(row["lid"]))] = plain_account(str(row["pn"]))
        return people

    def _optional(self, path: str, query: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The rows of a list that not every engine of WAHA has.

        Raises FetchError if a list that had rows has none: names are part of ids, and all messages would get new ones.
        """
        rows: list[Mapping[str, Any]] = []
        try:
            rows = list(self._pages(path, query))
        except UnexpectedStatusError as refused:
            if refused.status in _LOGGED_OUT:
                raise
        filled = self._mirror.cursor.setdefault(_LISTS, [])
        if rows and path not in filled:
            filled.append(path)
        if not rows and path in filled:
            raise FetchError(f"{self._client.host} has no {path} any more; nothing was changed, and the next sync asks")
        return rows

    def _rename(self) -> None:
        """Writes anew the items whose names have changed."""
        names = (self._people.names, self._people.numbers, self._subjects)
        fingerprint = self._mirror.hash_path(json.dumps(names, sort_keys=True))
        if self._mirror.cursor.get(_NAMES) == fingerprint:
            return
        for paths in self._paths.values():
            for path in paths.values():
                item = self._stored(path)
                if item:
                    self._write(path, item["chat"], item["message"], item.get("quoted"))
        self._mirror.cursor[_NAMES] = fingerprint

    def _mirror_chat(self, chat: str, last: Mapping[str, Any]) -> None:
        folder = chat_folder(self._mirror, chat)
        stored = self._paths.setdefault(folder, {})
        is_whole = folder in self._mirror.cursor.setdefault(_WHOLE, [])
        if is_whole and message_key(last) in stored and int(last.get("timestamp") or 0) < self._since:
            return
        query: dict[str, Any] = {"downloadMedia": "false"}
        if is_whole:
            query["filter.timestamp.gte"] = self._since
        listed: set[str] = set()
        replies: dict[str, str] = {}
        for message in self._pages(f"{self._session}/chats/{quote(chat)}/messages", query):
            key = message_key(message)
            listed.add(key)
            stored.setdefault(key, item_path(folder, message))
            self._store(stored[key], chat, message)
            if answered := message_key(message.get("replyTo") or {}):
                replies[key] = answered
        self._quote(stored, replies)
        if is_whole:
            self._remove_deleted(chat, stored, listed)
        else:
            self._mirror.cursor[_WHOLE] = sorted({*self._mirror.cursor[_WHOLE], folder})

    def _store(self, path: str, chat: str, message: Mapping[str, Any]) -> None:
        """Stores a message, unless it is stored or withheld; one whose words have gone is one that was deleted."""
        self._newest = max(self._newest, int(message["timestamp"]))
        item = self._stored(path)
        fields = fields_of(message, chat)
        fields |= _changes(item.get("message", {}), fields)
        self._write(path, item.get("chat", {"id": chat}), fields, item.get("quoted"))

    def _write(
        self, path: str, chat: Mapping[str, Any], message: Mapping[str, Any], quoted: Mapping[str, Any] | None
    ) -> None:
        """Stores an item with the present names; a chat without a name on the server keeps its former one."""
        subject = self._subjects.get(chat["id"]) or chat.get("subject", "")
        known_chat = {"id": chat["id"], "subject": subject, "person": self._people.of_account(chat["id"])}
        if quoted:
            quoted = {**quoted, "sender": self._people.of_account(quoted["message"]["sender"])}
        sender = self._people.of_account(message["sender"])
        self._mirror.write(path, item_body(known_chat, message, sender, quoted))

    def _quote(self, stored: Mapping[str, str], replies: Mapping[str, str]) -> None:
        """Notes in each reply the message that it answers: the id of a record is made of its words."""
        for key, answered in replies.items():
            quoted = self._stored(stored[answered]) if answered in stored else {}
            item = self._stored(stored[key])
            if quoted and item and item.get("quoted", {}).get("message") != quoted["message"]:
                self._write(stored[key], item["chat"], item["message"], {"message": quoted["message"]})

    def _remove_deleted(self, chat: str, stored: dict[str, str], listed: set[str]) -> None:
        """Removes recent messages that the server no longer has."""
        recent = [key for key, path in stored.items() if key not in listed and _time_of_path(path) >= self._since]
        for key in recent:
            message_id = self._stored(stored[key]).get("message", {}).get("id") or key
            address = f"{self._session}/chats/{quote(chat)}/messages/{quote(str(message_id))}"
            try:
                self._client.get_json(address, {"downloadMedia": "false"})
            except UnexpectedStatusError as refused:
                if refused.status != _NOT_FOUND:
                    raise
                self._mirror.drop(stored.pop(key))

    def _stored(self, path: str) -> dict[str, Any]:
        """A stored item; empty if there is none, or it was cut off."""
        try:
            return dict(json.loads(self._mirror.read(path)))
        except (ValueError, TypeError):
            return {}


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, bool]:
    """The marks of a message that was stored before: whether it was edited or deleted meanwhile, or earlier."""
    is_empty = not now.get("body") and not now.get("hasMedia")
    if before.get("deleted") or (before.get("body") and is_empty):
        return {"deleted": True}
    is_edited = before.get("edited") or (before and before.get("body") != now.get("body"))
    return {"edited": True} if is_edited else {}


def _key_of_path(path: str) -> str:
    return PurePosixPath(path).name.removesuffix(SUFFIX).partition("-")[2]


def _time_of_path(path: str) -> int:
    return int(PurePosixPath(path).name.partition("-")[0])
