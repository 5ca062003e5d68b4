"""Documents of office programs, told apart by what is in them: a file's suffix may be another one's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from relrag_pipelines.sources.document import docx, epub, old_office, opendocument, pptx, xlsx
from relrag_pipelines.sources.document.document_text import DocumentError, DocumentText
from relrag_pipelines.sources.document.office_package import Package, open_package

ZIP_SIGNATURE = b"PK\x03\x04"
SIGNATURES = (ZIP_SIGNATURE, old_office.SIGNATURE, old_office.RTF_SIGNATURE)
CONTENT_TYPES = {
    ".docx": docx.CONTENT_TYPE,
    ".docm": docx.CONTENT_TYPE,
    ".xlsx": xlsx.CONTENT_TYPE,
    ".xlsm": xlsx.CONTENT_TYPE,
    ".pptx": pptx.CONTENT_TYPE,
    ".ppsx": pptx.CONTENT_TYPE,
    ".epub": epub.CONTENT_TYPE,
    **opendocument.CONTENT_TYPES,
    **old_office.CONTENT_TYPES,
}
"""suffixes that are read -> MIME type"""

_MIME_TYPE = "mimetype"
"""the part of OpenDocument and EPUB that names the format"""
_OPEN_XML: dict[str, Callable[[Package, str], DocumentText]] = {
    "word/": docx.read,
    "xl/": xlsx.read,
    "ppt/": pptx.read,
}
"""folder of the main part -> reader"""


def extract(
    data: bytes | Path,
    head: bytes,
    max_ratio: int,
    max_bytes: int,
    embedded: tuple[str, ...] = (),
    pictures: tuple[str, ...] = (),
) -> DocumentText:
    """The text of a document whose first bytes are `head`, and its embedded files and pictures with these suffixes.

    A package may expand at most `max_ratio` times and to `max_bytes`. Raises DocumentError.
    """
    if head.startswith((old_office.SIGNATURE, old_office.RTF_SIGNATURE)):
        return old_office.read(data)
    with open_package(data, max_ratio, max_bytes) as package:
        document = _read(package)
        document.embedded = package.embedded(embedded) if embedded else []
        document.pictures = package.pictures(pictures) if pictures else []
        return document


def _read(package: Package) -> DocumentText:
    if package.has(_MIME_TYPE):
        content_type = package.data(_MIME_TYPE)[:200].decode("ascii", "replace").strip()
        if content_type == epub.CONTENT_TYPE:
            return epub.read(package)
        if content_type.startswith("application/vnd.oasis.opendocument."):
            return opendocument.read(package, content_type.removesuffix("-template"))
    main = package.main_part() or next((part for part in _USUAL_PARTS if package.has(part)), "")
    for folder, reader in _OPEN_XML.items():
        if main.startswith(folder) and package.has(main):
            xlsx.check_main_part(main)
            return reader(package, main)
    if package.has("META-INF/container.xml"):
        return epub.read(package)
    why = "a zip that is not a Word document, a workbook, a presentation or a book; give it the right suffix"
    raise DocumentError("wrong_format", why)


_USUAL_PARTS = ("word/document.xml", "xl/workbook.xml", "ppt/presentation.xml")
"""main parts of packages whose list of relations is missing"""
