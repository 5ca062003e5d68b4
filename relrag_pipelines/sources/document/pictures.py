"""Text in pictures that are attached to a mail or lie in an office document, read by tesseract as scanned pages are.

Pictures of a few bytes are icons. A text counts if it has some words, since tesseract finds letters in any texture.
Equal pictures, such as the logo of a signature, are read once in a process.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from relrag_pipelines.records import Failure, Page
from relrag_pipelines.sources import PICTURE, ReadContext
from relrag_pipelines.sources.document.document_text import DocumentText
from relrag_pipelines.sources.formats.tesseract import INSTALL, MISSING, OCRError, read_picture
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.text import reference_numbers
from relrag_pipelines.workers.sandbox import ParserStopped, call

CONTENT_TYPES = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
"""suffixes of pictures that tesseract opens -> MIME type"""
SMALLEST = 3_000
"""bytes of a picture that may hold text"""
MOST = 30
"""pictures of one document that are read"""
_REMEMBERED = 1_000
_WORD = re.compile(r"[^\W\d_]{3,}")
_FEWEST_WORDS = 3
_LEAST_SHARE = 0.4
"""share of a text's letters and signs that words make up"""

_texts: dict[str, str] = {}
"""digest of a picture -> its text"""


@dataclass(frozen=True)
class PictureText:
    """The text of a picture, or why it was not read."""

    text: str = ""
    failure: Failure | None = None


def is_picture(name: str, content_type: str = "") -> bool:
    """Whether a file is a picture that tesseract opens, by its name and MIME type."""
    suffix = PurePosixPath(name).suffix.lower()
    return suffix in CONTENT_TYPES or content_type.lower() in CONTENT_TYPES.values()


def read_text(data: bytes, location: str, reading: ReadContext) -> PictureText:
    """The text of a picture; a failure where no program for it is set or installed, or it fails."""
    if len(data) < SMALLEST:
        return PictureText()
    if not reading.ocr or reading.ocr == MISSING:
        return PictureText(failure=_unread(location, 1, reading))
    digest = hashlib.sha256(data).hexdigest() + "+".join(reading.ocr_languages)
    if digest not in _texts:
        try:
            text = call(reading.limits, len(data), picture_text, data, reading.ocr_languages)
        except (ParserStopped, OCRError) as error:
            return PictureText(failure=Failure(location, "ocr", f"the picture could not be read: {error}"))
        if len(_texts) >= _REMEMBERED:
            _texts.clear()
        _texts[digest] = text
    return PictureText(_texts[digest])


def with_pictures(document: DocumentText, reading: ReadContext) -> DocumentText:
    """The document with the texts of its pictures: on their pages, or at its end."""
    pictures = [picture for picture in document.pictures if len(picture.data) >= SMALLEST]
    if not pictures:
        return document
    if not reading.ocr or reading.ocr == MISSING:
        return replace(document, failures=[*document.failures, _unread("", len(pictures), reading)])
    failures = list(document.failures)
    texts: list[tuple[int | None, str]] = []
    for picture in pictures[:MOST]:
        result = read_text(picture.data, picture.name, reading)
        failures += [result.failure] if result.failure else []
        texts += [(picture.page, result.text)] if result.text else []
    if len(pictures) > MOST:
        why = f"{len(pictures) - MOST} more pictures than are read; save those you need apart"
        failures.append(Failure(pictures[MOST].name, "too_large", why))
    return _with_texts(replace(document, failures=failures), texts)


def picture_text(data: bytes, languages: Sequence[str]) -> str:
    """The text that tesseract reads in a picture; empty where it finds hardly any words. Raises OCRError."""
    text = clean(read_picture(data, languages)).strip()
    words = _WORD.findall(text)
    letters = len(re.sub(r"[\s\d]", "", text))
    return text if len(words) >= _FEWEST_WORDS and sum(map(len, words)) >= _LEAST_SHARE * letters else ""


def _unread(location: str, count: int, reading: ReadContext) -> Failure:
    remedy = f"install tesseract ({INSTALL})" if reading.ocr == MISSING else 'set ocr = "tesseract"'
    pictures = "the picture may" if count == 1 else f"{count} pictures in it may"
    return Failure(location, PICTURE, f"{pictures} hold text, which is not read; {remedy}")


def _with_texts(document: DocumentText, texts: list[tuple[int | None, str]]) -> DocumentText:
    """The document with further texts, each at the end of its page; those without a page at the end of all."""
    if not texts:
        return document
    by_page: dict[int, list[str]] = {}
    for number, text in texts:
        by_page.setdefault(number or 0, []).append(text)
    if not document.pages and set(by_page) == {0}:
        return _renumbered(document, "\n\n".join(filter(None, (document.text, *by_page[0]))), [])
    all_texts = _texts_of_pages(document, by_page)
    pages: list[Page] = []
    begin = 0
    for number, text in sorted(all_texts.items()):
        pages.append(Page(number, begin, begin + len(text)))
        begin += len(text) + 2
    return _renumbered(document, "\n\n".join(all_texts[page.number] for page in pages), pages)


def _texts_of_pages(document: DocumentText, more: dict[int, list[str]]) -> dict[int, str]:
    """The text of each page with what is added to it; `more` of 0 goes to the last page."""
    texts = {page.number: document.text[page.start : page.end] for page in document.pages}
    for number, parts in more.items():
        page = number or max(texts, default=1)
        texts[page] = "\n\n".join(filter(None, (texts.get(page, ""), *parts)))
    return texts


def _renumbered(document: DocumentText, text: str, pages: list[Page]) -> DocumentText:
    """The document with another text, in which its reference numbers are searched again."""
    numbers = reference_numbers.find_reference_numbers(text)
    return replace(document, text=text, pages=pages, numbers=numbers)
