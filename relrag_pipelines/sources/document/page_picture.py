"""Renders a page of a PDF with the quote marked; of a redacted page only words of its redacted text stay visible.

A word stays visible if the redacted text contains it: words with a digit or an @ in the same order, others anywhere.
The visible letters are copied onto a blank page. Pictures, drawings, patterns, letters without Unicode, notes and form
fields are left out, as their content cannot be compared.
"""

from __future__ import annotations

import contextlib
import difflib
import re
import struct
import threading
import unicodedata
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium

from relrag_pipelines.sources.document.document_text import DocumentError

WIDTH = 1240
"""pixels of a page's longer side: sharp on a screen"""
MIN_MATCHED_SHARE = 0.5
"""share of a quote's words that must match on the page; below it nothing is marked"""
_SPAN = 1.6
"""distance between the first and last marked word, as a multiple of the quote's words"""
_WORD = re.compile(r"\S+")
_MARK = np.array([255, 236, 130], np.float32) / 255
_COVER, _BLANK = 25, 255
_DEPTH = 100
"""nesting of forms that is followed; PDFium reads fewer"""
_LOCK = threading.Lock()
"""PDFium isn't thread-safe."""

Rectangle = tuple[int, int, int, int]
"""left, top, right, bottom; pixels"""


@dataclass(frozen=True)
class PagePicture:
    """A page as PNG."""

    png: bytes
    pages: int
    """pages of the document"""
    matched_share: float
    """share of the quote's words that are marked, 0 where none are"""
    covered_words: int
    """words that a box covers"""
    is_scan: bool
    """the page has no text, so nothing could be marked"""


def page_picture(data: bytes, number: int, quote: str = "", redacted: str | None = None) -> PagePicture:
    """The page with a number, from 1. `redacted` is its indexed text, if something in it was replaced.

    Raises DocumentError if the file is encrypted or damaged, has no such page, or holds no text to compare with the
    redacted text.
    """
    with _LOCK, contextlib.closing(_open(data)) as document:
        if not 1 <= number <= len(document):
            raise DocumentError("no_page", f"the file has {len(document)} pages, and no page {number}")
        with contextlib.closing(document[number - 1]) as page, contextlib.closing(page.get_textpage()) as textpage:
            text = textpage.get_text_range()
            words = [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]
            if redacted is not None and not words:
                raise DocumentError("scanned", "the page is a scan, in which what was redacted cannot be covered")
            if redacted is not None:
                _keep_text(page)
            pixels = _render(page, text_only=redacted is not None)
            boxes = _Boxes(page, textpage, text, pixels.shape[1], pixels.shape[0])
            hidden = [] if redacted is None else missing_words([word for word, _, _ in words], redacted)
            if redacted is not None:
                _blank_hidden(pixels, boxes, text, words, set(hidden))
            marked, matched = _find_quote(words, quote)
            for index in marked:
                _paint(pixels, boxes.letters(*words[index][1:]), _MARK)
            for index in hidden:
                _fill(pixels, boxes.letters(*words[index][1:]), _COVER)
            return PagePicture(_png(pixels), len(document), matched, len(hidden), not words)


def _blank_hidden(
    pixels: np.ndarray[Any, Any], boxes: _Boxes, text: str, words: list[tuple[str, int, int]], hidden: set[int]
) -> None:
    """Blanks the page but for the letters of the words whose index isn't in `hidden`."""
    visible: list[Rectangle] = []
    for index, (_, start, end) in enumerate(words):
        if index in hidden:
            continue
        for offset in range(start, end):
            if _has_unicode(text[offset]):
                visible += boxes.letters(offset, offset + 1)
    _blank_but(pixels, visible)


def missing_words(words: list[str], redacted: str) -> list[int]:
    """Indexes of the words that are not in the redacted text."""
    redacted_words = [_normalised(match) for match in _WORD.findall(redacted)]
    page_words = [_normalised(word) for word in words]
    in_order: set[int] = set()
    for block in difflib.SequenceMatcher(None, page_words, redacted_words, autojunk=False).get_matching_blocks():
        in_order.update(range(block.a, block.a + block.size))
    anywhere = "".join(redacted_words)
    return [
        index
        for index, word in enumerate(page_words)
        if word and index not in in_order and (_is_identifying(word) or word not in anywhere)
    ]


def _is_identifying(word: str) -> bool:
    """Whether a word has a digit or an @, as numbers and addresses have."""
    return any(letter.isdigit() or letter == "@" for letter in word)


def _open(data: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise DocumentError("encrypted", "the PDF asks for a password") from None
        raise DocumentError("damaged", "not a PDF that can be opened") from None


def _keep_text(page: pypdfium2.PdfPage) -> None:
    """Removes everything but text from the page, in forms too: an image may show text behind visible letters."""
    text_types = (pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_FORM)
    for page_object in list(page.get_objects(max_depth=_DEPTH)):
        if page_object.type not in text_types:
            page.remove_obj(page_object)


def _render(page: pypdfium2.PdfPage, *, text_only: bool) -> np.ndarray[Any, Any]:
    width, height = page.get_size()
    scale = WIDTH / max(width, height, 1)
    bitmap = page.render(scale=scale, draw_annots=not text_only, may_draw_forms=not text_only, rev_byteorder=True)
    return np.array(bitmap.to_numpy()[:, :, :3])


class _Boxes:
    """The boxes of a page's letters in its picture, rotated as the page is."""

    def __init__(
        self, page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage, text: str, width: int, height: int
    ) -> None:
        self._page, self._textpage, self._width, self._height = page, textpage, width, height
        self._same = textpage.count_chars() == len(text)  # else letters without Unicode are missing from the text

    def letters(self, start: int, end: int) -> list[Rectangle]:
        """The box of each letter between two offsets of the text."""
        boxes = []
        for offset in range(start, end):
            index = offset if self._same else pdfium.FPDFText_GetCharIndexFromTextIndex(self._textpage.raw, offset)
            if index >= 0:
                boxes.append(self.to_pixels(*self._textpage.get_charbox(index, loose=True)))
        return boxes

    def to_pixels(self, left: float, bottom: float, right: float, top: float) -> Rectangle:
        """A box of the page, in points from its lower left corner, in pixels."""
        across, down = zip(*(self._pixel(x, y) for x, y in ((left, bottom), (right, top))), strict=True)
        return min(across) - 1, min(down) - 1, max(across) + 1, max(down) + 1

    def _pixel(self, x: float, y: float) -> tuple[int, int]:
        across, down = pdfium.c_int(), pdfium.c_int()
        pdfium.FPDF_PageToDevice(self._page.raw, 0, 0, self._width, self._height, 0, x, y, across, down)
        return across.value, down.value


def _find_quote(words: list[tuple[str, int, int]], quote: str) -> tuple[list[int], float]:
    """Indexes of the words that match a quote, and the share of its words that match."""
    quote_words = list(filter(None, map(_normalised, _WORD.findall(quote))))
    page_words = [_normalised(word) for word, _, _ in words]
    if not quote_words:
        return [], 0.0
    matcher = difflib.SequenceMatcher(None, page_words, quote_words, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    longest = max(blocks, key=lambda block: block.size, default=None)
    if longest is None:
        return [], 0.0
    # matches far from the longest run belong to another sentence
    reach = int(_SPAN * len(quote_words))
    indexes: list[int] = []
    for block in blocks:
        if abs(block.a - longest.a) <= reach:
            indexes += range(block.a, block.a + block.size)
    share = len(indexes) / len(quote_words)
    return (indexes, share) if share >= MIN_MATCHED_SHARE else ([], 0.0)


def _normalised(word: str) -> str:
    """Letters, digits and @ of a word, case-folded."""
    return "".join(letter for letter in word.casefold() if letter.isalnum() or letter == "@")


def _has_unicode(letter: str) -> bool:
    """Whether a letter's glyph has a Unicode character; others are written as control or private characters."""
    return letter != "\ufffd" and unicodedata.category(letter) not in ("Cc", "Cn", "Co", "Cs")


def _clip(pixels: np.ndarray[Any, Any], box: Rectangle) -> np.ndarray[Any, Any]:
    left, top, right, bottom = (max(0, edge) for edge in box)
    return pixels[top:bottom, left:right]


def _paint(pixels: np.ndarray[Any, Any], boxes: list[Rectangle], colour: np.ndarray[Any, Any]) -> None:
    """Highlights boxes like a marker pen; each pixel once, though the boxes of letters overlap."""
    area = np.zeros(pixels.shape[:2], bool)
    for box in boxes:
        _clip(area, box)[...] = True
    pixels[area] = (pixels[area] * colour).astype(np.uint8)


def _blank_but(pixels: np.ndarray[Any, Any], boxes: list[Rectangle]) -> None:
    """Blanks the picture outside these boxes."""
    seen = np.zeros(pixels.shape[:2], bool)
    for box in boxes:
        _clip(seen, box)[...] = True
    pixels[~seen] = _BLANK


def _fill(pixels: np.ndarray[Any, Any], boxes: list[Rectangle], grey: int) -> None:
    for box in boxes:
        _clip(pixels, box)[...] = grey


def _png(pixels: np.ndarray[Any, Any]) -> bytes:
    """RGB rows as PNG (ISO/IEC 15948); each row begins with the number of its filter, 0 for none."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
