"""HTML pages as readable text, with their title and author; formats/html_text.py gives tokens. Nothing is fetched."""

from __future__ import annotations

import html
import re

from relrag_pipelines.sources.document.document_text import DocumentText, clean_author, clean_title, first_line_title
from relrag_pipelines.sources.formats.charset_detection import DecodedText, decode
from relrag_pipelines.sources.formats.html_spacing import tidy
from relrag_pipelines.sources.formats.html_text import HtmlTextReader
from relrag_pipelines.sources.formats.html_tokens import attribute
from relrag_pipelines.sources.formats.text_cleaning import clean

CONTENT_TYPE = "text/html"

_DECLARED = re.compile(rb"""<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)


def extract(data: bytes) -> tuple[DocumentText, DecodedText]:
    """The text of an HTML page, and how its bytes were read. Raises CharsetError."""
    declared = _DECLARED.search(data[:4096])
    decoded = decode(data, _browser_charset(declared[1].decode("ascii")) if declared else None)
    page = _Page(clean(decoded.text))
    document = DocumentText(CONTENT_TYPE, clean(tidy("".join(page.read()))))
    document.title = clean_title(page.title) or clean_title(page.heading) or first_line_title(document.text)
    document.author = clean_author(page.author)
    return document, decoded


def _browser_charset(name: str) -> str:
    """Browsers read pages declared as Latin-1 or ASCII as Windows-1252 (WHATWG Encoding)."""
    return "cp1252" if name.casefold() in ("iso-8859-1", "latin1", "latin-1", "ascii", "us-ascii") else name


class _Page(HtmlTextReader):
    """The parser of a page, which collects its metadata too."""

    skipped = HtmlTextReader.skipped | {"noscript"}

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.title = ""
        self.heading = ""
        """the first of the highest rank"""
        self.author = ""
        self._heading: int | None = None
        """where an open one begins among the pieces"""

    def start_tag(self, name: str, attributes: str) -> None:
        super().start_tag(name, attributes)
        if name == "h1" and not self.heading:
            self._heading = len(self.out)

    def end_tag(self, name: str) -> None:
        if name == "h1" and self._heading is not None:
            self.heading, self._heading = tidy("".join(self.out[self._heading :])), None
        super().end_tag(name)

    def void(self, name: str, attributes: str) -> None:
        super().void(name, attributes)
        if name == "meta" and attribute(attributes, "name").casefold() == "author":
            self.author = self.author or attribute(attributes, "content")

    def raw(self, name: str, text: str) -> None:
        if name == "title":
            self.title = self.title or html.unescape(text)
