"""A page of a PDF as a picture with the quote marked; of a redacted page only the words in its redacted text are shown.

A word is left to be seen if it stands in the redacted text too: one with a digit or an @ in the same order, any other
anywhere. Its letters are copied onto a blank page. Pictures, drawings, patterns, letters without Unicode, notes and
fields are left out, as nothing says what they show.
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
"""pixels of a page's longer side: what a screen shows sharply"""
LEAST = 0.5
"""share of a quote's words that must stand together on the page; below it nothing is marked"""
_SPAN = 1.6
"""words between the first and the last that are marked, as a multiple of the quote's"""
_WORD = re.compile(r"\S+")
_MARK = np.array([255, 236, 130], np.float32) / 255
_COVER, _BLANK = 25, 255
_DEPTH = 100
"""forms within forms; PDFium reads fewer"""
_LOCK = threading.Lock()
"""PDFium must not be entered by two threads at once."""

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
    """The page of that number, from 1. `redacted` is its text as indexed, where something was replaced in it.

    Raises DocumentError where the file is encrypted or damaged, has no such page, or holds nothing that could be
    compared with its redacted text.
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
            pixels = _render(page, plain=redacted is not None)
            boxes = _Boxes(page, textpage, text, pixels.shape[1], pixels.shape[0])
            hidden: list[int] = []
            if redacted is not None:
                hidden = missing_words([word for word, _, _ in words], redacted)
                gone = set(hidden)
                seen = [range(start, end) for place, (_, start, end) in enumerate(words) if place not in gone]
                letters = [at for some in seen for at in some if _is_known(text[at])]
                _blank_but(pixels, [box for at in letters for box in boxes.letters(at, at + 1)])
            marked, matched = _find_quote(words, quote)
            for place in marked:
                _paint(pixels, boxes.letters(*words[place][1:]), _MARK)
            for place in hidden:
                _fill(pixels, boxes.letters(*words[place][1:]), _COVER)
            return PagePicture(_png(pixels), len(document), matched, len(hidden), not words)


def missing_words(words: list[str], redacted: str) -> list[int]:
    """Positions of the words that are not in the redacted text."""
    known = [_plain(match) for match in _WORD.findall(redacted)]
    given = [_plain(word) for word in words]
    in_order: set[int] = set()
    for block in difflib.SequenceMatcher(None, given, known, autojunk=False).get_matching_blocks():
        in_order.update(range(block.a, block.a + block.size))
    anywhere = "".join(known)
    return [
        place
        for place, word in enumerate(given)
        if word and place not in in_order and (any(one.isdigit() or one == "@" for one in word) or word not in anywhere)
    ]


def _open(data: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise DocumentError("encrypted", "the PDF asks for a password") from None
        raise DocumentError("damaged", "not a PDF that can be opened") from None


def _keep_text(page: pypdfium2.PdfPage) -> None:
    """Removes everything but text from the page, in forms too: an image may show text behind visible letters."""
    kept = (pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_FORM)
    for found in list(page.get_objects(max_depth=_DEPTH)):
        if found.type not in kept:
            page.remove_obj(found)


def _render(page: pypdfium2.PdfPage, *, plain: bool) -> np.ndarray[Any, Any]:
    width, height = page.get_size()
    scale = WIDTH / max(width, height, 1)
    bitmap = page.render(scale=scale, draw_annots=not plain, may_draw_forms=not plain, rev_byteorder=True)
    return np.array(bitmap.to_numpy()[:, :, :3])


class _Boxes:
    """Where the letters of a page are drawn in its picture, turned as the page is."""

    def __init__(
        self, page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage, text: str, width: int, height: int
    ) -> None:
        self._page, self._textpage, self._width, self._height = page, textpage, width, height
        self._same = textpage.count_chars() == len(text)  # else letters without Unicode are missing from the text

    def letters(self, start: int, end: int) -> list[Rectangle]:
        """The box of each letter from one place of the text to another."""
        found = []
        for place in range(start, end):
            index = place if self._same else pdfium.FPDFText_GetCharIndexFromTextIndex(self._textpage.raw, place)
            if index >= 0:
                found.append(self.to_pixels(*self._textpage.get_charbox(index, loose=True)))
        return found

    def to_pixels(self, left: float, bottom: float, right: float, top: float) -> Rectangle:
        """A box of the page, in points from its lower left corner, in pixels."""
        across, down = zip(*(self._pixel(x, y) for x, y in ((left, bottom), (right, top))), strict=True)
        return min(across) - 1, min(down) - 1, max(across) + 1, max(down) + 1

    def _pixel(self, x: float, y: float) -> tuple[int, int]:
        across, down = pdfium.c_int(), pdfium.c_int()
        pdfium.FPDF_PageToDevice(self._page.raw, 0, 0, self._width, self._height, 0, x, y, across, down)
        return across.value, down.value


def _find_quote(words: list[tuple[str, int, int]], quote: str) -> tuple[list[int], float]:
    """Positions of the words that match a quote, and the share of its words that match."""
    wanted = [plain for word in _WORD.findall(quote) if (plain := _plain(word))]
    given = [_plain(word) for word, _, _ in words]
    if not wanted:
        return [], 0.0
    matcher = difflib.SequenceMatcher(None, given, wanted, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    longest = max(blocks, key=lambda block: block.size, default=None)
    if longest is None:
        return [], 0.0
    # what lies far from the longest run is the same word of another sentence
    reach = int(_SPAN * len(wanted))
    near = [block for block in blocks if abs(block.a - longest.a) <= reach]
    found = [place for block in near for place in range(block.a, block.a + block.size)]
    share = len(found) / len(wanted)
    return (found, share) if share >= LEAST else ([], 0.0)


def _plain(word: str) -> str:
    return "".join(one for one in word.casefold() if one.isalnum() or one == "@")


def _is_known(letter: str) -> bool:
    """Whether a letter is that of a glyph: what has none in Unicode is written as a control or private one."""
    return letter != "\ufffd" and unicodedata.category(letter) not in ("Cc", "Cn", "Co", "Cs")


def _clip(pixels: np.ndarray[Any, Any], box: Rectangle) -> np.ndarray[Any, Any]:
    left, top, right, bottom = (max(0, edge) for edge in box)
    return pixels[top:bottom, left:right]


def _paint(pixels: np.ndarray[Any, Any], boxes: list[Rectangle], colour: np.ndarray[Any, Any]) -> None:
    """Highlights an area as a marker pen does; each pixel once, though the boxes of letters overlap."""
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
    """RGB rows as PNG (ISO/IEC 15948): each row behind the number of its filter, 0 for none."""
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
