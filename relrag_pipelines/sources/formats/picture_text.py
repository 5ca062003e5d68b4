"""Text in a picture, read by tesseract as scanned pages are.

Pictures of a few bytes are icons. A text counts if it has some words, since tesseract finds letters in any texture.
Equal pictures, such as the logo of a signature, are read once in a process.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from relrag_pipelines.records import Failure
from relrag_pipelines.sources import PICTURE, ReadContext
from relrag_pipelines.sources.formats.tesseract import INSTALL, MISSING, OCRError, read_picture
from relrag_pipelines.sources.formats.text_cleaning import clean
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
    if not is_program_ready(reading):
        return PictureText(failure=unread(location, 1, reading))
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


def is_program_ready(reading: ReadContext) -> bool:
    """Whether a program that reads pictures is wanted and installed."""
    return reading.ocr not in ("", MISSING)


def picture_text(data: bytes, languages: Sequence[str]) -> str:
    """The text that tesseract reads in a picture; empty where it finds hardly any words. Raises OCRError."""
    text = clean(read_picture(data, languages)).strip()
    words = _WORD.findall(text)
    letters = len(re.sub(r"[\s\d]", "", text))
    return text if len(words) >= _FEWEST_WORDS and sum(map(len, words)) >= _LEAST_SHARE * letters else ""


def unread(location: str, count: int, reading: ReadContext) -> Failure:
    """The failure for pictures that no program reads, with the remedy."""
    remedy = f"install tesseract ({INSTALL})" if reading.ocr == MISSING else 'set ocr = "tesseract"'
    pictures = "the picture may" if count == 1 else f"{count} pictures in it may"
    return Failure(location, PICTURE, f"{pictures} hold text, which is not read; {remedy}")
