"""Files of Word, Excel and PowerPoint from before 2007 and Rich Text, read by kreuzberg (MIT), which asks no network.

Of a workbook every sheet is a page. These formats state no numbers as shown: they are read as values.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from relrag_pipelines.files.regular_files import open_plain, read_plain
from relrag_pipelines.sources.document.csv import describe_rows
from relrag_pipelines.sources.document.document_text import (
    DocumentError,
    DocumentText,
    PagedText,
    clean_author,
    clean_title,
    first_line_title,
)
from relrag_pipelines.sources.document.office_package import stated_date
from relrag_pipelines.sources.formats.text_cleaning import clean, one_line

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""how a compound file begins (MS-CFB)"""
RTF_SIGNATURE = b"{\\rtf"
CONTENT_TYPES = {
    ".doc": "application/msword",
    ".xls": "application/vnd.ms-excel",
    ".ppt": "application/vnd.ms-powerpoint",
    ".rtf": "application/rtf",
}
_STREAMS = {
    "EncryptedPackage": "encrypted",
    "WordDocument": ".doc",
    "Workbook": ".xls",
    "Book\0": ".xls",
    "PowerPoint Document": ".ppt",
}
"""stream in a compound file -> what the file is"""
_STREAM_NAMES = {name: name.encode("utf-16-le") for name in _STREAMS}
_MAX_NAME_LENGTH = max(map(len, _STREAM_NAMES.values()))
_WINDOW = 2**20
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d) 00:00:00")


def read(data: bytes | Path) -> DocumentText:
    """The text of a file that begins with one of the signatures. Raises DocumentError."""
    suffix = _suffix(data)
    if suffix == "encrypted":
        raise DocumentError("encrypted", "the document asks for a password; save a copy without one")
    if not suffix:
        raise DocumentError("wrong_format", "an old file of no program that is known; save it as DOCX or PDF")
    return _extract(data if isinstance(data, bytes) else read_plain(data), suffix)


def _suffix(data: bytes | Path) -> str:
    """The suffix for a file by its beginning and the streams that it names, as UTF-16; empty if it names none.

    It may be as large as a unit may be, so it is looked through before it is read into memory.
    """
    with io.BytesIO(data) if isinstance(data, bytes) else open_plain(data) as stream:
        window = stream.read(_WINDOW)
        if window.startswith(RTF_SIGNATURE):
            return ".rtf"
        names: set[str] = set()
        while window:
            names |= {name for name, encoded in _STREAM_NAMES.items() if encoded in window}
            following = stream.read(_WINDOW)
            window = window[-_MAX_NAME_LENGTH:] + following if following else b""
    return next((suffix for name, suffix in _STREAMS.items() if name in names), "")


def _extract(data: bytes, suffix: str) -> DocumentText:
    import kreuzberg

    config = kreuzberg.ExtractionConfig(use_cache=False)
    try:
        result = kreuzberg.extract_bytes_sync(data, CONTENT_TYPES[suffix], config)
    except Exception as error:  # noqa: BLE001  its message may quote the document
        why = f"the file is damaged or protected ({type(error).__name__}); open it in its program and save it as new"
        raise DocumentError("damaged", why) from None
    document = _sheets(result) if suffix == ".xls" else DocumentText("", _text_with_rows(result.content, suffix))
    document.content_type = CONTENT_TYPES[suffix]
    metadata: dict[str, Any] = dict(result.metadata)
    is_rtf = suffix == ".rtf"  # kreuzberg leaves its escapes in the title
    title = None if is_rtf else clean_title(_text(metadata.get("title")))
    document.title = title or first_line_title(document.text)
    authors: list[str] = metadata.get("authors") or []
    document.author = clean_author(_text(next(iter(authors), ""))) if not is_rtf else None
    document.date = stated_date(_text(metadata.get("modified_at"))) or stated_date(_text(metadata.get("created_at")))
    return document


def _text_with_rows(content: str, suffix: str) -> str:
    """The text; kreuzberg gives all rows of a Word table on one line, with an empty cell behind each."""
    text = clean(content).strip()
    return text.replace("\t\t", "\n") if suffix == ".doc" else text


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _sheets(result: object) -> DocumentText:
    tables = getattr(result, "tables", [])
    names = dict(getattr(result, "metadata", {})).get("sheet_names") or []
    paged = PagedText()
    for table in tables:
        rows = [[_MIDNIGHT.sub(r"\1", one_line(cell)) for cell in row] for row in table.cells]
        name = names[table.page_number - 1] if 0 < table.page_number <= len(names) else ""
        paged.add(table.page_number, clean("\n".join([f"# {one_line(name)}", "", *describe_rows(rows)])))
    text = paged.finish()
    return DocumentText("", text.text, pages=text.pages, page_count=len(names) or None)
