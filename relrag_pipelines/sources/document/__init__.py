"""Documents: PDF with pages, DOCX, Markdown, HTML, text, CSV and TSV. One file is one record.

`extract` reads bytes or a file of any of these formats; attachments are read with it too. Anything unreadable is a
failure, never an exception, and the readable rest of the same file is kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from relrag_pipelines.files.regular_files import open_plain, read_plain
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.document import csv, docx, html, pdf, text_markdown
from relrag_pipelines.sources.document.document_date import document_date
from relrag_pipelines.sources.document.document_text import DocumentError, DocumentText
from relrag_pipelines.sources.formats.charset_detection import CharsetError, DecodedText
from relrag_pipelines.text import reference_numbers
from relrag_pipelines.workers.sandbox import Limits, ParserStopped, call

__all__ = ["SUFFIXES", "DocumentText", "extract", "read", "recognise"]

SUFFIXES = {
    ".pdf": pdf.CONTENT_TYPE,
    ".docx": docx.CONTENT_TYPE,
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
    bounds = {"max_ratio": reading.archive_max_ratio, "max_bytes": reading.archive_max_bytes}
    document = extract(unit.file, name, reading.limits, **bounds)
    yield from document.failures
    if document.readable:
        yield _record(unit, reading, document, digest)


def extract(
    data: bytes | Path,
    name: str,
    limits: Limits = _LIMITS,
    *,
    max_ratio: int = ReadContext.archive_max_ratio,
    max_bytes: int = ReadContext.archive_max_bytes,
) -> DocumentText:
    """Text, pages and title of a document named `name` (its suffix decides the format, where it has none its head).

    A DOCX may expand at most `max_ratio` times and to `max_bytes`; `limits` are those of the library that reads it.
    Raises OSError if a file cannot be opened; any other fault is reported in `readable` and `failures`.
    """
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower() or _suffix_by_head(data)
    try:
        size = len(data) if isinstance(data, bytes) else data.stat().st_size
        if not size:
            raise DocumentError("empty", "the file has no bytes; restore it or delete it")
        document = _extract(data, size, suffix, limits, max_ratio, max_bytes)
    except (DocumentError, ParserStopped) as error:
        return _unreadable(suffix, error.fault, str(error))
    except CharsetError as error:
        advice = "save it as UTF-8" if error.fault == "charset" else "give it the suffix of what it is, or exclude it"
        return _unreadable(suffix, error.fault, f"{error}; {advice}")
    if not document.text.strip() and not document.failures:
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
    if suffix == ".docx":
        return head.startswith(b"PK\x03\x04")
    return suffix in SUFFIXES and bool(head) and (b"\0" not in head or head[:2] in (b"\xff\xfe", b"\xfe\xff"))


def _extract(
    data: bytes | Path, size: int, suffix: str, limits: Limits, max_ratio: int, max_bytes: int
) -> DocumentText:
    if suffix == ".pdf":
        return call(limits, size, pdf.extract, data)
    if suffix == ".docx":
        return call(limits, size, docx.extract, data, max_ratio, max_bytes)
    if suffix not in SUFFIXES:
        supported = ", ".join(SUFFIXES)
        description = f'"{suffix}"' if re.fullmatch(r"\.[a-z0-9]{1,8}", suffix) else "of an unknown kind"
        raise DocumentError("unsupported", f"files {description} are not read; known: {supported}")
    data = data if isinstance(data, bytes) else read_plain(data)
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


def _suffix_by_head(data: bytes | Path) -> str:
    if isinstance(data, Path):
        with open_plain(data) as file:
            head = file.read(_HEAD)
    else:
        head = data[:_HEAD]
    if b"%PDF-" in head[:1024]:
        return ".pdf"
    if head.startswith(b"PK\x03\x04"):
        return ".docx"
    return ".html" if re.match(rb"\s*(?:<!doctype html|<html)", head, re.IGNORECASE) else ".txt"


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
