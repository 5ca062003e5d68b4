"""The form in which documents of a Paperless server are mirrored.

`<id>-<checksum>.json` holds what the API tells of a document, as it was sent, with the names for its ids.
`<id>-<checksum>.original.<suffix>` and `.archive.pdf` are its files. The checksum is in the name because a server may
give the id of a deleted document to another one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from relrag_pipelines.files.regular_files import read_plain
from relrag_pipelines.sources import Unit
from relrag_pipelines.sources.paperless.filed_document import FiledDocument

SUFFIX = ".json"
ORIGINAL, ARCHIVE = "original", "archive"
_CHECKSUM_DIGITS = 12


def item_name(document_id: int, checksum: str) -> str:
    """The name of a document's item, without suffix."""
    digits = "".join(letter for letter in checksum.lower() if letter in "0123456789abcdef")
    return f"{document_id}-{digits[:_CHECKSUM_DIGITS]}"


def document_id(path: str) -> int:
    """The id of the document of an item."""
    return int(path.partition("-")[0])


def files_beside(item: Path) -> tuple[Path, ...]:
    """The files of an item, in order."""
    return tuple(sorted(file for file in item.parent.glob(f"{item.stem}.*") if file.suffix != SUFFIX and file != item))


def load(unit: Unit) -> FiledDocument:
    """The document of an item. Raises ValueError, KeyError or TypeError if the file has another form."""
    body = json.loads(read_plain(unit.file))
    document, metadata, names = body["document"], body["metadata"], body["names"]
    return FiledDocument(
        id=int(document["id"]),
        title=_text(document, "title"),
        content=_text(document, "content"),
        created=_text(document, "created", "created_date"),
        added=_text(document, "added"),
        modified=_text(document, "modified"),
        mime_type=_text(metadata, "original_mime_type") or _text(document, "mime_type"),
        original_name=_text(document, "original_file_name") or _text(metadata, "original_filename"),
        checksum=_text(metadata, "original_checksum"),
        correspondent=_text(names, "correspondent"),
        document_type=_text(names, "document_type"),
        storage_path=_text(names, "storage_path"),
        language=_text(metadata, "lang"),
        address=_text(body, "address"),
        archive_serial_number=document.get("archive_serial_number"),
        page_count=document.get("page_count"),
        tags=list(names.get("tags", ())),
        custom_fields=[list(pair) for pair in names.get("custom_fields", ())],
        notes=[_note(note) for note in document.get("notes") or ()],
        archive=_file_of(unit, ARCHIVE),
        original=_file_of(unit, ORIGINAL),
    )


def _text(fields: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is not empty, as text."""
    return str(next((value for name in names if (value := fields.get(name))), ""))


def _file_of(unit: Unit, role: str) -> Path | None:
    stem = unit.file.stem
    return next((file for file in unit.companions if file.name.startswith(f"{stem}.{role}.")), None)


def _note(note: Mapping[str, Any]) -> list[str]:
    user = note.get("user") or {}
    author = user.get("username", "") if isinstance(user, Mapping) else ""
    return [_text(note, "created")[:10], str(author), _text(note, "note")]
