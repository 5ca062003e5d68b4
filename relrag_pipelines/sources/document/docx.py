"""DOCX (ECMA-376), read directly from the zip, since real files refer to missing parts.

Headers come before the text; footers, notes and comments after it. Text that a tracked change deleted is left out.
Headings get the `#` of Markdown, list items a `-`.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from lxml import etree

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure
from relrag_pipelines.sources.document.document_text import (
    DocumentError,
    DocumentText,
    clean_author,
    clean_title,
    first_line_title,
)
from relrag_pipelines.sources.document.docx_text import Context, blocks, comments, heading_levels, notes
from relrag_pipelines.sources.formats import safe_zip
from relrag_pipelines.sources.formats.text_cleaning import clean

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_WINDOW = 2**20
MAX_XML_BYTES = 48 * 2**20
"""XML read from one document: some 10,000 pages. The parsed tree takes several times as much memory."""
_STRICT = {
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    b"http://purl.oclc.org/ooxml/officeDocument/": b"http://schemas.openxmlformats.org/officeDocument/2006/",
}
"""Strict Open XML uses other namespaces for the same elements."""


def extract(data: bytes | Path, max_ratio: int, max_bytes: int) -> DocumentText:
    """The text of a DOCX that expands at most `max_ratio` times and to `max_bytes`. Raises DocumentError."""
    with io.BytesIO(data) if isinstance(data, bytes) else open_plain(data) as stream:
        size = stream.seek(0, io.SEEK_END)
        try:
            safe_zip.check_directory(stream, size)
            archive = zipfile.ZipFile(stream)
        except safe_zip.ZipRejected as refused:
            raise DocumentError(refused.failure.fault, refused.failure.message) from None
        except safe_zip.BROKEN as error:
            safe_zip.raise_if_of_disk(error)
            raise _no_zip(stream) from None
        with archive:
            _check_size(archive, size, max_ratio, max_bytes)
            try:
                return _read(_Package(archive))
            except (*safe_zip.BROKEN, etree.XMLSyntaxError) as error:
                safe_zip.raise_if_of_disk(error)
                why = f"the document is broken inside ({type(error).__name__}); open it in Word and save it again"
                raise DocumentError("damaged", why) from None


def _no_zip(stream: BinaryIO) -> DocumentError:
    stream.seek(0)
    head = stream.read(_WINDOW)
    if not head.startswith(_OLE):
        return DocumentError("damaged", "a .docx that is not a zip; export or download it again")
    encrypted, word = False, "EncryptedPackage".encode("utf-16-le")
    while head and not encrypted:  # it may be as large as a unit may be
        encrypted, tail = word in head, head[-len(word) :]
        more = stream.read(_WINDOW)
        head = tail + more if more else b""
    if encrypted:
        return DocumentError("encrypted", "the document asks for a password; save a copy without one")
    return DocumentError("old_format", "a Word file from before 2007 named .docx; save it as DOCX or PDF")


def _check_size(archive: zipfile.ZipFile, packed: int, max_ratio: int, max_bytes: int) -> None:
    """Raises DocumentError if the parts expand too far. `packed` is the file's size: the parts' own sizes may lie."""
    parts = archive.infolist()
    size = sum(part.file_size for part in parts)
    if size > max_bytes:
        raise DocumentError("too_large", f"expands to {size} bytes; archive_max_bytes is {max_bytes}")
    if any(part.compress_type not in safe_zip.METHODS for part in parts):
        raise DocumentError("compression", "packed by another method than deflate; open it in Word and save it again")
    if size > max_ratio * packed:
        raise DocumentError("too_large", f"expands {size // packed} times; archive_max_ratio is {max_ratio}")
    if any(part.flag_bits & 1 for part in parts):
        raise DocumentError("encrypted", "the document's zip asks for a password; save a copy without one")


@dataclass
class _Package:
    """The XML parts of a document. A missing part reads as empty; a broken one is read up to the break."""

    archive: zipfile.ZipFile
    failures: list[Failure] = field(default_factory=list)
    room: int = MAX_XML_BYTES
    """bytes of XML that may still be read"""

    def tree(self, name: str) -> etree._Element:
        try:
            self.room -= self.archive.getinfo(name).file_size
            if self.room < 0:
                raise DocumentError("too_large", f"its text takes more than {MAX_XML_BYTES:,} bytes of XML; split it")
            data = self.archive.read(name)
        except KeyError:
            return etree.Element("missing")
        for strict, usual in _STRICT.items():
            data = data.replace(strict, usual)
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
        tree = etree.fromstring(data, parser)
        if tree is None or len(parser.error_log):
            why = "the part is broken and was read as far as it goes; open the document in Word and save it again"
            self.failures.append(Failure(name, "broken_part", why))
        return etree.Element("missing") if tree is None else tree

    def relations(self, name: str) -> Iterator[tuple[str, str, str, bool]]:
        """References of a part: id, kind, target (part or address), and whether it is outside the document."""
        folder, base = posixpath.split(name)
        for relation in self.tree(posixpath.join(folder, "_rels", f"{base}.rels")).iter(_RELATION):
            target, kind = relation.get("Target", ""), relation.get("Type", "").rpartition("/")[2]
            is_external = relation.get("TargetMode") == "External"
            part = posixpath.normpath(posixpath.join("/", folder, target))[1:]
            yield relation.get("Id", ""), kind, target if is_external else part, is_external


def _read(parts: _Package) -> DocumentText:
    main = next((part for _, kind, part, _ in parts.relations("") if kind == "officeDocument"), "word/document.xml")
    if main not in parts.archive.namelist() or main.endswith((".bin", "workbook.xml", "presentation.xml")):
        raise DocumentError("wrong_format", "a zip that is not a Word document; give it the right suffix")
    context = Context()
    related: dict[str, list[etree._Element]] = {}
    for name, kind, target, is_external in sorted(parts.relations(main)):
        if is_external:
            context.links[name] = target
        elif kind in ("styles", "header", "footer", "footnotes", "endnotes", "comments"):
            related.setdefault(kind, []).append(parts.tree(target))
    for styles in related.get("styles", []):
        context.levels |= heading_levels(styles)
    texts = _texts(parts.tree(main), related, context)
    return _with_properties(parts, context, re.sub(r"\n{3,}", "\n\n", clean("\n\n".join(texts))).strip())


def _texts(main: etree._Element, related: dict[str, list[etree._Element]], context: Context) -> list[str]:
    """The texts of a document in reading order; `related` holds the trees of its other parts by kind."""
    texts = _distinct("\n".join(blocks(tree, context)) for tree in related.get("header", []))
    texts += blocks(main, context)
    for tree in (*related.get("footnotes", []), *related.get("endnotes", [])):
        texts += notes(tree, context)
    for tree in related.get("comments", []):
        texts += comments(tree, context)
    texts += _distinct("\n".join(blocks(tree, context)) for tree in related.get("footer", []))
    return texts


def _with_properties(parts: _Package, context: Context, text: str) -> DocumentText:
    core = parts.tree("docProps/core.xml")
    title, author, modified, created = (
        core.findtext(f"{{*}}{name}", default="") for name in ("title", "creator", "modified", "created")
    )
    return DocumentText(
        CONTENT_TYPE,
        text,
        title=clean_title(title) or clean_title(context.title) or first_line_title(text),
        author=clean_author(author),
        date=_date(modified) or _date(created),
        failures=parts.failures,
    )


def _date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def _distinct(texts: Iterator[str]) -> list[str]:
    """Distinct headers or footers, as sections repeat them; those without a letter are page numbers and left out."""
    return [text for text in dict.fromkeys(texts) if any(map(str.isalpha, text))]
