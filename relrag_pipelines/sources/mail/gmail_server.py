"""Mirrors a Gmail account through its API: a file for each mail, `<id>.eml`, with labels and thread as in Takeout.

The first fetch lists all mails; later ones ask for the history since then. If Gmail no longer has that history (404)
all mails are listed again. A mail keeps its id, and its content never changes; its labels do. A mail is removed if the
history says that it was deleted, or if a list lacks it and it cannot be had by its id. Files that are missing from the
mirror are fetched again.
API: https://developers.google.com/workspace/gmail/api/reference/rest

The secret is the JSON of an OAuth client for a desktop with its refresh token: `client_id`, `client_secret`,
`refresh_token` and `token_uri`, as Google's own libraries store it; `gmail_login` makes it.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from relrag_pipelines.sources.mail.imap_server import label_header
from relrag_pipelines.sources.remote import CONTINUES, FetchError, Mirror, Server, readable_answers
from relrag_pipelines.sources.remote.deletions import FEW_ITEMS, SHARE, missing_items
from relrag_pipelines.sources.remote.http_client import HttpClient, Limits, OversizeError, UnexpectedStatusError
from relrag_pipelines.sources.remote.secrets import SecretError

SUFFIX = ".eml"
TOKEN_URI = "https://oauth2.googleapis.com/token"  # noqa: S105
SCOPE = "https://www.googleapis.com/auth/gmail.readonly"
_USER = "gmail/v1/users/me"
_LISTED_AT_ONCE = 500
_LARGEST = 128 * 2**20
"""largest answer, bytes: a mail of 50 MB is a third longer in base64"""
_SAVED_AFTER = 100
_NOT_FOUND, _REFUSED = 404, (400, 401)
_SPARE_SECONDS = 60
"""a token is renewed so long before it ends"""
_OWN_LABELS = {
    "INBOX": "Inbox", "SENT": "Sent", "DRAFT": "Draft", "SPAM": "Spam", "TRASH": "Trash", "IMPORTANT": "Important",
    "STARRED": "Starred", "UNREAD": "Unread", "CATEGORY_PROMOTIONS": "Category Promotions",
    "CATEGORY_SOCIAL": "Category Social", "CATEGORY_UPDATES": "Category Updates", "CATEGORY_FORUMS": "Category Forums",
    "CATEGORY_PERSONAL": "Category Personal",
}  # fmt: skip
"""ids of Gmail's labels -> their names in Takeout"""
_HEADERS = (b"X-GM-THRID: ", b"X-Gmail-Labels: ")


def fetch(server: Server, mirror: Mirror, limits: Limits | None = None) -> None:
    """Brings the mirror up to date. Raises FetchError; what was mirrored before stays."""
    access = AccessToken(server)
    bounds = limits or Limits(json_bytes=_LARGEST)
    client = HttpClient(server.url, access.headers, server.secret_name, bounds, ca_file=server.ca_file)
    try:
        with readable_answers(client.host):
            _Fetch(server, mirror, client).run()
    finally:
        client.close()
        access.close()


class AccessToken:
    """The token that requests carry, made from the refresh token of the secret; held in memory only."""

    def __init__(self, server: Server, clock: Callable[[], float] = time.monotonic) -> None:
        self._server, self._clock = server, clock
        self._client: HttpClient | None = None
        self._token, self._until = "", 0.0

    def headers(self) -> dict[str, str]:
        """The header that logs in."""
        if self._clock() >= self._until:
            self._renew()
        return {"Authorization": f"Bearer {self._token}"}

    def close(self) -> None:
        """Ends the connection."""
        if self._client is not None:
            self._client.close()

    def _renew(self) -> None:
        secret = parse_secret(self._server.secret(), self._server.secret_name)
        address = urlsplit(secret["token_uri"])
        if self._client is None:
            base = f"{address.scheme}://{address.netloc}"
            self._client = HttpClient(base, dict, self._server.secret_name, ca_file=self._server.ca_file)
        form = {name: secret[name] for name in ("client_id", "client_secret", "refresh_token")}
        try:
            answer = self._client.post_form(address.path.lstrip("/"), {**form, "grant_type": "refresh_token"})
        except UnexpectedStatusError as refused:
            if refused.status not in _REFUSED:
                raise
            answer = {}
        if not isinstance(answer, Mapping) or not isinstance(answer.get("access_token"), str):
            raise SecretError(
                f"{address.netloc} does not accept the refresh token, which may have ended or been withdrawn; log in "
                f"again, and store what that gives in {self._server.secret_name}"
            )
        self._token = answer["access_token"]
        self._until = self._clock() + max(0, int(answer.get("expires_in", 0)) - _SPARE_SECONDS)


def parse_secret(text: str, origin: str) -> dict[str, str]:
    """The parts of the secret; SecretError if one is missing."""
    try:
        secret = json.loads(text)
        parts = {"token_uri": TOKEN_URI, **{name: value for name, value in secret.items() if isinstance(value, str)}}
    except (ValueError, AttributeError):
        parts = {}
    if missing := [name for name in ("client_id", "client_secret", "refresh_token") if not parts.get(name)]:
        raise SecretError(f"the secret of Gmail lacks {', '.join(missing)}: it is JSON; see docs/sources.md ({origin})")
    return parts


class _Fetch:
    """One fetch from an account."""

    def __init__(self, server: Server, mirror: Mirror, client: HttpClient) -> None:
        self._server, self._mirror, self._client = server, mirror, client
        self._labels: dict[str, str] = {}
        self._fetched = 0
        self._failed = 0
        """mails that the next fetch asks for again"""

    def run(self) -> None:
        """All steps."""
        answer = self._get("labels")
        rows = answer.get("labels", ()) if isinstance(answer, Mapping) else ()
        self._labels = {str(row["id"]): str(row.get("name", "")) for row in rows} | _OWN_LABELS
        if not self._has_followed():
            self._list_all()
        # where a mail failed, no number of items is right, so that the next fetch looks for what is missing
        self._mirror.cursor["items"] = -1 if self._failed else self._mirror.count()
        self._mirror.save()

    def _has_followed(self) -> bool:
        """Brings the mirror up to date by the history; False if there is none that Gmail still has."""
        since = str(self._mirror.cursor.get("history", ""))
        if not since:
            return False
        complete = self._mirror.cursor.get("items") == self._mirror.count()
        try:
            self._follow(since)
        except UnexpectedStatusError as refused:
            if refused.status != _NOT_FOUND:
                raise
            return False
        if not complete:
            for number in self._listed():
                self._store_missing(number)
        return True

    def _get(self, path: str, **query: Any) -> Any:
        return self._client.get_json(f"{_USER}/{path}", query)

    def _list_all(self) -> None:
        """Mirrors every mail, then removes those that are gone."""
        # asked for before the first list: what changes meanwhile is told by the next history
        history = str(self._mirror.cursor.get("listing") or self._get("profile").get("historyId", ""))
        lapsed = bool(self._mirror.cursor.pop("history", "") or self._mirror.cursor.get("lapsed"))
        self._mirror.cursor |= {"listing": history, "lapsed": lapsed}
        self._mirror.save()
        present: set[str] = set()
        for number in self._listed():
            path = f"{number}{SUFFIX}"
            present.add(path)
            if not self._store_missing(number) and lapsed and not self._mirror.is_withheld(path):
                self._relabel(number)
        present |= self._still_there(present)
        self._mirror.cursor = {"history": history}
        self._mirror.keep_only(present)

    def _listed(self) -> Iterator[str]:
        """The ids of all mails."""
        for row in self._pages("messages", "messages", includeSpamTrash="true", maxResults=_LISTED_AT_ONCE):
            yield _checked_id(row["id"])

    def _still_there(self, listed: set[str]) -> set[str]:
        """The stored mails that the list lacks although they can be had.

        Raises FetchError if these are many, since then the list is wrong.
        """
        stored = self._mirror.paths()
        there: set[str] = set()
        for path in sorted(missing_items(self._server, self._client.host, stored, listed)):
            if self._message(path.removesuffix(SUFFIX), "minimal") is not None:
                there.add(path)
            if len(there) > FEW_ITEMS or len(there) * SHARE > len(stored):
                raise FetchError(
                    f"{self._client.host} lists {len(listed):,} mails and has others that were fetched before; nothing "
                    "was removed, and the next `relrag sync` asks again"
                )
        return there

    def _follow(self, since: str) -> None:
        """Applies the history since the last fetch; a page at a time, so that an interrupted one continues."""
        added: set[str] = set()
        relabelled: set[str] = set()
        removed: set[str] = set()
        newest = str(self._get("profile").get("historyId") or since)
        for row in self._pages("history", "history", startHistoryId=since, maxResults=_LISTED_AT_ONCE):
            added |= _ids(row, "messagesAdded")
            relabelled |= _ids(row, "labelsAdded") | _ids(row, "labelsRemoved")
            removed |= _ids(row, "messagesDeleted")
        for number in sorted(added - removed):
            self._store_missing(number)
        for number in sorted(relabelled - added - removed):
            self._relabel(number)
        self._mirror.drop(*(f"{number}{SUFFIX}" for number in sorted(removed)))
        self._mirror.cursor["history"] = newest
        self._mirror.save()

    def _pages(self, path: str, name: str, **query: Any) -> Iterator[Mapping[str, Any]]:
        token = ""
        while True:
            page = self._get(path, **query, **({"pageToken": token} if token else {}))
            if not isinstance(page, Mapping):
                raise FetchError(f"{self._client.host} does not answer like Gmail; check url in relrag.toml")
            yield from page.get(name, ())
            token = str(page.get("nextPageToken") or "")
            if not token:
                return

    def _store_missing(self, number: str) -> bool:
        """Mirrors a mail that is not stored; False if it is, or need not be."""
        path = f"{number}{SUFFIX}"
        if not self._mirror.needs(path) or self._mirror.is_too_large(path, self._client.limits.json_bytes):
            return False
        try:
            self._store(number)
        except OversizeError:
            limit = self._client.limits.json_bytes
            self._mirror.note_omission(path, f"the mail takes more than {limit:,} bytes, and is not fetched", limit)
        return True

    def _store(self, number: str) -> None:
        """Mirrors a mail; one that is gone meanwhile is left out, and one that comes without content is noted."""
        message, path = self._message(number, "raw"), f"{number}{SUFFIX}"
        if message is None:
            self._mirror.clear_omission(path)
            return
        raw = _decoded(message.get("raw"))
        if not raw:
            self._failed += 1
            self._mirror.note_omission(path, "the mail came without its content; the next sync asks for it again")
            return
        self._mirror.add(path, self._headers(message) + raw)
        self._fetched += 1
        if self._fetched % _SAVED_AFTER == 0:
            self._server.report(self._fetched, 0)

    def _relabel(self, number: str) -> None:
        """Writes the labels of a stored mail anew if they have changed."""
        path = f"{number}{SUFFIX}"
        stored = self._mirror.read(path)
        message = self._message(number, "minimal") if stored else None
        if message is None:
            return
        while stored.startswith(_HEADERS):
            stored = stored.partition(b"\n")[2]
        self._mirror.write(path, self._headers(message) + stored)

    def _message(self, number: str, form: str) -> Mapping[str, Any] | None:
        try:
            message = self._get(f"messages/{number}", format=form)
        except UnexpectedStatusError as refused:
            if refused.status == _NOT_FOUND:
                return None
            raise
        if not isinstance(message, Mapping) or message.get("id") != number:
            raise FetchError(
                f"{self._client.host} answers with something else than a mail that was asked for; {CONTINUES}"
            )
        return message

    def _headers(self, message: Mapping[str, Any]) -> bytes:
        """Thread and labels as Takeout writes them: the number of a thread is decimal there, and hex in the API."""
        lines = []
        thread = str(message.get("threadId", ""))
        if thread and all(letter in "0123456789abcdef" for letter in thread.lower()):
            lines.append(b"X-GM-THRID: %d" % int(thread, 16))
        labels = [name for label in message.get("labelIds", ()) if (name := self._labels.get(label, ""))]
        if labels:
            lines.append(label_header(labels))
        return b"".join(line + b"\r\n" for line in lines)


def _decoded(raw: Any) -> bytes:
    """The content of a mail; empty if it is missing or cannot be decoded."""
    try:
        return base64.urlsafe_b64decode(raw + "==") if isinstance(raw, str) else b""
    except ValueError:
        return b""


def _ids(row: Mapping[str, Any], change: str) -> set[str]:
    return {_checked_id(change_row["message"]["id"]) for change_row in row.get(change, ())}


_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")


def _checked_id(value: object) -> str:
    """The id of a mail, which becomes the name of a file. Raises FetchError for one that Gmail does not give."""
    if not isinstance(value, str) or _ID.fullmatch(value) is None:
        raise FetchError("the server sent an id of a mail that Gmail does not give; check url in relrag.toml")
    return value
