"""Plain text and Markdown, kept unchanged."""

from __future__ import annotations

import re
from datetime import datetime

from relrag_pipelines.sources.document.document_text import DocumentText, clean_author, clean_title, first_line_title
from relrag_pipelines.sources.formats.charset_detection import DecodedText, decode
from relrag_pipelines.sources.formats.text_cleaning import clean

TEXT, MARKDOWN = "text/plain", "text/markdown"

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(title|author|date):[ \t]*(\S.*)$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(?:#{1,6}[ \t]+(?P<line>.*)|(?P<over>[^\s#>|-].*)\n(?:=+|-+)[ \t]*)$", re.MULTILINE)


def text(data: bytes) -> tuple[DocumentText, DecodedText]:
    """A text file, and how its bytes were read. Raises CharsetError."""
    decoded = decode(data)
    document = DocumentText(TEXT, clean(decoded.text))
    document.title = first_line_title(document.text)
    return document, decoded


def markdown(data: bytes) -> tuple[DocumentText, DecodedText]:
    """A Markdown file with its front matter, and how its bytes were read. Raises CharsetError."""
    decoded = decode(data)
    document = DocumentText(MARKDOWN, clean(decoded.text))
    front = _FRONT_MATTER.match(document.text)
    front_matter = {name: value.strip("\"' ") for name, value in _FIELD.findall(front[1])} if front else {}
    body = _FENCE.sub("", document.text[front.end() :] if front else document.text)
    heading = _HEADING.search(body)
    line = ((heading["line"] or "").rstrip(" \t#") or heading["over"]) if heading else None
    document.title = clean_title(front_matter.get("title") or line)
    document.title = document.title or first_line_title(body)
    document.author = clean_author(front_matter.get("author"))
    document.date, document.date_has_time = _date(front_matter.get("date", ""))
    return document, decoded


def _date(text: str) -> tuple[datetime | None, bool]:
    try:
        return datetime.fromisoformat(text), len(text) > len("2025-01-14")
    except ValueError:
        return None, True
