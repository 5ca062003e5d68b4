"""Text of scanned pages, read by the tesseract program where it is installed and `ocr = "tesseract"`.

Each page is drawn and read in the sandbox, whose limits on time and memory the program inherits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pypdfium2

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Page
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.document.document_text import DocumentText, first_line_title
from relrag_pipelines.sources.formats.tesseract import INSTALL, MISSING, OCRError, read_picture
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.text import reference_numbers
from relrag_pipelines.workers.sandbox import ParserStopped, call

NO_TEXT = "no_text"
"""fault word of pages on which something is drawn and nothing written"""
_DOTS_AN_INCH = 300
_POINTS_AN_INCH = 72
_LONGEST_SIDE = 5_000
"""pixels of a page's longer side; a larger page is drawn smaller"""


def read_scans(document: DocumentText, data: bytes | Path, size: int, reading: ReadContext) -> DocumentText:
    """The document with the text of its scanned pages; their failure says more where they stay without."""
    if not document.scanned or not reading.ocr:
        return document
    if reading.ocr == MISSING:
        return replace(document, failures=[_with_advice(failure) for failure in document.failures])
    texts, failures = _read_pages(document.scanned, data, size, reading)
    others = [failure for failure in document.failures if failure.fault != NO_TEXT]
    return _with_pages(replace(document, failures=[*others, *failures]), texts)


def _read_pages(
    numbers: Sequence[int], data: bytes | Path, size: int, reading: ReadContext
) -> tuple[dict[int, str], list[Failure]]:
    """The texts of scanned pages by number, and a failure for each page without one."""
    texts: dict[int, str] = {}
    failures: list[Failure] = []
    for number in numbers:
        try:
            texts[number] = call(reading.limits, size, page_text, data, number, reading.ocr_languages)
        except (ParserStopped, OCRError) as error:
            failures.append(Failure(f"page {number}", "ocr", f"the scan could not be read: {error}"))
    empty = [number for number, text in texts.items() if not text]
    failures += [Failure(f"page {number}", NO_TEXT, "tesseract found no text in the picture") for number in empty]
    return texts, failures


def _with_advice(failure: Failure) -> Failure:
    if failure.fault != NO_TEXT:
        return failure
    return replace(failure, message=f"{failure.message}, or install tesseract for `ocr`: {INSTALL}")


def _with_pages(document: DocumentText, texts: dict[int, str]) -> DocumentText:
    """The document with further pages, in their order."""
    all_texts = {page.number: document.text[page.start : page.end] for page in document.pages}
    all_texts |= {number: text for number, text in texts.items() if text}
    pages: list[Page] = []
    begin = 0
    for number, text in sorted(all_texts.items()):
        pages.append(Page(number, begin, begin + len(text)))
        begin += len(text) + 2
    text = "\n\n".join(all_texts[page.number] for page in pages)
    numbers = reference_numbers.find_reference_numbers(text)
    return replace(document, text=text, pages=pages, numbers=numbers, title=document.title or first_line_title(text))


def page_text(data: bytes | Path, number: int, languages: Sequence[str]) -> str:
    """The text that tesseract reads on a page, from 1. Raises OCRError."""
    return clean(read_picture(_picture(data, number), languages)).strip()


def _picture(data: bytes | Path, number: int) -> bytes:
    """A page in grey, as PGM (Netpbm, P5)."""
    opened = data if isinstance(data, bytes) else open_plain(data)
    with contextlib.closing(pypdfium2.PdfDocument(opened, autoclose=True)) as document:
        page = document[number - 1]
        scale = min(_DOTS_AN_INCH / _POINTS_AN_INCH, _LONGEST_SIDE / max(1.0, *page.get_size()))
        pixels = page.render(scale=scale, grayscale=True).to_numpy()
    height, width = pixels.shape[:2]
    grey: bytes = pixels.reshape(height, -1)[:, :width].tobytes()
    return b"P5 %d %d 255\n%s" % (width, height, grey)
