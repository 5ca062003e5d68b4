"""Mirrors a Paperless-ngx server through its REST API, versions 10 and 9.

Each fetch asks for the documents that were modified since the last one, then for the ids and times of all: a deletion
is told by no other means, a document restored from the trash keeps its old time, and one may be missed while pages
shift. A document that the list lacks is asked for by itself before it is removed.
API: https://docs.paperless-ngx.com/api/
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from relrag_pipelines.sources.paperless import mirrored
from relrag_pipelines.sources.paperless.export_folder import describe_value
from relrag_pipelines.sources.remote import FetchError, Mirror, Server
from relrag_pipelines.sources.remote.http_client import HttpClient, UnexpectedStatusError

VERSIONS = (10, 9)
"""of the API, the newest first"""
_NOT_ACCEPTABLE, _NOT_FOUND = 406, 404
_PAGE, _SWEEP_PAGE = 100, 1000
_OVERLAP = timedelta(seconds=1)
"""documents of the last moment are listed again: several may share it"""
_NAMES = ("correspondents", "document_types", "storage_paths", "tags")

Document = Mapping[str, Any]


def fetch(server: Server, mirror: Mirror) -> None:
    """Brings the mirror up to date. Raises FetchError; what was mirrored before stays."""
    token = server.secret()
    client = HttpClient(
        server.url, lambda: {"Authorization": f"Token {token}"}, server.secret_name, ca_file=server.ca_file
    )
    try:
        _Fetch(server, mirror, client).run()
    finally:
        client.close()


@dataclass
class _Names:
    """What the ids in documents stand for."""

    by_id: dict[str, dict[int, str]] = field(default_factory=dict)
    custom_fields: dict[int, Mapping[str, Any]] = field(default_factory=dict)

    def of_document(self, document: Document) -> dict[str, Any]:
        """The names that a document refers to."""
        return {
            "correspondent": self._name("correspondents", document.get("correspondent")),
            "document_type": self._name("document_types", document.get("document_type")),
            "storage_path": self._name("storage_paths", document.get("storage_path")),
            "tags": [name for tag in document.get("tags") or () if (name := self._name("tags", tag))],
            "custom_fields": [
                pair for custom_field in document.get("custom_fields") or () if (pair := self._field(custom_field))
            ],
        }

    def _name(self, table: str, item: Any) -> str:
        return self.by_id.get(table, {}).get(item, "")

    def _field(self, filled: Mapping[str, Any]) -> list[str]:
        declared = self.custom_fields.get(int(filled.get("field") or 0))
        value = filled.get("value")
        if declared is None or value is None:
            return []
        return [str(declared.get("name", "")), describe_value(value, declared.get("extra_data"))]


class _Fetch:
    """One fetch from a server."""

    def __init__(self, server: Server, mirror: Mirror, client: HttpClient) -> None:
        self._server, self._mirror, self._client = server, mirror, client
        self._names = _Names()
        self._items = {mirrored.document_id(path): path for path in sorted(mirror.paths())}
        """id -> path of the stored item"""

    def run(self) -> None:
        """All steps."""
        self._agree_on_version()
        self._names = self._read_names()
        self._read_modified()
        self._sweep()
        self._rename()

    def _agree_on_version(self) -> None:
        for version in VERSIONS:
            try:
                self._client.accept = f"application/json; version={version}"
                self._client.get_json("api/documents/", {"page_size": 1, "fields": "id"})
            except UnexpectedStatusError as refused:
                if refused.status != _NOT_ACCEPTABLE:
                    raise
            else:
                return
        raise FetchError(
            f"{self._client.host} speaks neither version {' nor '.join(map(str, VERSIONS))} of Paperless's API; "
            "update Paperless-ngx (2.16 or newer)"
        )

    def _pages(self, path: str, query: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """The results of all pages. They are asked for by number: the address that the server gives may be internal."""
        number, listed = 1, 0
        while True:
            page = self._client.get_json(path, {**query, "page": number})
            results = _list_of(page, "results", self._client.host)
            yield from results
            listed += len(results)
            if not page.get("next") or not results:
                return
            number += 1

    def _read_names(self) -> _Names:
        names = _Names()
        for table in _NAMES:
            rows = self._pages(f"api/{table}/", {"page_size": _SWEEP_PAGE})
            names.by_id[table] = {int(row["id"]): str(row.get("name", "")) for row in rows}
        rows = self._pages("api/custom_fields/", {"page_size": _SWEEP_PAGE})
        names.custom_fields = {int(row["id"]): row for row in rows}
        return names

    def _read_modified(self) -> None:
        """Mirrors the documents that were modified since the last fetch, the earliest first."""
        query: dict[str, Any] = {"page_size": _PAGE, "ordering": "modified"}
        if since := str(self._mirror.cursor.get("modified", "")):
            query["modified__gt"] = (datetime.fromisoformat(since) - _OVERLAP).isoformat()
        for number, document in enumerate(self._pages("api/documents/", query), start=1):
            self._store(document)
            self._mirror.cursor["modified"] = str(document["modified"])
            if number % _PAGE == 0:
                self._mirror.save()
                self._server.report(number, 0)
        self._mirror.save()

    def _sweep(self) -> None:
        """Compares the ids and times of all documents with the mirror."""
        query = {"page_size": _SWEEP_PAGE, "ordering": "id", "fields": "id,modified"}
        listed = {int(row["id"]): str(row.get("modified", "")) for row in self._pages("api/documents/", query)}
        in_trash = self._trash()
        present: set[str] = set()
        for document_id, modified in listed.items():
            if document_id in in_trash:
                continue
            path = self._items.get(document_id)
            if path is None or (modified and self._stored(path)["document"].get("modified") != modified):
                document = self._document(document_id)
                path = self._store(document) if document else None
            if path:
                present.add(path)
        for document_id in sorted(self._items.keys() - listed.keys() - in_trash):
            if document := self._document(document_id):  # the pages had shifted
                present.add(self._store(document))
        self._mirror.keep_only(present)

    def _trash(self) -> set[int]:
        try:
            return {int(row["id"]) for row in self._pages("api/trash/", {"page_size": _SWEEP_PAGE})}
        except UnexpectedStatusError as refused:
            if refused.status in (_NOT_FOUND, 403):  # an older server, or an account that may not look
                return set()
            raise

    def _document(self, document_id: int) -> Document | None:
        try:
            document: Document = self._client.get_json(f"api/documents/{document_id}/")
        except UnexpectedStatusError as refused:
            if refused.status == _NOT_FOUND:
                return None
            raise
        return document

    def _store(self, document: Document) -> str:
        """Mirrors a document unless it is stored as it is; the path of its item."""
        document_id = int(document["id"])
        path = self._items.get(document_id)
        if path and self._stored(path)["document"] == document:
            return path
        metadata = self._client.get_json(f"api/documents/{document_id}/metadata/")
        name = mirrored.item_name(document_id, str(metadata.get("original_checksum") or ""))
        path = f"{name}{mirrored.SUFFIX}"
        if self._mirror.is_withheld(path):
            return path
        self._download(document_id, name, document, metadata)
        self._write(path, document, metadata)
        former = self._items.get(document_id)
        if former and former != path:
            self._mirror.remove(former)
        self._items[document_id] = path
        return path

    def _download(self, document_id: int, name: str, document: Document, metadata: Mapping[str, Any]) -> None:
        """Stores the files of a document that are not stored yet; the item is written behind them."""
        stored = self._stored(f"{name}{mirrored.SUFFIX}").get("metadata", {})
        suffix = PurePosixPath(str(document.get("original_file_name") or metadata.get("media_filename") or "")).suffix
        suffix = suffix.lower() if suffix[1:].isalnum() else ".bin"
        files = {"original": (f"{name}.{mirrored.ORIGINAL}{suffix}", "?original=true")}
        if metadata.get("has_archive_version"):
            files["archive"] = (f"{name}.{mirrored.ARCHIVE}.pdf", "")
        for role, (path, query) in files.items():
            if stored.get(f"{role}_checksum") != metadata.get(f"{role}_checksum") or self._mirror.needs_file(path):
                self._download_file(f"api/documents/{document_id}/download/{query}", path, role, metadata)

    def _download_file(self, address: str, path: str, role: str, metadata: Mapping[str, Any]) -> None:
        size = metadata.get(f"{role}_size")
        if isinstance(size, int) and size > self._server.max_bytes:
            return
        try:
            self._client.download(address, lambda: self._mirror.open_part(path), self._server.max_bytes)
            if not self._mirror.part_matches(path, str(metadata.get(f"{role}_checksum") or "")):
                host = self._client.host
                raise FetchError(
                    f"{host} sent a file that does not have the checksum it names; the next sync tries again"
                )
        except BaseException:
            self._mirror.discard_part(path)
            raise
        self._mirror.finish_part(path)

    def _write(self, path: str, document: Document, metadata: Mapping[str, Any]) -> None:
        body = {
            "document": document,
            "metadata": {name: value for name, value in metadata.items() if not name.endswith("_metadata")},
            "names": self._names.of_document(document),
            "address": f"{self._server.url}/documents/{document['id']}/details",
        }
        self._mirror.write(path, json.dumps(body, ensure_ascii=False, sort_keys=True, indent=1).encode())

    def _rename(self) -> None:
        """Writes anew the documents whose names have changed: the server does not count that as modified."""
        for path in sorted(self._mirror.paths()):
            stored = self._stored(path)
            if stored and stored["names"] != self._names.of_document(stored["document"]):
                self._write(path, stored["document"], stored["metadata"])

    def _stored(self, path: str) -> dict[str, Any]:
        """A stored item; empty parts if there is none, or it was cut off."""
        try:
            body = json.loads(self._mirror.read(path))
        except ValueError:
            return {"document": {}, "metadata": {}, "names": {}}
        return dict(body)


def _list_of(page: Any, name: str, host: str) -> list[Mapping[str, Any]]:
    if not isinstance(page, Mapping) or not isinstance(page.get(name), list):
        raise FetchError(f"{host} does not answer like Paperless-ngx; check url in relrag.toml")
    return list(page[name])
