"""Workbooks of Excel (.xlsx, ECMA-376): a sheet is a page, a row a line that names its columns.

Numbers and dates stand as the sheet shows them, formulas as the value that was computed last. Sheets are streamed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.document import number_formats
from relrag_pipelines.sources.document.csv import describe_rows
from relrag_pipelines.sources.document.document_text import DocumentError, DocumentText, PagedText
from relrag_pipelines.sources.document.office_package import Package, with_core_properties
from relrag_pipelines.sources.formats import safe_zip
from relrag_pipelines.sources.formats.text_cleaning import clean, one_line

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_COLUMNS = 16_384
"""columns of a sheet in Excel"""

S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_STRICT = "{http://purl.oclc.org/ooxml/spreadsheetml/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BOOLEANS = {"0": "FALSE", "1": "TRUE"}


@dataclass
class _Workbook:
    """What the cells of all sheets refer to."""

    strings: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    """number format by the index of a cell's style"""
    since_1904: bool = False


def read(package: Package, main: str) -> DocumentText:
    """The text of a workbook, whose main part is `main`."""
    tree, targets = package.tree(main), {}
    book = _Workbook(since_1904=any(_is_true(properties.get("date1904")) for properties in tree.iter(f"{S}workbookPr")))
    for name, kind, target, _ in package.relations(main):
        targets[name] = target
        if kind == "sharedStrings":
            book.strings = [one_line(_string(item)) for item in package.tree(target).iter(f"{S}si")]
        elif kind == "styles":
            book.formats = _formats(package.tree(target))
    paged = PagedText()
    for number, sheet in enumerate(tree.iter(f"{S}sheet"), 1):
        paged.add(number, clean(_sheet_text(package, targets.get(sheet.get(_R, ""), ""), sheet.get("name", ""), book)))
    text = paged.finish()
    document = DocumentText(CONTENT_TYPE, text.text, pages=text.pages, page_count=number if text.pages else None)
    return with_core_properties(document, package)


def _is_true(value: str | None) -> bool:
    return value in ("1", "true", "on")


def _string(item: etree._Element) -> str:
    """The text of a shared or inline string, without the readings that Japanese texts have beside it."""
    runs = item.iterfind(f"{S}r/{S}t") if item.find(f"{S}t") is None else item.iterfind(f"{S}t")
    return "".join(run.text or "" for run in runs)


def _formats(styles: etree._Element) -> list[str]:
    own = {int(code.get("numFmtId", "-1")): code.get("formatCode", "") for code in styles.iter(f"{S}numFmt")}
    formats = {**number_formats.BUILT_IN, **own}
    return [
        formats.get(int(style.get("numFmtId") or 0), number_formats.GENERAL)
        for style in styles.iterfind(f"{S}cellXfs/{S}xf")
    ]


def _sheet_text(package: Package, part: str, name: str, book: _Workbook) -> str:
    if not package.has(part):
        package.failures.append(Failure(f"sheet {name}", "broken_part", "the sheet is missing; save the file again"))
        return ""
    lines = describe_rows(list(_rows(package, part, book)))
    lines += list(_comments(package, part))
    return "\n".join([f"# {one_line(name)}", "", *lines]) if lines else ""


def _rows(package: Package, part: str, book: _Workbook) -> Iterator[list[str]]:
    """The cells of each row that has any, as shown; an empty row where rows are left out."""
    previous = 0
    try:
        with package.archive.open(part) as stream:
            for _, row in etree.iterparse(
                stream, tag=(f"{S}row", f"{_STRICT}row"), resolve_entities=False, no_network=True, recover=True
            ):
                number = _whole(row.get("r")) or previous + 1
                if number > previous + 1:
                    yield []
                previous = number
                yield _cells(row, book)
                _forget(row)
    except (*safe_zip.BROKEN, etree.XMLSyntaxError) as error:
        safe_zip.raise_if_of_disk(error)
        why = "the sheet is broken and was read as far as it goes; open the file in its program and save it again"
        package.failures.append(Failure(part, "broken_part", why))


def _forget(row: etree._Element) -> None:
    """Frees a row that was read, and what is before it."""
    row.clear()
    parent = row.getparent()
    while parent is not None and row.getprevious() is not None:
        del parent[0]


def _cells(row: etree._Element, book: _Workbook) -> list[str]:
    cells: list[str] = []
    for cell in row:
        column = _column((cell.get("r") or "").rstrip("0123456789")) or len(cells)
        if column >= MAX_COLUMNS:
            continue
        cells += [""] * (column - len(cells))
        text = _cell_text(cell, book)
        if column < len(cells):
            cells[column] = text
        else:
            cells.append(text)
    return cells


@functools.lru_cache(4096)
def _column(letters: str) -> int:
    """The number of a column, from 0, by its letters: `AB` is 27; 0 where they are none."""
    number = 0
    for letter in letters.upper():
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - 64
    return max(0, number - 1)


def _cell_text(cell: etree._Element, book: _Workbook) -> str:
    kind, value = cell.get("t", "n"), ""
    for child in cell:
        if child.tag.endswith("}v"):
            value = child.text or ""
        elif child.tag.endswith("}is"):
            return one_line(_string(child))
    if kind == "s":
        index = _whole(value)
        return book.strings[index] if index is not None and index < len(book.strings) else ""
    if kind == "b":
        return _BOOLEANS.get(value, value)
    return _number(value, cell.get("s"), book) if kind == "n" and value else one_line(value)


def _number(value: str, style: str | None, book: _Workbook) -> str:
    index = _whole(style)
    number_format = book.formats[index] if index is not None and index < len(book.formats) else ""
    try:
        return number_formats.shown(float(value), number_format, since_1904=book.since_1904)
    except (ValueError, OverflowError):
        return value


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None


def _comments(package: Package, part: str) -> Iterator[str]:
    """The comments of a sheet, each with its cell."""
    for _, kind, target, is_external in package.relations(part):
        if kind == "comments" and not is_external:
            for comment in package.tree(target).iter(f"{S}comment"):
                text = one_line("".join(comment.itertext()))
                if text:
                    yield f"{comment.get('ref', '')}: {text}"


def check_main_part(main: str) -> None:
    """Raises DocumentError for a workbook in Excel's binary format, which is no XML."""
    if main.endswith(".bin"):
        raise DocumentError("old_format", "a binary workbook (.xlsb); save it as .xlsx")
