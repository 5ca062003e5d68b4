"""Documents of Paperless-ngx: from the mirror of its server (`server.py`), or a folder of its document_exporter.

One document is one record, `paperless:<id>`. Its text comes by pages from the PDF that Paperless archived, else from
the original; if neither has any, it is the text that Paperless recognised. What the owner filed it under stands in
`extra` and, so that it is found, below the text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Page, Record
from relrag_pipelines.sources import Listing, ListingScope, ReadContext, Unit
from relrag_pipelines.sources import document as documents
from relrag_pipelines.sources.document.document_text import DocumentText
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.sources.paperless import export_folder, mirrored
from relrag_pipelines.sources.paperless.filed_document import FiledDocument
from relrag_pipelines.sources.unit_files import unit_of
from relrag_pipelines.text import reference_numbers

__all__ = ["read", "recognise", "units"]

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:T00:00:00.*)?")
_MIN_TEXT_RATIO = 0.5
"""a PDF with less text than this share of what Paperless recognised has no text layer of its own"""
_PAGE_BREAK = "\f"
_UNREADABLE_JSON = "is not what Paperless writes about a document; export it again, or run `relrag sync --full`"


def units(scope: ListingScope) -> Listing:
    """The documents of an export, if there is a manifest; else those of a mirror."""
    if manifests := export_folder.manifests(scope.root):
        return Listing(tuple(export_folder.units(scope.root, manifests)))
    files = sorted(scope.root.glob(f"*{mirrored.SUFFIX}"))
    return Listing(tuple(unit_of(file, scope.root, mirrored.files_beside(file)) for file in files))


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The record of a document, and failures of the parts that could not be read."""
    try:
        filed = export_folder.load(unit) if unit.version else mirrored.load(unit)
    except (ValueError, KeyError, TypeError, AttributeError):
        yield Failure("", "damaged", f"the file {_UNREADABLE_JSON}", whole_unit=True)
        return
    if filed is None:
        yield Failure("", "damaged", "the manifest no longer names the document; list it again", whole_unit=True)
        return
    text, failures = _text_of(filed, reading)
    yield from failures
    yield _record(filed, text, unit, reading)


def recognise(file: Path) -> bool:
    """Whether a file is the manifest of an export."""
    with open_plain(file) as opened:
        head = opened.read(4096)
    return head.lstrip().startswith(b"[") and b'"model"' in head and b'"pk"' in head


def _text_of(filed: FiledDocument, reading: ReadContext) -> tuple[DocumentText, list[Failure]]:
    """The text of a document by pages, and what was wrong with its files."""
    recognised = _recognised_text(filed)
    failures: list[Failure] = []
    for file in (filed.archive, filed.original):
        if file is None or file.suffix.lower() not in documents.SUFFIXES:
            continue
        bounds = {"max_ratio": reading.archive_max_ratio, "max_bytes": reading.archive_max_bytes}
        extracted = documents.extract(file, file.name, reading.limits, **bounds)
        if extracted.readable and len(extracted.text) >= _MIN_TEXT_RATIO * len(recognised.text):
            return extracted, extracted.failures
        failures = [] if extracted.readable else extracted.failures
    if recognised.text:
        return recognised, []
    return recognised, [Failure("", failure.fault, failure.message) for failure in failures]


def _recognised_text(filed: FiledDocument) -> DocumentText:
    """The text that Paperless recognised, by pages where it marks them."""
    text, pages = "", []
    parts = (
        clean(filed.content).split(_PAGE_BREAK)
        if _PAGE_BREAK not in filed.content
        else [clean(part) for part in filed.content.split(_PAGE_BREAK)]
    )
    for number, part in enumerate(parts, start=1):
        if part.strip():
            text += "\n\n" if text else ""
            pages.append(Page(number, len(text), len(text) + len(part)))
            text += part
    return DocumentText(filed.mime_type, text, pages=pages)


def _record(filed: FiledDocument, document: DocumentText, unit: Unit, reading: ReadContext) -> Record:
    ts, quality = _created(filed.created)
    filing = "\n".join(filed.filing())
    text = "\n\n".join(part for part in (document.text, filing) if part)
    record = Record(
        source_id=str(filed.id),
        text=text,
        rag_source_type="paperless",
        from_=filed.correspondent or None,
        subject=filed.title or None,
        ts=ts,
        date_quality=quality,
        content_type=filed.mime_type or None,
        file_name=filed.original_name or None,
        source_uri=filed.address or unit.path,
        locations=[unit.path],
        language=filed.language or None,
        pages=document.pages,
        numbers=reference_numbers.find_reference_numbers(text),
        extra={
            "document_type": filed.document_type,
            "tags": filed.tags,
            "storage_path": filed.storage_path,
            "custom_fields": filed.custom_fields,
            "notes": filed.notes,
            "archive_serial_number": filed.archive_serial_number,
            "page_count": document.page_count or filed.page_count,
            "added": filed.added,
            "modified": filed.modified,
            "archived": filed.archive is not None,
            "checksum": reading.hash(filed.checksum) if filed.checksum else "",
            "bytes_hash": _bytes_hash(filed.original or filed.archive, reading),
        },
    )
    record.extra = {name: value for name, value in record.extra.items() if value}
    return record


def _bytes_hash(file: Path | None, reading: ReadContext) -> str:
    """The hash by which the same file is recognised in other sources."""
    if file is None:
        return ""
    with open_plain(file) as opened:
        return reading.hash(hashlib.file_digest(opened, "sha256").hexdigest())


def _created(created: str) -> tuple[int | None, str]:
    """Seconds since 1970 and date_quality of a date or time as the API gives it."""
    if day := _DAY.fullmatch(created):
        year, month, date = map(int, day.groups())
        try:
            return int(datetime(year, month, date, tzinfo=UTC).timestamp()), "day"
        except ValueError:
            return None, "none"
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        return None, "none"
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()), "exact"
