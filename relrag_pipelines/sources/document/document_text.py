"""The text and properties that every document reader returns, and the rules that all formats share."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from relrag_pipelines.records import Failure, Page
from relrag_pipelines.sources.formats.text_cleaning import clean, one_line

MAX_TITLE = 120
"""A longer first line isn't taken as a title, characters."""

_NO_TITLE = {"untitled", "unspecified", "(anonymous)", "anonymous", "word document", "document", "none", "title"}
_NO_AUTHOR = {"anonymous", "(anonymous)", "unknown", "unspecified", "python-docx", "none", "author", "user", "admin"}
_PRINTED_BY = re.compile(r"^Microsoft (Word|PowerPoint|Excel) - ", re.IGNORECASE)


@dataclass(frozen=True)
class EmbeddedFile:
    """A file that lies within a document."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Picture:
    """A picture in a document, in which text may stand."""

    name: str
    data: bytes
    page: int | None = None
    """the page or slide that shows it; None where the format has no pages"""


@dataclass
class DocumentText:
    """The text of a document, and its properties."""

    content_type: str
    """MIME type"""
    text: str = ""
    title: str | None = None
    author: str | None = None
    date: datetime | None = None
    """as the document states it: a PDF's creation date (tools change the other), when a DOCX was last saved, the front
    matter of Markdown; without a zone where the document gives none"""
    date_has_time: bool = True
    language: str | None = None
    """ISO 639-1; no reader sets it yet"""
    pages: list[Page] = field(default_factory=list)
    """pages with text; text[page.start : page.end] is the page's"""
    page_count: int | None = None
    scanned: list[int] = field(default_factory=list)
    """numbers of pages on which something is drawn, but nothing written"""
    numbers: list[str] = field(default_factory=list)
    """invoice, order and account numbers"""
    failures: list[Failure] = field(default_factory=list)
    """parts that could not be read"""
    embedded: list[EmbeddedFile] = field(default_factory=list)
    """files within the document that have a text of their own"""
    pictures: list[Picture] = field(default_factory=list)
    """pictures within the document, in its order"""
    readable: bool = True
    """False: nothing could be read, and `failures` say why"""


class DocumentError(Exception):
    """Nothing of the document can be read. `fault` is the fault word; the message says what is wrong and what to do."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    def __reduce__(self) -> tuple[type[DocumentError], tuple[str, str]]:
        return DocumentError, (self.fault, str(self))  # it travels between processes


@dataclass
class PagedText:
    """A text that is put together page by page."""

    text: str = ""
    pages: list[Page] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0

    def add(self, number: int, text: str) -> None:
        """Adds a page; one without text only counts."""
        if not text.strip():
            return
        start = self._length
        self._parts.append(text.strip("\n"))
        self._length += len(self._parts[-1])
        self.pages.append(Page(number, start, self._length))
        self._parts.append("\n\n")
        self._length += 2

    def finish(self) -> PagedText:
        """Itself, with the text of all pages."""
        self.text = "".join(self._parts[:-1])
        return self


def clean_title(title: str | None) -> str | None:
    """A title from metadata, unless it is a program's placeholder."""
    title = _PRINTED_BY.sub("", one_line(clean(title or "")))
    return None if not title or title.casefold() in _NO_TITLE or title.startswith("file:") else title


def clean_author(author: str | None) -> str | None:
    """An author from metadata, unless it is a program's placeholder."""
    author = one_line(clean(author or ""))
    return None if not author or author.casefold() in _NO_AUTHOR else author


def first_line_title(text: str) -> str | None:
    """The first line with a letter, if it is short and not a sentence."""
    for line in text[: 20 * MAX_TITLE].splitlines():
        line = line.strip(" \t#*_|")
        if any(character.isalpha() for character in line):
            return line if len(line) <= MAX_TITLE and line[-1] not in ".,;:" else None
    return None
