"""PDF by PDFium: the text of every page with its number, tables kept in columns, filled forms included.

PDFium marks a hyphen that ends a line within a word with U+FFFE. Before a small letter the word is joined (unless the
document writes it with a hyphen elsewhere); before a capital or a digit the hyphen is part of the word and stays.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator
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
"""A gap wider than this part of the letters' height separates two cells; a space takes a quarter to a half of it."""

_LOCK = threading.Lock()
"""PDFium must not be entered by two threads at once."""
_LINE_END = re.compile("\r\n|\ufffe")
_SPACES = re.compile(r"[ \t\xa0]+")
_BROKEN_WORD = re.compile("([^\\W\\d_]+)\ufffe([^\\W\\d_]+)")
_HYPHENATED = re.compile(r"([^\W\d_]+)-(?=([^\W\d_]+))")
_BROKEN_NUMBER = re.compile(r"(?<=\w-)\n(?=\d)")
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([-+])(\d\d)'?(\d\d)?|(Z))?")


class _GarbledPageError(Exception):
    """A page whose text is not what is drawn on it."""


def extract(data: bytes | Path) -> DocumentText:
    """The text of a PDF. Raises DocumentError where it is encrypted, no page can be reached, or all are garbled."""
    with _LOCK, contextlib.closing(_open(data)) as document:
        found = _read_pages(document)
        about = document.get_metadata_dict(skip_empty=True)
    found.title = clean_title(about.get("Title")) or first_line_title(found.text)
    found.author = clean_author(about.get("Author"))
    found.date = parse_date(about.get("CreationDate", "")) or parse_date(about.get("ModDate", ""))
    return found


def parse_date(text: str) -> datetime | None:
    """A date as PDF writes it, `D:20250114093000+01'00'`; without a zone where none is given (ISO 32000-1, 7.9.4)."""
    if not (match := _DATE.match(text)):
        return None
    year, month, day, hour, minute, second = (
        int(part or default) for part, default in zip(match.groups(), "011000", strict=False)
    )
    sign, zone_hours, zone_minutes, utc = match.groups()[6:]
    offset = timedelta(hours=int(zone_hours or 0), minutes=int(zone_minutes or 0))
    try:
        zone = timezone(-offset if sign == "-" else offset) if sign or utc else None
        return datetime(year, month, day, hour, minute, second, tzinfo=zone)
    except ValueError:
        return None


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
    found = DocumentText(CONTENT_TYPE, page_count=len(document))
    has_form = document.get_formtype() != pdfium.FORMTYPE_NONE
    if has_form:
        document.init_forms()
    texts: list[str] = []
    silent: list[int] = []
    garbled: list[int] = []
    size = 0
    for number in range(1, len(document) + 1):
        try:
            text, drawn = _read_page(document, number - 1, has_form)
        except pypdfium2.PdfiumError:
            why = "the page cannot be read; print the file to a new PDF to repair it"
            found.failures.append(Failure(f"page {number}", "broken_page", why))
            continue
        except _GarbledPageError:
            garbled.append(number)
            continue
        if not text and drawn:
            silent.append(number)
        if text:
            size += 2 * bool(texts)
            found.pages.append(Page(number, size, size + len(text)))
            texts.append(text)
            size += len(text)
    found.text = "\n\n".join(texts)
    if silent:
        why = f"no text layer on {len(silent)} of {len(document)} pages; run OCR over the file (for example ocrmypdf)"
        found.failures.append(Failure(_pages(silent), "no_text", why))
    if garbled:
        why = f"the fonts of {len(garbled)} of {len(document)} pages do not say which letters they draw; "
        why += "run OCR over the file (for example ocrmypdf --force-ocr)"
        if not texts:
            raise DocumentError("garbled_text", why)
        found.failures.append(Failure(_pages(garbled), "garbled_text", why))
    return found


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
    """A function that maps a position in the text to the letter's box."""
    same = textpage.count_chars() == len(text)  # else letters without Unicode are missing from the text
    handle, rectangle = textpage.raw, pdfium.FS_RECTF()
    reference, read = ctypes.byref(rectangle), pdfium.FPDFText_GetLooseCharBox

    def box(place: int) -> Box:
        read(handle, place if same else pdfium.FPDFText_GetCharIndexFromTextIndex(handle, place), reference)
        return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top

    return box


def _line(words: str, start: int, box: Callable[[int], Box], mark: str) -> PdfLine:
    """One line, cut into cells at wide gaps; start is the place of its first letter in the page's text."""
    begin, stop = len(words) - len(words.lstrip()), len(words.rstrip())
    first = opening = box(start + begin)
    bottom, height = first[1], first[3] - first[1]
    cells, cut = [], begin
    for space in _SPACES.finditer(words, begin, stop):
        before, after = box(start + space.start() - 1), box(start + space.end())
        if after[0] - before[2] > CELL_GAP * height or before[0] - after[2] > CELL_GAP * height:
            cells.append(_cell(words[cut : space.start()], opening, before))
            opening, cut = after, space.end()
    cells.append(_cell(words[cut:stop] + mark, opening, box(start + stop - 1)))
    return PdfLine(tuple(cells), bottom, height)


def _cell(text: str, opening: Box, closing: Box) -> Cell:
    return Cell(text, min(opening[0], closing[0]), max(opening[2], closing[2]))


def _join_words(text: str) -> str:
    """Joins words and numbers that a line end split."""

    elsewhere: dict[str, list[str]] = {}
    """first half -> second halves of the words that are written with a hyphen, sorted"""
    for head, tail in sorted(set(_HYPHENATED.findall(text))):
        elsewhere.setdefault(head, []).append(tail)

    def hyphenated(head: str, tail: str) -> bool:
        tails = elsewhere.get(head, [])
        place = bisect_left(tails, tail)
        return place < len(tails) and tails[place].startswith(tail)

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
