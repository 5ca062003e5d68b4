"""Documents: PDF, office documents, books, Markdown, HTML, text, CSV and TSV. One file is one record, and so is each
file that is embedded in it.

`extract` reads bytes or a file of any of these formats; attachments are read with it too. Anything unreadable is a
failure, never an exception, and the readable rest of the same file is kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from relrag_pipelines.files.regular_files import open_plain, read_plain
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.document import csv, html, office, pdf, text_markdown
from relrag_pipelines.sources.document.document_date import document_date
from relrag_pipelines.sources.document.document_text import DocumentError, DocumentText, EmbeddedFile
from relrag_pipelines.sources.document.ocr import read_scans
from relrag_pipelines.sources.document.pictures import with_pictures
from relrag_pipelines.sources.formats import picture_text
from relrag_pipelines.sources.formats.charset_detection import CharsetError, DecodedText
from relrag_pipelines.text import reference_numbers
from relrag_pipelines.workers.limits import Limits
from relrag_pipelines.workers.sandbox import ParserStopped, call

__all__ = ["SUFFIXES", "DocumentText", "extract", "extract_with_ocr", "pictures", "read", "recognise"]

SUFFIXES = {
    ".pdf": pdf.CONTENT_TYPE,
    **office.CONTENT_TYPES,
    ".md": text_markdown.MARKDOWN,
    ".markdown": text_markdown.MARKDOWN,
    ".html": html.CONTENT_TYPE,
    ".htm": html.CONTENT_TYPE,
    ".txt": text_markdown.TEXT,
    ".csv": csv.CONTENT_TYPES[".csv"],
    ".tsv": csv.CONTENT_TYPES[".tsv"],
}
"""Suffixes that are read -> MIME type."""

_HEAD = 8192
_HTML = re.compile(rb"\s*(?:<!doctype html|<html)", re.IGNORECASE)
_MISNAMED = {".xls": ".csv", ".doc": ".txt"}
"""how a text is read that bears one of these suffixes"""
_EMBEDDED = (".pdf", *office.CONTENT_TYPES, ".txt", ".csv", ".html", ".htm", ".md")
"""suffixes of embedded files that are records of their own"""
_PICTURES = tuple(picture_text.CONTENT_TYPES)
_LIMITS = Limits()


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The record of a file, and a failure for each part that could not be read.

    The id is a hash of the path, so that an edit keeps it. `extra.bytes_hash` is equal for equal bytes anywhere.
    """
    if unit.size > reading.unit_max_bytes:
        why = f"{unit.size} bytes; unit_max_bytes is {reading.unit_max_bytes}: raise it, or exclude the file"
        yield Failure("", "too_large", why, whole_unit=True)
        return
    name = PurePosixPath(unit.path).name
    with open_plain(unit.file) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    document = extract_with_ocr(unit.file, name, unit.size, reading)
    yield from document.failures
    if document.readable:
        record = _record(unit, reading, document, digest)
        yield record
        yield from _embedded_records(record, document.embedded, reading)


def extract_with_ocr(data: bytes | Path, name: str, size: int, reading: ReadContext) -> DocumentText:
    """What `extract` gives, with the text of scanned pages and of pictures where `ocr` is set."""
    bounds = {"max_ratio": reading.archive_max_ratio, "max_bytes": reading.archive_max_bytes}
    document = read_scans(extract(data, name, reading.limits, **bounds), data, size, reading)
    return with_pictures(document, reading)


def extract(
    data: bytes | Path,
    name: str,
    limits: Limits = _LIMITS,
    *,
    max_ratio: int = ReadContext.archive_max_ratio,
    max_bytes: int = ReadContext.archive_max_bytes,
) -> DocumentText:
    """Text, pages and title of a document named `name` (its head decides the format, and its suffix between texts).

    An office document may expand at most `max_ratio` times and to `max_bytes`; `limits` are those of the library that
    reads it. Raises OSError if a file cannot be opened; any other fault is reported in `readable` and `failures`.
    """
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    try:
        head = _head(data)
        suffix = suffix or _text_suffix(head)
        size = len(data) if isinstance(data, bytes) else data.stat().st_size
        if not size:
            raise DocumentError("empty", "the file has no bytes; restore it or delete it")
        document = _extract(data, size, suffix, head, limits, max_ratio, max_bytes)
    except (DocumentError, ParserStopped) as error:
        return _unreadable(suffix, error.fault, str(error))
    except CharsetError as error:
        advice = "save it as UTF-8" if error.fault == "charset" else "give it the suffix of what it is, or exclude it"
        return _unreadable(suffix, error.fault, f"{error}; {advice}")
    if not (document.text.strip() or document.failures or document.pictures):
        return _unreadable(suffix, "empty", "the document holds no text; restore it or delete it")
    document.numbers = reference_numbers.find_reference_numbers(document.text)
    return document


def recognise(file: Path) -> bool:
    """Whether a file is a document of these formats, by its suffix and its head."""
    suffix = file.suffix.lower()
    with open_plain(file) as opened:
        head = opened.read(_HEAD)
    if suffix == ".pdf":
        return b"%PDF-" in head[:1024]
    if suffix in office.CONTENT_TYPES:
        return head.startswith(office.SIGNATURES) or bool(_HTML.match(head)) or (suffix in _MISNAMED and _is_text(head))
    return suffix in SUFFIXES and _is_text(head)


def _is_text(head: bytes) -> bool:
    return bool(head) and (b"\0" not in head or head[:2] in (b"\xff\xfe", b"\xfe\xff"))


def _extract(
    data: bytes | Path, size: int, suffix: str, head: bytes, limits: Limits, max_ratio: int, max_bytes: int
) -> DocumentText:
    if suffix == ".pdf" or head.startswith(b"%PDF-"):
        return call(limits, size, pdf.extract, data)
    if suffix not in SUFFIXES:
        supported = ", ".join(SUFFIXES)
        description = f'"{suffix}"' if re.fullmatch(r"\.[a-z0-9]{1,8}", suffix) else "of an unknown kind"
        raise DocumentError("unsupported", f"files {description} are not read; known: {supported}")
    is_office = head.startswith(office.SIGNATURES)
    if suffix in office.CONTENT_TYPES or is_office:
        if is_office:
            return call(limits, size, office.extract, data, head[:16], max_ratio, max_bytes, _EMBEDDED, _PICTURES)
        suffix = _suffix_of_misnamed(head, suffix)
    return _extract_text(data if isinstance(data, bytes) else read_plain(data), suffix)


def _extract_text(data: bytes, suffix: str) -> DocumentText:
    if suffix in csv.CONTENT_TYPES:
        document, decoded = csv.extract(data, suffix)
    elif SUFFIXES[suffix] == html.CONTENT_TYPE:
        document, decoded = html.extract(data)
    else:
        document, decoded = (
            text_markdown.markdown(data) if SUFFIXES[suffix] == text_markdown.MARKDOWN else text_markdown.text(data)
        )
    document.failures += _warnings(decoded)
    return document


def _suffix_of_misnamed(head: bytes, suffix: str) -> str:
    """How a text is read that bears the suffix of an office document: web sites export tables as HTML or CSV so.

    Raises DocumentError if it is no text.
    """
    if _HTML.match(head):
        return ".html"
    if suffix not in _MISNAMED or not _is_text(head):
        raise DocumentError("damaged", f"a {suffix} that is not a zip or begins otherwise; export or download it again")
    return _MISNAMED[suffix]


def _warnings(decoded: DecodedText) -> list[Failure]:
    """A failure for a guessed charset or damaged characters, which did not keep the text from being read."""
    if decoded.damaged_places:
        why = (
            f"damaged in {decoded.damaged_places} places, where U+FFFD stands now; restore the file or save it as UTF-8"
        )
        return [Failure("text", "charset", why)]
    if not decoded.rivals:
        return []
    why = f"read as {decoded.charset}, but it may as well be {' or '.join(decoded.rivals)}; save it as UTF-8"
    return [Failure("text", "charset", why)]


def _unreadable(suffix: str, fault: str, message: str) -> DocumentText:
    """A document without text. Its earlier record is kept, unless the file is empty now."""
    failure = Failure("", fault, message, whole_unit=fault != "empty")
    return DocumentText(SUFFIXES.get(suffix, "application/octet-stream"), failures=[failure], readable=False)


def _head(data: bytes | Path) -> bytes:
    if isinstance(data, bytes):
        return data[:_HEAD]
    with open_plain(data) as file:
        return file.read(_HEAD)


def _text_suffix(head: bytes) -> str:
    """The suffix that a file without one would have, by its beginning."""
    if b"%PDF-" in head[:1024]:
        return ".pdf"
    if head.startswith(office.SIGNATURES):
        return ".docx"
    return ".html" if _HTML.match(head) else ".txt"


def _embedded_records(record: Record, files: list[EmbeddedFile], reading: ReadContext) -> Iterator[Record | Failure]:
    """The files that are embedded in a document, each preceded by its failures; those within them are not opened."""
    for index, file in enumerate(files):
        document = extract_with_ocr(file.data, file.name, len(file.data), reading)
        location = f"embedded {file.name}"
        yield from (
            replace(failure, location=f"{location} {failure.location}".strip(), whole_unit=False)
            for failure in document.failures
        )
        if document.readable:
            digest = reading.hash(hashlib.sha256(file.data).hexdigest())
            yield replace(
                record,
                source_id=f"{record.source_id}:{index}",
                text=document.text,
                from_=document.author or record.from_,
                subject=document.title or file.name,
                parent_asset_id=f"document:{record.source_id}",
                index_in_parent=index,
                total_siblings=len(files),
                content_type=document.content_type,
                file_name=file.name,
                pages=document.pages,
                numbers=document.numbers,
                locations=list(record.locations),
                extra={"size": len(file.data), "bytes_hash": digest},
            )


def _record(unit: Unit, reading: ReadContext, document: DocumentText, digest: str) -> Record:
    name = PurePosixPath(unit.path).name
    ts, quality = document_date(document, name, unit.mtime_ns, reading.timezone)
    extra = {"suffix": PurePosixPath(name).suffix.lower(), "size": unit.size, "bytes_hash": reading.hash(digest)}
    if document.author:
        extra["author"] = document.author
    if document.page_count is not None:
        extra["page_count"] = document.page_count
    return Record(
        source_id=reading.hash(unit.path),
        text=document.text,
        rag_source_type="documentation",
        from_=document.author,
        subject=document.title or PurePosixPath(name).stem,
        ts=ts,
        date_quality=quality,
        content_type=PurePosixPath(name).suffix.lower() or document.content_type,
        file_name=name,
        source_uri=unit.path,
        locations=[unit.path],
        language=document.language,
        pages=document.pages,
        numbers=document.numbers,
        extra=extra,
    )
