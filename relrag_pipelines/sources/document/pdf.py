"""PDF by PDFium: the text of every page with its number, tables kept in columns, filled forms included.

PDFium marks a hyphen that splits a word at a line end with U+FFFE. Before a small letter the word is joined (unless the
document hyphenates it elsewhere); before a capital or a digit the hyphen is part of the word and stays.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Page
from relrag_pipelines.sources.document.document_text import (
    DocumentError,
    DocumentText,
    clean_author,
    clean_title,
    first_line_title,
)
from relrag_pipelines.sources.document.garbled_text import is_garbled
from relrag_pipelines.sources.document.pdf_tables import Cell, PdfLine, layout
from relrag_pipelines.sources.formats.text_cleaning import clean

CONTENT_TYPE = "application/pdf"
CELL_GAP = 0.8
"""A gap wider than this multiple of the letters' height separates two cells; a space is a quarter to a half of it."""

_LOCK = threading.Lock()
"""PDFium isn't thread-safe."""
_LINE_END = re.compile("\r\n|\ufffe")
_SPACES = re.compile(r"[ \t\xa0]+")
_BROKEN_WORD = re.compile("([^\\W\\d_]+)\ufffe([^\\W\\d_]+)")
_HYPHENATED = re.compile(r"([^\W\d_]+)-(?=([^\W\d_]+))")
_BROKEN_NUMBER = re.compile(r"(?<=\w-)\n(?=\d)")
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([-+])(\d\d)'?(\d\d)?|(Z))?")


class _GarbledPageError(Exception):
    """The text of a page differs from what is drawn on it."""


def extract(data: bytes | Path) -> DocumentText:
    """The text of a PDF. Raises DocumentError if it is encrypted, has no readable page, or all pages are garbled."""
    with _LOCK, contextlib.closing(_open(data)) as document:
        document_text = _read_pages(document)
        metadata = document.get_metadata_dict(skip_empty=True)
    document_text.title = clean_title(metadata.get("Title")) or first_line_title(document_text.text)
    document_text.author = clean_author(metadata.get("Author"))
    document_text.date = parse_date(metadata.get("CreationDate", "")) or parse_date(metadata.get("ModDate", ""))
    return document_text


def parse_date(text: str) -> datetime | None:
    """A date in PDF's format, `D:20250114093000+01'00'`; without a zone if it has none (ISO 32000-1, 7.9.4)."""
    if not (match := _DATE.match(text)):
        return None
    year, month, day, hour, minute, second = (
        int(part or default) for part, default in zip(match.groups(), "011000", strict=False)
    )
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=_zone(*match.groups()[6:]))
    except ValueError:
        return None


def _zone(sign: str | None, hours: str | None, minutes: str | None, utc: str | None) -> timezone | None:
    """The zone of a date; None if the date has none. Raises ValueError for an offset of a day or more."""
    if not sign and not utc:
        return None
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    return timezone(-offset if sign == "-" else offset)


def _open(data: bytes | Path) -> pypdfium2.PdfDocument:
    try:
        # opened here: by its name PDFium would open anything
        document = pypdfium2.PdfDocument(data if isinstance(data, bytes) else open_plain(data), autoclose=True)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise DocumentError("encrypted", "the PDF asks for a password; save a copy without one") from None
        raise DocumentError("damaged", "not a PDF that can be opened; export or download it again") from None
    if not len(document):
        document.close()
        raise DocumentError("damaged", "a PDF without pages; export or download it again")
    return document


def _read_pages(document: pypdfium2.PdfDocument) -> DocumentText:
    result = DocumentText(CONTENT_TYPE, page_count=len(document))
    has_form = document.get_formtype() != pdfium.FORMTYPE_NONE
    if has_form:
        document.init_forms()
    pages = _PageTexts(result)
    for number in range(1, len(document) + 1):
        _add_page(pages, document, number, has_form)
    result.text = "\n\n".join(pages.texts)
    result.scanned = pages.without_text
    if pages.without_text:
        result.failures.append(_no_text_failure(pages.without_text, len(document)))
    if pages.garbled:
        failure = _garbled_failure(pages.garbled, len(document))
        if not pages.texts:
            raise DocumentError(failure.fault, failure.message)
        result.failures.append(failure)
    return result


@dataclass
class _PageTexts:
    """The texts of the pages read so far, and the numbers of pages without one."""

    document: DocumentText
    texts: list[str] = field(default_factory=list)
    without_text: list[int] = field(default_factory=list)
    """pages on which something is drawn, but nothing written"""
    garbled: list[int] = field(default_factory=list)
    _size: int = 0
    """characters of the joined texts"""

    def add(self, number: int, text: str) -> None:
        """Adds the text of a page."""
        begin = self._size + 2 * bool(self.texts)
        self._size = begin + len(text)
        self.document.pages.append(Page(number, begin, self._size))
        self.texts.append(text)


def _add_page(pages: _PageTexts, document: pypdfium2.PdfDocument, number: int, has_form: bool) -> None:
    """Reads a page, numbered from 1."""
    try:
        text, has_drawing = _read_page(document, number - 1, has_form)
    except pypdfium2.PdfiumError:
        why = "the page cannot be read; print the file to a new PDF to repair it"
        pages.document.failures.append(Failure(f"page {number}", "broken_page", why))
    except _GarbledPageError:
        pages.garbled.append(number)
    else:
        if text:
            pages.add(number, text)
        elif has_drawing:
            pages.without_text.append(number)


def _no_text_failure(numbers: list[int], page_count: int) -> Failure:
    why = f"no text layer on {len(numbers)} of {page_count} pages; run OCR over the file (for example ocrmypdf), "
    return Failure(_pages(numbers), "no_text", f'{why}or set ocr = "tesseract"')


def _garbled_failure(numbers: list[int], page_count: int) -> Failure:
    why = f"the fonts of {len(numbers)} of {page_count} pages do not say which letters they draw; "
    why += "run OCR over the file (for example ocrmypdf --force-ocr)"
    return Failure(_pages(numbers), "garbled_text", why)


def _pages(numbers: list[int]) -> str:
    return f"{'page' if len(numbers) == 1 else 'pages'} {_ranges(numbers)}"


def _read_page(document: pypdfium2.PdfDocument, index: int, has_form: bool) -> tuple[str, bool]:
    """The page's text, and whether anything is drawn on it. Raises _GarbledPageError."""
    if has_form:
        with contextlib.closing(document[index]) as page:
            page.flatten()  # what was filled in becomes part of the page when it is loaded again
    with contextlib.closing(document[index]) as page, contextlib.closing(page.get_textpage()) as textpage:
        raw = textpage.get_text_range()
        if is_garbled(textpage, raw):
            raise _GarbledPageError
        text = clean(_join_words(layout(list(_lines(textpage, raw))))).strip()
        return text if any(map(str.isalnum, text)) else "", pdfium.FPDFPage_CountObjects(page) > 0


def _lines(textpage: pypdfium2.PdfTextPage, text: str) -> Iterator[PdfLine]:
    box = _boxes(textpage, text)
    start = 0
    for words in _LINE_END.split(text):
        end = start + len(words)
        if words.strip():
            yield _line(words, start, box, "\ufffe" if text.startswith("\ufffe", end) else "")
        start = end + (2 if text.startswith("\r\n", end) else 1)


Box = tuple[float, float, float, float]
"""left, bottom, right, top of a letter, advance width and line height included; points from the lower left corner"""


def _boxes(textpage: pypdfium2.PdfTextPage, text: str) -> Callable[[int], Box]:
    """A function that maps an offset in the text to the letter's box."""
    same = textpage.count_chars() == len(text)  # else letters without Unicode are missing from the text
    handle, rectangle = textpage.raw, pdfium.FS_RECTF()
    reference, read = ctypes.byref(rectangle), pdfium.FPDFText_GetLooseCharBox

    def box(offset: int) -> Box:
        read(handle, offset if same else pdfium.FPDFText_GetCharIndexFromTextIndex(handle, offset), reference)
        return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top

    return box


def _line(words: str, start: int, box: Callable[[int], Box], mark: str) -> PdfLine:
    """One line, split into cells at wide gaps; `start` is the offset of its first letter in the page's text."""
    begin, stop = len(words) - len(words.lstrip()), len(words.rstrip())
    first = opening = box(start + begin)
    bottom, height = first[1], first[3] - first[1]
    cells, cell_start = [], begin
    for space in _SPACES.finditer(words, begin, stop):
        previous, following = box(start + space.start() - 1), box(start + space.end())
        if following[0] - previous[2] > CELL_GAP * height or previous[0] - following[2] > CELL_GAP * height:
            cells.append(_cell(words[cell_start : space.start()], opening, previous))
            opening, cell_start = following, space.end()
    cells.append(_cell(words[cell_start:stop] + mark, opening, box(start + stop - 1)))
    return PdfLine(tuple(cells), bottom, height)


def _cell(text: str, opening: Box, closing: Box) -> Cell:
    return Cell(text, min(opening[0], closing[0]), max(opening[2], closing[2]))


def _join_words(text: str) -> str:
    """Joins words and numbers that a line end split."""

    tails_by_head: dict[str, list[str]] = {}
    """first half -> second halves of words with a written hyphen, sorted"""
    for head, tail in sorted(set(_HYPHENATED.findall(text))):
        tails_by_head.setdefault(head, []).append(tail)

    def hyphenated(head: str, tail: str) -> bool:
        tails = tails_by_head.get(head, [])
        index = bisect_left(tails, tail)
        return index < len(tails) and tails[index].startswith(tail)

    def join(match: re.Match[str]) -> str:
        head, tail = match.groups()
        return head + tail if tail[0].islower() and not hyphenated(head, tail) else f"{head}-{tail}"

    text = _BROKEN_WORD.sub(join, text.replace("\ufffe\n", "\ufffe"))
    return _BROKEN_NUMBER.sub("", text.replace("\ufffe", "-"))


def _ranges(numbers: list[int]) -> str:
    """[2, 5, 6, 7] as `2, 5-7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
