"""OpenDocument (ISO 26300): texts (.odt), spreadsheets (.ods, a sheet is a page) and presentations (.odp, a slide).

A cell stands as the program showed it, which the format stores beside its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml import etree

from relrag_pipelines.sources.document.csv import describe_rows
from relrag_pipelines.sources.document.document_text import (
    DocumentError,
    DocumentText,
    PagedText,
    clean_author,
    clean_title,
)
from relrag_pipelines.sources.document.office_package import Package, stated_date
from relrag_pipelines.sources.formats.text_cleaning import clean, one_line, table_row

CONTENT_TYPES = {
    ".odt": "application/vnd.oasis.opendocument.text",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odp": "application/vnd.oasis.opendocument.presentation",
}
MAX_REPEATED = 1_000
"""Equal rows, columns or spaces in a row that are read; a program writes a million for an empty rest of a sheet."""

_T = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_NOTE_MARKS = (f"{_T}note-citation", f"{_T}tracked-changes", f"{_OFFICE}forms", f"{_OFFICE}scripts")
_UNREAD = {*_NOTE_MARKS, f"{_T}sequence-decls", f"{_T}table-of-content-source"}
_SPACES = {f"{_T}tab": "\t", f"{_T}line-break": "\n"}
_LAYOUT_CLASSES = frozenset({"page-number", "date-time", "header", "footer", "page"})


def read(package: Package, content_type: str) -> DocumentText:
    """The text of an OpenDocument package. Raises DocumentError if it is encrypted or none of the three."""
    if b"manifest:encryption-data" in _manifest(package):
        raise DocumentError("encrypted", "the document asks for a password; save a copy without one")
    body = package.tree("content.xml").find(f"{_OFFICE}body")
    for name, reader in _READERS.items():
        part = None if body is None else body.find(f"{_OFFICE}{name}")
        if part is not None:
            return _with_meta(reader(part, content_type), package)
    if package.failures:
        raise DocumentError("damaged", "its content is broken; open the document in its program and save it again")
    raise DocumentError("wrong_format", "an OpenDocument file without a text, a table or slides; save it as PDF")


def _manifest(package: Package) -> bytes:
    return package.data("META-INF/manifest.xml") if package.has("META-INF/manifest.xml") else b""


def _read_text(body: etree._Element, content_type: str) -> DocumentText:
    notes: list[str] = []
    lines = list(_blocks(body, notes))
    return DocumentText(content_type, clean("\n\n".join([*lines, *notes])).strip())


def _read_sheets(body: etree._Element, content_type: str) -> DocumentText:
    paged, number = PagedText(), 0
    for number, sheet in enumerate(body.iterfind(f"{_TABLE}table"), 1):
        lines = describe_rows(list(_rows(sheet)))
        heading = f"# {one_line(sheet.get(f'{_TABLE}name', ''))}"
        paged.add(number, clean("\n".join([heading, "", *lines])) if lines else "")
    text = paged.finish()
    return DocumentText(content_type, text.text, pages=text.pages, page_count=number or None)


def _read_slides(body: etree._Element, content_type: str) -> DocumentText:
    paged, number, title = PagedText(), 0, None
    for number, slide in enumerate(body.iterfind(f"{_DRAW}page"), 1):
        lines = list(_slide(slide))
        title = title or next((line[2:] for line in lines if line.startswith("# ")), None)
        paged.add(number, clean("\n".join(lines)))
    text = paged.finish()
    return DocumentText(content_type, text.text, title=title, pages=text.pages, page_count=number or None)


_READERS: dict[str, Callable[[etree._Element, str], DocumentText]] = {
    "text": _read_text,
    "spreadsheet": _read_sheets,
    "presentation": _read_slides,
}


def _slide(slide: etree._Element) -> Iterator[str]:
    notes: list[str] = []
    for child in slide:
        if child.tag == f"{_PRESENTATION}notes":
            notes = list(_shape_lines(child))
        elif child.get(f"{_PRESENTATION}class") == "title":
            text = " ".join(_shape_lines(child))
            yield from [f"# {text}"] if text else []
        else:
            yield from _shape_lines(child)
    if notes:
        yield from ("", "Notes:", *notes)


def _shape_lines(shape: etree._Element) -> Iterator[str]:
    if shape.get(f"{_PRESENTATION}class") in _LAYOUT_CLASSES:
        return
    for child in shape:
        if child.tag in (f"{_T}p", f"{_T}h", f"{_T}list", f"{_TABLE}table"):
            yield from (line for block in _block(child, []) for line in block.split("\n"))
        elif isinstance(child.tag, str):
            yield from _shape_lines(child)


def _blocks(parent: etree._Element, notes: list[str]) -> Iterator[str]:
    for child in parent:
        if isinstance(child.tag, str) and child.tag not in _UNREAD:
            yield from _block(child, notes)


def _block(element: etree._Element, notes: list[str]) -> Iterator[str]:
    """The text blocks of an element: a paragraph, heading, list, table or their container; notes go into `notes`."""
    if element.tag in (f"{_T}p", f"{_T}h"):
        text = _inline(element, notes).strip()
        block = f"{_heading_marks(element)}{text}" if text else ""
    elif element.tag == f"{_T}list":
        items = (item for item in element if item.tag in (f"{_T}list-item", f"{_T}list-header"))
        lines = [" ".join(_blocks(item, notes)) for item in items]
        block = "\n".join(f"- {line}" for line in lines if line)
    elif element.tag == f"{_TABLE}table":
        block = "\n".join(table_row(row) for row in _rows(element) if any(row))
    else:
        yield from _blocks(element, notes)
        return
    if block:
        yield block


def _heading_marks(element: etree._Element) -> str:
    """The marks of a heading in Markdown; empty for a paragraph."""
    level = element.get(f"{_T}outline-level", "1") if element.tag == f"{_T}h" else ""
    return f"{'#' * min(int(level), 6)} " if level.isdecimal() and level.isascii() and len(level) < 3 else ""


def _inline(element: etree._Element, notes: list[str]) -> str:
    parts = [element.text or ""]
    for child in element:
        if child.tag == f"{_T}note":
            notes.append(" ".join(_blocks(child, notes)))
        elif child.tag == f"{_T}s":
            parts.append(" " * min(_count(child, f"{_T}c"), MAX_REPEATED))
        elif child.tag in _SPACES:
            parts.append(_SPACES[child.tag])
        elif child.tag == f"{_OFFICE}annotation":
            notes.append(" ".join(_blocks(child, notes)))
        elif isinstance(child.tag, str) and child.tag not in _UNREAD:
            parts.append(_inline(child, notes))
        parts.append(child.tail or "")
    return "".join(parts)


def _rows(table: etree._Element) -> Iterator[list[str]]:
    """The rows of a table; of equal rows one behind the other some are read, of empty ones one."""
    for row in table.iter(f"{_TABLE}table-row"):
        if next(row.iterancestors(f"{_TABLE}table")) is not table:
            continue  # of a table within a cell
        cells = _cells(row)
        repeated = min(_count(row, f"{_TABLE}number-rows-repeated"), MAX_REPEATED) if any(cells) else 1
        for _ in range(repeated):
            yield cells


def _cells(row: etree._Element) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            continue
        notes: list[str] = []
        text = one_line(" ".join(_blocks(cell, notes)) + "".join(f" ({note})" for note in notes))
        cells += [text] * min(_count(cell, f"{_TABLE}number-columns-repeated"), MAX_REPEATED)
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _count(element: etree._Element, attribute: str) -> int:
    text = element.get(attribute, "1")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def _with_meta(document: DocumentText, package: Package) -> DocumentText:
    meta = package.tree("meta.xml").find(f"{_OFFICE}meta")
    values = {name: "" if meta is None else meta.findtext(f"{{*}}{name}", default="") for name in _META}
    document.title = clean_title(values["title"]) or document.title
    document.author = clean_author(values["initial-creator"] or values["creator"])
    document.date = stated_date(values["date"]) or stated_date(values["creation-date"])
    document.failures += package.failures
    return document


_META = ("title", "initial-creator", "creator", "date", "creation-date")
