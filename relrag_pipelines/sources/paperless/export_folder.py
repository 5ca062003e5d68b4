"""A folder that Paperless-ngx's `document_exporter` wrote: one manifest, or with --split-manifest one a document.

A manifest is a list of Django objects with `model`, `pk` and `fields`; those of documents also name the exported files
(`__exported_file_name__`, `__exported_archive_name__`), relative to the folder. A document is a unit of its own: it is
read again if its objects, the names that they refer to or its files change.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from relrag_pipelines.files.regular_files import RefusedFile, check_file, read_plain
from relrag_pipelines.sources import ListingError, Unit, UnitRef
from relrag_pipelines.sources.paperless import mirrored
from relrag_pipelines.sources.paperless.filed_document import FiledDocument

MANIFEST = "manifest.json"
_FILE, _ARCHIVE = "__exported_file_name__", "__exported_archive_name__"
_NAMES = {"correspondent": "name", "documenttype": "name", "storagepath": "name", "tag": "name", "customfield": "name"}
_VALUES = (
    "value_text", "value_url", "value_date", "value_int", "value_float", "value_monetary", "value_bool",
    "value_long_text", "value_select", "value_document_ids",
)  # fmt: skip

Fields = Mapping[str, Any]


@dataclass
class _Export:
    """The objects of all manifests of an export."""

    documents: dict[int, Fields] = field(default_factory=dict)
    """fields of each document, with the names of its exported files"""
    names: dict[tuple[str, Any], Fields] = field(default_factory=dict)
    """(model, pk) -> fields of what documents refer to"""
    notes: dict[int, list[Fields]] = field(default_factory=lambda: defaultdict(list))
    values: dict[int, list[Fields]] = field(default_factory=lambda: defaultdict(list))
    """values of custom fields"""
    users: dict[Any, str] = field(default_factory=dict)


def manifests(root: Path) -> list[Path]:
    """The manifests of an export; empty if the folder is not an export."""
    main = root if root.is_file() else root / MANIFEST
    if main.name != MANIFEST or not main.is_file():
        return []
    return [main, *sorted(main.parent.glob(f"**/*-{MANIFEST}"))]


def units(root: Path, files: Sequence[Path]) -> Iterator[UnitRef]:
    """A unit for each document. Raises ListingError if a manifest cannot be read."""
    folder = files[0].parent
    export = _load(tuple(files), _version(files))
    for document_id in sorted(export.documents):
        filed = _document(export, document_id, folder)
        state = json.dumps([repr(filed), _files_version(filed)]).encode("utf-8", "surrogatepass")
        version = hashlib.blake2b(state, digest_size=16).hexdigest()
        yield UnitRef(mirrored.item_name(document_id, filed.checksum), version, files[0])


def load(unit: Unit) -> FiledDocument | None:
    """The document of a unit; None if the manifests no longer name it."""
    files = manifests(unit.file)
    export = _load(tuple(files), _version(files))
    document_id = mirrored.document_id(unit.path)
    return _document(export, document_id, unit.file.parent) if document_id in export.documents else None


def _version(files: Sequence[Path]) -> tuple[tuple[int, int], ...]:
    return tuple((status.st_mtime_ns, status.st_size) for status in (file.stat() for file in files))


@functools.lru_cache(maxsize=2)
def _load(files: tuple[Path, ...], _: tuple[tuple[int, int], ...]) -> _Export:
    """The objects of the manifests; the second argument changes with the files."""
    export = _Export()
    for file in files:
        try:
            for item in json.loads(read_plain(file)):
                _add(export, item)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ListingError(f"{file} is not a manifest of Paperless's document_exporter; export again") from None
    return export


def _add(export: _Export, item: Mapping[str, Any]) -> None:
    model, pk, fields = str(item["model"]).rpartition(".")[2], item["pk"], item["fields"]
    if model == "document":
        export.documents[int(pk)] = {**fields, _FILE: item.get(_FILE), _ARCHIVE: item.get(_ARCHIVE)}
    elif model == "note":
        export.notes[int(fields["document"])].append(fields)
    elif model == "customfieldinstance":
        export.values[int(fields["document"])].append(fields)
    elif model == "user":
        export.users[pk] = str(fields.get("username", ""))
    elif model in _NAMES:
        export.names[model, pk] = fields


def _document(export: _Export, document_id: int, folder: Path) -> FiledDocument:
    fields = export.documents[document_id]
    return FiledDocument(
        id=document_id,
        title=_text(fields, "title"),
        content=_text(fields, "content"),
        created=_text(fields, "created"),
        added=_text(fields, "added"),
        modified=_text(fields, "modified"),
        mime_type=_text(fields, "mime_type"),
        original_name=_text(fields, "original_filename") or Path(_text(fields, "filename")).name,
        checksum=_text(fields, "checksum"),
        correspondent=_name(export, "correspondent", fields.get("correspondent")),
        document_type=_name(export, "documenttype", fields.get("document_type")),
        storage_path=_name(export, "storagepath", fields.get("storage_path")),
        archive_serial_number=fields.get("archive_serial_number"),
        page_count=fields.get("page_count"),
        tags=[name for tag in fields.get("tags") or () if (name := _name(export, "tag", tag))],
        custom_fields=[pair for value in export.values.get(document_id, ()) if (pair := _custom_field(export, value))],
        notes=[_note(export, note) for note in export.notes.get(document_id, ())],
        archive=_exported(folder, fields.get(_ARCHIVE)),
        original=_exported(folder, fields.get(_FILE)),
    )


def _text(fields: Mapping[str, Any], name: str) -> str:
    return str(fields.get(name) or "")


def _name(export: _Export, model: str, pk: Any) -> str:
    return str(export.names.get((model, pk), {}).get("name") or "")


def _note(export: _Export, note: Fields) -> list[str]:
    return [str(note.get("created") or "")[:10], export.users.get(note.get("user"), ""), str(note.get("note") or "")]


def _custom_field(export: _Export, value: Fields) -> list[str]:
    """Name and value of a custom field; empty if it has no value."""
    declared = export.names.get(("customfield", value.get("field")), {})
    content = next((value[name] for name in _VALUES if value.get(name) is not None), None)
    if content is None or not declared.get("name"):
        return []
    return [str(declared["name"]), describe_value(content, declared.get("extra_data"))]


def describe_value(content: Any, extra_data: Any) -> str:
    """The value of a custom field as text; of a choice its label."""
    options = (extra_data or {}).get("select_options") if isinstance(extra_data, Mapping) else None
    for index, option in enumerate(options or ()):
        if isinstance(option, Mapping) and option.get("id") == content:
            return str(option.get("label", ""))
        if isinstance(option, str) and index == content:
            return option
    if isinstance(content, list):
        return ", ".join(map(str, content))
    return {True: "yes", False: "no"}.get(content, str(content)) if isinstance(content, bool) else str(content)


def _exported(folder: Path, name: Any) -> Path | None:
    """A file of the export, if it is a regular file in its folder."""
    if not name or not isinstance(name, str):
        return None
    file = folder / name
    try:
        if not file.resolve().is_relative_to(folder.resolve()):
            return None
        check_file(file, folder, follow_links=False)
    except (RefusedFile, OSError):
        return None
    return file


def _files_version(filed: FiledDocument) -> list[tuple[int, int]]:
    return [(file.stat().st_mtime_ns, file.stat().st_size) for file in (filed.archive, filed.original) if file]
