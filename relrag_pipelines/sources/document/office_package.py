"""The zip packages of office programs: Open XML (ECMA-376), OpenDocument (ISO 26300) and EPUB.

A package is checked before a part is read: how far it expands, how it is packed, whether it is encrypted.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from lxml import etree

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure
from relrag_pipelines.sources.document.document_text import (
    DocumentError,
    DocumentText,
    EmbeddedFile,
    Picture,
    clean_author,
    clean_title,
)
from relrag_pipelines.sources.formats import safe_zip

MAX_XML_BYTES = 48 * 2**20
"""XML read from one document: some 10,000 pages. The parsed tree takes several times as much memory."""
MAX_EMBEDDED_BYTES = 64 * 2**20
"""bytes of all files embedded in one document that are read"""
MAX_EMBEDDED = 200
"""files embedded in one document that are read"""

_PICTURE_FOLDERS = ("media", "Pictures")
"""folders of pictures in Open XML and OpenDocument"""
_SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}sldId"
_RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_STRICT_OFFICE = b"http://purl.oclc.org/ooxml/officeDocument/"
_STRICT = {
    **{
        b"http://purl.oclc.org/ooxml/%b/main" % name: b"http://schemas.openxmlformats.org/%b/2006/main" % name
        for name in (b"wordprocessingml", b"spreadsheetml", b"presentationml", b"drawingml")
    },
    _STRICT_OFFICE: b"http://schemas.openxmlformats.org/officeDocument/2006/",
}
"""Strict Open XML uses other namespaces for the same elements."""


@contextmanager
def open_package(data: bytes | Path, max_ratio: int, max_bytes: int) -> Iterator[Package]:
    """The package in a file that expands at most `max_ratio` times and to `max_bytes`. Raises DocumentError."""
    with io.BytesIO(data) if isinstance(data, bytes) else open_plain(data) as stream:
        size = stream.seek(0, io.SEEK_END)
        archive = _open_zip(stream, size)
        with archive:
            _check_size(archive, size, max_ratio, max_bytes)
            try:
                yield Package(archive)
            except (*safe_zip.BROKEN, etree.XMLSyntaxError) as error:
                safe_zip.raise_if_of_disk(error)
                why = (
                    f"the document is broken inside ({type(error).__name__}); open it in its program and save it again"
                )
                raise DocumentError("damaged", why) from None


def with_core_properties(document: DocumentText, package: Package) -> DocumentText:
    """The document with the title, author and date that an Open XML package states in its core properties."""
    core = package.tree("docProps/core.xml")
    title, author, modified, created = (
        core.findtext(f"{{*}}{name}", default="") for name in ("title", "creator", "modified", "created")
    )
    document.title, document.author = clean_title(title), clean_author(author)
    document.date = stated_date(modified) or stated_date(created)
    document.failures += package.failures
    return document


def stated_date(text: str) -> datetime | None:
    """A date in ISO 8601; None if the text is not a date."""
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def _open_zip(stream: BinaryIO, size: int) -> zipfile.ZipFile:
    try:
        safe_zip.check_directory(stream, size)
        return zipfile.ZipFile(stream)
    except safe_zip.ZipRejected as refused:
        raise DocumentError(refused.failure.fault, refused.failure.message) from None
    except safe_zip.BROKEN as error:
        safe_zip.raise_if_of_disk(error)
        why = "the document is not a zip, or its end is missing; export or download it again"
        raise DocumentError("damaged", why) from None


def _check_size(archive: zipfile.ZipFile, packed: int, max_ratio: int, max_bytes: int) -> None:
    """Raises DocumentError if the parts expand too far. `packed` is the file's size: the parts' own sizes may lie."""
    parts = archive.infolist()
    size = sum(part.file_size for part in parts)
    if size > max_bytes:
        raise DocumentError("too_large", f"expands to {size} bytes; archive_max_bytes is {max_bytes}")
    if any(part.compress_type not in safe_zip.METHODS for part in parts):
        why = "packed by another method than deflate; open it in its program and save it again"
        raise DocumentError("compression", why)
    if size > max_ratio * packed:
        raise DocumentError("too_large", f"expands {size // packed} times; archive_max_ratio is {max_ratio}")
    if any(part.flag_bits & 1 for part in parts):
        raise DocumentError("encrypted", "the document's zip asks for a password; save a copy without one")


@dataclass
class Package:
    """The parts of a document. A missing part reads as empty; a broken one is read up to the break."""

    archive: zipfile.ZipFile
    failures: list[Failure] = field(default_factory=list)
    room: int = MAX_XML_BYTES
    """bytes of XML that may still be read"""

    def has(self, name: str) -> bool:
        """Whether the package has a part of that name."""
        return name in self.archive.NameToInfo

    def data(self, name: str) -> bytes:
        """The bytes of a part of text or XML. Raises KeyError, and DocumentError when the parts grow too large."""
        self.room -= self.archive.getinfo(name).file_size
        if self.room < 0:
            raise DocumentError("too_large", f"its text takes more than {MAX_XML_BYTES:,} bytes of XML; split it")
        return self.archive.read(name)

    def tree(self, name: str) -> etree._Element:
        """The XML of a part."""
        try:
            data = self.data(name)
        except KeyError:
            return etree.Element("missing")
        for strict, usual in _STRICT.items():
            data = data.replace(strict, usual)
        parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
        tree = etree.fromstring(data, parser)
        if tree is None or len(parser.error_log):
            why = (
                "the part is broken and was read as far as it goes; open the document in its program and save it again"
            )
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

    def main_part(self) -> str:
        """The part of an Open XML package that its other parts belong to; empty if it has none."""
        return next((part for _, kind, part, _ in self.relations("") if kind == "officeDocument"), "")

    def embedded(self, suffixes: tuple[str, ...]) -> list[EmbeddedFile]:
        """Embedded files with one of these suffixes, in the package's order; a failure for those left out."""
        files: list[EmbeddedFile] = []
        room = MAX_EMBEDDED_BYTES
        for info in self.archive.infolist():
            path = PurePosixPath(info.filename)
            if path.parent.name != "embeddings" or path.suffix.lower() not in suffixes:
                continue
            room -= info.file_size
            if room < 0 or len(files) == MAX_EMBEDDED:
                why = "it holds more embedded files than are read; save those you need apart"
                self.failures.append(Failure(info.filename, "too_large", why))
                break
            files.append(EmbeddedFile(path.name, self.archive.read(info)))
        return files

    def pictures(self, suffixes: tuple[str, ...]) -> list[Picture]:
        """Pictures with one of these suffixes, in the package's order, with the slides that show them."""
        pages = self._slides_of_pictures()
        files: list[Picture] = []
        room = MAX_EMBEDDED_BYTES
        for info in self.archive.infolist():
            path = PurePosixPath(info.filename)
            if path.parent.name not in _PICTURE_FOLDERS or path.suffix.lower() not in suffixes:
                continue
            room -= info.file_size
            if room < 0 or len(files) == MAX_EMBEDDED:
                why = "it holds more pictures than are read; save those you need apart"
                self.failures.append(Failure(info.filename, "too_large", why))
                break
            files.append(Picture(path.name, self.archive.read(info), pages.get(info.filename)))
        return files

    def _slides_of_pictures(self) -> dict[str, int]:
        """Picture -> the number of the first slide that shows it."""
        main = self.main_part()
        if not main.startswith("ppt/"):
            return {}
        slides = {name: target for name, kind, target, _ in self.relations(main) if kind == "slide"}
        pages: dict[str, int] = {}
        for number, slide in enumerate(self.tree(main).iter(_SLIDE), 1):
            for _, kind, target, is_external in self.relations(slides.get(slide.get(_RELATION_ID, ""), "")):
                if kind == "image" and not is_external:
                    pages.setdefault(target, number)
        return pages
