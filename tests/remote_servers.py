"""Small servers that speak the protocols of remote sources, each on a port of this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Answer:
    """What a server answers to one request."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0
    """bytes at the end that are announced and not sent"""
    stall: float = 0
    """seconds before the body"""

    def bytes(self) -> bytes:
        """The body as it is sent."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Request:
    """A request that a server got."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    form: dict[str, str]


Respond = Callable[[Request], Answer]


@dataclass
class HttpServer:
    """A running server."""

    url: str
    requests: list[Request] = field(default_factory=list)
    faults: list[Answer] = field(default_factory=list)
    """answers that are given first, one a request"""

    def paths(self) -> list[str]:
        """The paths that were asked for, in order."""
        return [request.path for request in self.requests]


@contextmanager
def serve(respond: Respond) -> Iterator[HttpServer]:
    """A server that answers each request with what `respond` returns."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def _answer(self, method: str) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("content-length") or 0)
            form = parse_qs(self.rfile.read(length).decode()) if length else {}
            request = Request(
                method,
                parts.path,
                {name: values[0] for name, values in parse_qs(parts.query).items()},
                {name.lower(): value for name, value in self.headers.items()},
                {name: values[0] for name, values in form.items()},
            )
            running.requests.append(request)
            answer = running.faults.pop(0) if running.faults else respond(request)
            body = answer.bytes()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            time.sleep(answer.stall)
            try:
                self.wfile.write(body[: len(body) - answer.cut])
            except OSError:
                return
            if answer.cut:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running = HttpServer(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()


TOKEN = "paperless-token-7f3a9c"


class Paperless:
    """What a Paperless-ngx server holds, and its answers (API versions 9 and 10)."""

    def __init__(self, versions: tuple[int, ...] = (9, 10)) -> None:
        self.versions = versions
        self.documents: dict[int, dict[str, Any]] = {}
        self.files: dict[int, tuple[bytes, bytes]] = {}
        """id -> original and archived file; an empty one is missing"""
        self.trash: dict[int, dict[str, Any]] = {}
        self.names: dict[str, dict[int, dict[str, Any]]] = {
            "correspondents": {1: {"name": "Stadtwerke Brno"}},
            "document_types": {2: {"name": "Invoice"}},
            "storage_paths": {},
            "tags": {3: {"name": "home"}, 4: {"name": "2024"}},
            "custom_fields": {
                5: {"name": "Amount", "data_type": "monetary"},
                6: {
                    "name": "State",
                    "data_type": "select",
                    "extra_data": {"select_options": [{"id": "p", "label": "paid"}, {"id": "o", "label": "open"}]},
                },
            },
        }
        self.page = 100

    def add(
        self, number: int, content: str, modified: str, original: bytes = b"", archive: bytes = b"", **more: Any
    ) -> None:
        """Files a document."""
        self.files[number] = (original or content.encode(), archive)
        self.documents[number] = {
            "id": number,
            "title": f"Document {number}",
            "content": content,
            "created": "2024-02-05",
            "added": modified,
            "modified": modified,
            "correspondent": 1,
            "document_type": 2,
            "storage_path": None,
            "tags": [3],
            "custom_fields": [],
            "notes": [],
            "archive_serial_number": None,
            "original_file_name": f"scan{number}.txt",
            "mime_type": "text/plain",
            **more,
        }

    def delete(self, number: int) -> None:
        """Moves a document into the trash."""
        self.trash[number] = self.documents.pop(number)

    def respond(self, request: Request) -> Answer:
        """The answer to a request."""
        if request.headers.get("authorization") != f"Token {TOKEN}":
            return Answer({"detail": "Invalid token."}, 401)
        version = int(request.headers["accept"].rpartition("version=")[2] or 0)
        if version not in self.versions:
            return Answer({"detail": "Invalid version."}, 406)
        parts = request.path.strip("/").split("/")
        if parts[1] == "trash":
            return self._page(list(self.trash.values()), request)
        if parts[1] != "documents":
            return self._page([{"id": number, **row} for number, row in self.names[parts[1]].items()], request)
        if len(parts) == 2:
            return self._documents(request)
        return self._document(int(parts[2]), parts[3:], request)

    def _documents(self, request: Request) -> Answer:
        since = request.query.get("modified__gt", "")
        rows = [row for row in self.documents.values() if row["modified"] > since]
        rows.sort(key=lambda row: row[request.query.get("ordering", "id")])
        if wanted := request.query.get("fields"):
            rows = [{name: row[name] for name in wanted.split(",")} for row in rows]
        return self._page(rows, request)

    def _page(self, rows: list[dict[str, Any]], request: Request) -> Answer:
        size, number = min(self.page, int(request.query["page_size"])), int(request.query.get("page", 1))
        more = "http://internal.invalid/next" if number * size < len(rows) else None
        return Answer({"count": len(rows), "next": more, "results": rows[(number - 1) * size : number * size]})

    def _document(self, number: int, rest: list[str], request: Request) -> Answer:
        if number not in self.documents:
            return Answer({"detail": "Not found."}, 404)
        original, archive = self.files[number]
        if rest == ["metadata"]:
            return Answer(self._metadata(number, original, archive))
        if rest == ["download"]:
            return Answer(original if "original" in request.query or not archive else archive)
        return Answer(self.documents[number])

    def _metadata(self, number: int, original: bytes, archive: bytes) -> dict[str, Any]:
        told: dict[str, Any] = {
            "original_checksum": hashlib.md5(original).hexdigest(),  # noqa: S324
            "original_size": len(original),
            "original_mime_type": self.documents[number]["mime_type"],
            "has_archive_version": bool(archive),
            "original_metadata": [{"key": "producer"}],
        }
        if archive:
            told |= {"archive_checksum": hashlib.md5(archive).hexdigest(), "archive_size": len(archive)}  # noqa: S324
        return told


CLIENT = {"client_id": "id-1", "client_secret": "client-secret-8a", "refresh_token": "refresh-token-5e"}


class Gmail:
    """What a Gmail account holds, and the answers of its API and of the server of tokens."""

    def __init__(self) -> None:
        self.mails: dict[str, bytes] = {}
        self.labels: dict[str, list[str]] = {}
        self.history: list[dict[str, Any]] = []
        self.oldest = 0
        """histories from before this are no longer kept"""
        self.page = 2
        self.tokens = 0
        self.withdrawn = False

    def add(self, number: str, mail: bytes, *labels: str) -> None:
        """A new mail."""
        self.mails[number], self.labels[number] = mail, list(labels)
        self._note("messagesAdded", number)

    def delete(self, number: str) -> None:
        """A mail that is gone for good."""
        del self.mails[number]
        self._note("messagesDeleted", number)

    def relabel(self, number: str, *labels: str) -> None:
        """Other labels of a mail."""
        self.labels[number] = list(labels)
        self._note("labelsAdded", number)

    def _note(self, change: str, number: str) -> None:
        self.history.append({"id": str(len(self.history) + 1), change: [{"message": {"id": number}}]})

    def respond(self, request: Request) -> Answer:
        """The answer to a request."""
        if request.path == "/token":
            known = {name: request.form.get(name) for name in CLIENT} == CLIENT and not self.withdrawn
            self.tokens += 1
            grant = {"access_token": f"access-{self.tokens}", "expires_in": 3599}
            return Answer(grant) if known else Answer({"error": "invalid_grant"}, 400)
        if request.headers.get("authorization") != f"Bearer access-{self.tokens}":
            return Answer({"error": {"code": 401}}, 401)
        what, _, number = request.path.removeprefix("/gmail/v1/users/me/").partition("/")
        if what == "profile":
            return Answer({"historyId": str(len(self.history))})
        if what == "labels":
            return Answer({"labels": [{"id": "Label_7", "name": "House, garden"}, {"id": "INBOX", "name": "INBOX"}]})
        if what == "history":
            return self._changes(request)
        return self._mail(number, request) if number else self._listed(request)

    def _changes(self, request: Request) -> Answer:
        since = int(request.query["startHistoryId"])
        if since < self.oldest:
            return Answer({"error": {"code": 404}}, 404)
        return self._paged("history", self.history[since:], request)

    def _listed(self, request: Request) -> Answer:
        return self._paged("messages", [{"id": number} for number in self.mails], request)

    def _paged(self, name: str, rows: list[dict[str, Any]], request: Request) -> Answer:
        first = int(request.query.get("pageToken", 0))
        more = {"nextPageToken": str(first + self.page)} if first + self.page < len(rows) else {}
        return Answer({name: rows[first : first + self.page], **more})

    def _mail(self, number: str, request: Request) -> Answer:
        if number not in self.mails:
            return Answer({"error": {"code": 404}}, 404)
        told: dict[str, Any] = {"id": number, "threadId": f"18f{number}", "labelIds": self.labels[number]}
        if request.query["format"] == "raw":
            told["raw"] = base64.urlsafe_b64encode(self.mails[number]).decode().rstrip("=")
        return Answer(told)


class Waha:
    """What a WAHA server holds of one account, and its answers."""

    key = "waha-key-51d2"
    page = 100

    def __init__(self) -> None:
        self.status = "WORKING"
        self.names = {"420601234567@c.us": "Dana Levi"}
        self.numbers = {"99887766@lid": "420601234567@c.us"}
        self.subjects = {"420601234567@c.us": "Dana Levi", "120363021@g.us": "Hiking", "status@broadcast": ""}
        self.messages: dict[str, list[dict[str, Any]]] = {chat: [] for chat in self.subjects}

    def add(self, chat: str, key: str, timestamp: int, body: str, sender: str = "", **more: Any) -> dict[str, Any]:
        """A message of a chat; the owner's where no sender is given."""
        own = str(not sender).lower()
        end = f"_{sender}" if chat.endswith("@g.us") and sender else ""
        message = {
            "id": f"{own}_{chat}_{key}{end}", "timestamp": timestamp, "from": sender or "420777000111@c.us",
            "fromMe": not sender, "body": body, "hasMedia": False, "replyTo": None, "_data": {"big": "x" * 50},
            **({"participant": sender} if chat.endswith("@g.us") else {}), **more,
        }  # fmt: skip
        self.messages[chat].insert(0, message)
        return message

    def respond(self, request: Request) -> Answer:
        """The answer to a request."""
        if request.headers.get("x-api-key") != self.key:
            return Answer({"message": "Unauthorized"}, 401)
        path = unquote(request.path).removeprefix("/api/")
        if path == "sessions/default":
            return Answer({"name": "default", "status": self.status})
        if path.startswith("default/chats/") and path.count("/") == 4:
            chat, _, key = path.split("/")[2:]
            held = [message for message in self.messages[chat] if message["id"] == key]
            return Answer(held[0]) if held else Answer({"message": "not found"}, 404)
        start = int(request.query.get("offset", 0))
        return Answer(self._rows(path, request.query)[start : start + min(self.page, int(request.query["limit"]))])

    def _rows(self, path: str, query: dict[str, str]) -> list[dict[str, Any]]:
        if path == "contacts/all":
            return [{"id": account, "name": name} for account, name in self.names.items()]
        if path == "default/lids":
            return [{"lid": lid, "pn": number} for lid, number in self.numbers.items()]
        if path == "default/chats/overview":
            return [
                {"id": chat, "name": subject, "lastMessage": next(iter(self.messages[chat]), None)}
                for chat, subject in self.subjects.items()
            ]
        since = int(query.get("filter.timestamp.gte", 0))
        return [message for message in self.messages[path.split("/")[2]] if message["timestamp"] >= since]
