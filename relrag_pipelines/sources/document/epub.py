"""Books as EPUB (W3C EPUB 3.3, and 2): the documents of the reading order are pages, each read as HTML."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.document import html
from relrag_pipelines.sources.document.document_text import (
    DocumentError,
    DocumentText,
    PagedText,
    clean_author,
    clean_title,
)
from relrag_pipelines.sources.document.office_package import Package, stated_date
from relrag_pipelines.sources.formats.charset_detection import CharsetError

CONTENT_TYPE = "application/epub+zip"

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_HTML = frozenset({"application/xhtml+xml", "text/html", ""})


def read(package: Package) -> DocumentText:
    """The text of a book. Raises DocumentError if it has no reading order."""
    book = next((root.get("full-path", "") for root in package.tree(_CONTAINER).iter("{*}rootfile")), "")
    if not package.has(book):
        raise DocumentError("damaged", "the book has no list of its chapters; download it again")
    tree = package.tree(book)
    items = {item.get("id"): item for item in tree.iter("{*}item")}
    folder = posixpath.dirname(book)
    paged, number = PagedText(), 0
    for number, entry in enumerate(tree.iter("{*}itemref"), 1):
        item = items.get(entry.get("idref"))
        if item is not None and item.get("media-type", "") in _HTML:
            part = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
            paged.add(number, _chapter(package, part))
    text = paged.finish()
    if not text.pages and package.has(_ENCRYPTION):
        raise DocumentError("encrypted", "the book is protected against copying; use a copy without protection")
    document = DocumentText(CONTENT_TYPE, text.text, pages=text.pages, page_count=number or None)
    document.title = clean_title(tree.findtext(".//{*}metadata/{*}title", default=""))
    document.author = clean_author(tree.findtext(".//{*}metadata/{*}creator", default=""))
    document.date = stated_date(tree.findtext(".//{*}metadata/{*}date", default=""))
    document.date_has_time = document.date is not None and (document.date.hour, document.date.minute) != (0, 0)
    document.failures += package.failures
    return document


def _chapter(package: Package, part: str) -> str:
    try:
        return html.extract(package.data(part))[0].text
    except KeyError:
        why = "a chapter that the book lists is missing; download the book again"
        package.failures.append(Failure(part, "broken_part", why))
    except CharsetError:
        why = "the chapter is no text; it may be protected against copying"
        package.failures.append(Failure(part, "broken_part", why))
    return ""
