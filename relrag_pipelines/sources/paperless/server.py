"""Mirrors a Paperless-ngx server through its REST API, versions 10 and 9.

Each fetch asks for the documents that were modified since the last one, then for the ids and times of all: a deletion
is told by no other means, a document restored from the trash keeps its old time, and one may be missed while pages
shift. A list counts only if it is as long as the server says that it is, and a document that it lacks is asked for by
itself before it is removed.
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
from relrag_pipelines.sources.remote import CONTINUES, FetchError, Mirror, Server, readable_answers
from relrag_pipelines.sources.remote.deletions import missing_items
from relrag_pipelines.sources.remote.http_client import HttpClient, Limits, OversizeError, UnexpectedStatusError
from relrag_pipelines.sources.remote.mirror import Omission

VERSIONS = (10, 9)
"""of the API, the newest first"""
_NOT_ACCEPTABLE, _NOT_FOUND = 406, 404
_PAGE, _SWEEP_PAGE = 100, 1000
_LISTINGS = 3
"""so often a list is asked for that changes meanwhile"""
_OVERLAP = timedelta(seconds=1)
"""documents of the last moment are listed again: several may share it"""
_NAMES = ("correspondents", "document_types", "storage_paths", "tags")

Document = Mapping[str, Any]


def fetch(server: Server, mirror: Mirror, limits: Limits | None = None) -> None:
    """Brings the mirror up to date. Raises FetchError; what was mirrored before stays."""
    token = server.secret()
    headers = {"Authorization": f"Token {token}"}
    client = HttpClient(server.url, lambda: headers, server.secret_name, limits or Limits(), ca_file=server.ca_file)
    try:
        with readable_answers(client.host):
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
        self._replaced: set[str] = set()
        """paths of items that were stored anew under another name"""

    def run(self) -> None:
        """All steps."""
        self._agree_on_version()
        self._names = self._read_names()
        try:
            self._read_modified()
            self._sweep()
        finally:
            self._mirror.remove(*self._replaced)
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
        """The results of all pages. They are asked for by number: the address that the server gives may be internal.

        Raises FetchError if they are fewer than the server counts.
        """
        number, listed, count = 1, 0, 0
        while True:
            page = self._client.get_json(path, {**query, "page": number})
            results = _results(page, self._client.host)
            yield from results
            listed, count = listed + len(results), int(page["count"])
            if not page.get("next") or not results:
                break
            number += 1
        if listed < count:
            raise _ShortListError(
                f"{self._client.host} counts {count:,} items and lists {listed:,} ({path}); nothing was removed, and "
                "the next `relrag sync` asks again"
            )

    def _whole_list(self, path: str, query: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """All results, read at one time: a list that changes while its pages are read is read again."""
        for attempt in range(1, _LISTINGS + 1):
            try:
                return list(self._pages(path, query))
            except _ShortListError:
                if attempt == _LISTINGS:
                    raise
        raise AssertionError

    def _read_names(self) -> _Names:
        names = _Names()
        for table in _NAMES:
            rows = self._whole_list(f"api/{table}/", {"page_size": _SWEEP_PAGE})
            names.by_id[table] = {int(row["id"]): str(row.get("name", "")) for row in rows}
        rows = self._whole_list("api/custom_fields/", {"page_size": _SWEEP_PAGE})
        names.custom_fields = {int(row["id"]): row for row in rows}
        return names

    def _read_modified(self) -> None:
        """Mirrors the documents that were modified since the last fetch, the earliest first."""
        query: dict[str, Any] = {"page_size": _PAGE, "ordering": "modified"}
        if since := _moment(self._mirror.cursor.get("modified")):
            query["modified__gt"] = (since - _OVERLAP).isoformat()
        for number, document in enumerate(self._pages("api/documents/", query), start=1):
            self._store(self._checked(document, document["id"]))
            if _moment(document.get("modified")):
                self._mirror.cursor["modified"] = document["modified"]
            if number % _PAGE == 0:
                self._mirror.save()
                self._server.report(number, 0)
        self._mirror.save()

    def _sweep(self) -> None:
        """Compares the ids and times of all documents with the mirror."""
        query = {"page_size": _SWEEP_PAGE, "ordering": "id", "fields": "id,modified"}
        rows = self._whole_list("api/documents/", query)
        listed = {int(row["id"]): str(row.get("modified", "")) for row in rows}
        in_trash = self._trash()
        present = {self._up_to_date(number, modified) for number, modified in listed.items() if number not in in_trash}
        trashed = {path for number, path in self._items.items() if number in in_trash}
        missing_items(self._server, self._client.host, self._items.values(), present | trashed)
        for document_id in sorted(self._items.keys() - listed.keys() - in_trash):
            if document := self._document(document_id):  # the pages had shifted
                present.add(self._store(document))
        self._mirror.keep_only(present - {""})

    def _up_to_date(self, document_id: int, modified: str) -> str:
        """The path of a document's item, fetched if it is missing or older; empty if the document is gone by now."""
        path = self._items.get(document_id)
        if path and self._is_whole(path) and modified in ("", self._stored(path)["document"].get("modified")):
            return path
        document = self._document(document_id)
        return self._store(document) if document else ""

    def _is_whole(self, path: str) -> bool:
        """Whether all files of a stored item are there; one that is too large counts as there."""
        stored = self._stored(path)
        if self._mirror.is_too_large(path, self._server.max_bytes) or not stored["metadata"]:
            return bool(stored["metadata"])
        name = path.removesuffix(mirrored.SUFFIX)
        files = _files(name, stored["document"], stored["metadata"])
        return not any(self._mirror.needs_file(file.path) for file in files)

    def _trash(self) -> set[int]:
        try:
            return {int(row["id"]) for row in self._whole_list("api/trash/", {"page_size": _SWEEP_PAGE})}
        except UnexpectedStatusError as refused:
            if refused.status in (_NOT_FOUND, 403):  # an older server, or an account that may not look
                return set()
            raise

    def _document(self, document_id: int) -> Document | None:
        try:
            document = self._client.get_json(f"api/documents/{document_id}/")
        except UnexpectedStatusError as refused:
            if refused.status == _NOT_FOUND:
                return None
            raise
        return self._checked(document, document_id)

    def _checked(self, document: Any, document_id: int) -> Document:
        """A document of an answer. Raises FetchError for what is not that document."""
        if isinstance(document, Mapping) and document.get("id") == document_id and "content" in document:
            return document
        raise FetchError(f"{self._client.host} answers with something else than document {document_id}; {CONTINUES}")

    def _store(self, document: Document) -> str:
        """Mirrors a document unless it is stored as it is; the path of its item."""
        document_id = int(document["id"])
        path = self._items.get(document_id)
        if path and self._stored(path)["document"] == document and self._is_whole(path):
            return path
        metadata = self._client.get_json(f"api/documents/{document_id}/metadata/")
        name = mirrored.item_name(document_id, str(metadata.get("original_checksum") or ""))
        path = f"{name}{mirrored.SUFFIX}"
        if self._mirror.is_withheld(path):
            return path
        omissions = self._download(name, document, metadata)
        self._write(path, document, metadata)
        self._mirror.clear_omission(path)
        for omission in omissions:
            self._mirror.note_omission(path, omission.message, omission.limit)
        former = self._items.get(document_id)
        if former and former != path:
            self._replaced.add(former)
        self._items[document_id] = path
        return path

    def _download(self, name: str, document: Document, metadata: Mapping[str, Any]) -> list[Omission]:
        """Stores the files of a document that are not stored yet; the item is written behind them.

        Returns which files could not be stored.
        """
        stored = self._stored(f"{name}{mirrored.SUFFIX}")["metadata"]
        omissions = []
        for file in _files(name, document, metadata):
            checksum = metadata.get(f"{file.role}_checksum")
            if stored.get(f"{file.role}_checksum") == checksum and not self._mirror.needs_file(file.path):
                continue
            try:
                self._download_file(file, int(document["id"]), metadata)
            except OversizeError:
                limit = self._server.max_bytes
                problem = f"has more than {limit:,} bytes: raise unit_max_bytes to fetch it"
                omissions.append(Omission(f"the {file.role} file {problem}; the document's text is read", limit))
            except UnexpectedStatusError as refused:
                if refused.status != _NOT_FOUND:
                    raise
                problem = "is not on the server, which names it: run Paperless's sanity checker"
                omissions.append(Omission(f"the {file.role} file {problem}; the document's text is read"))
        return omissions

    def _download_file(self, file: _File, document_id: int, metadata: Mapping[str, Any]) -> None:
        """Stores a file. Raises OversizeError if it is too large."""
        size, path, limit = metadata.get(f"{file.role}_size"), file.path, self._server.max_bytes
        if isinstance(size, int) and size > limit:
            raise OversizeError(f"a file has {size:,} bytes")
        address = f"api/documents/{document_id}/download/{file.query}"
        try:
            self._client.download(address, lambda: self._mirror.open_part(path), limit)
            if not self._mirror.part_matches(path, str(metadata.get(f"{file.role}_checksum") or "")):
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
            body = dict(json.loads(self._mirror.read(path)))
        except (ValueError, TypeError):
            body = {}
        return {part: body.get(part) or {} for part in ("document", "metadata", "names")}


class _ShortListError(FetchError):
    """The pages of a list hold fewer items than the server counts."""


@dataclass(frozen=True)
class _File:
    """A file of a document."""

    role: str
    path: str
    """where it is mirrored"""
    query: str
    """by which it is asked for"""


def _files(name: str, document: Document, metadata: Mapping[str, Any]) -> list[_File]:
    """The files that a document has on the server, with the paths in the mirror for an item of that name."""
    suffix = PurePosixPath(str(document.get("original_file_name") or metadata.get("media_filename") or "")).suffix
    suffix = suffix.lower() if suffix[1:].isalnum() else ".bin"
    files = [_File(mirrored.ORIGINAL, f"{name}.{mirrored.ORIGINAL}{suffix}", "?original=true")]
    if metadata.get("has_archive_version"):
        files.append(_File(mirrored.ARCHIVE, f"{name}.{mirrored.ARCHIVE}.pdf", ""))
    return files


def _results(page: Any, host: str) -> list[Mapping[str, Any]]:
    """The rows of a page. Raises FetchError if it is not a page of this API."""
    rows = page.get("results") if isinstance(page, Mapping) else None
    counted = isinstance(page, Mapping) and type(page.get("count")) is int
    if not isinstance(rows, list) or not counted or not all(isinstance(row, Mapping) for row in rows):
        raise FetchError(f"{host} does not answer like Paperless-ngx; check url in relrag.toml")
    return rows


def _moment(value: Any) -> datetime | None:
    """A time of the API; None if it is missing or not one."""
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
