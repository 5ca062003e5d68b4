"""Text in pictures that lie in an office document, on their pages or at its end."""

from __future__ import annotations

from dataclasses import replace

from relrag_pipelines.records import Failure, Page
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.document.document_text import DocumentText
from relrag_pipelines.sources.formats.picture_text import SMALLEST, is_program_ready, read_text, unread
from relrag_pipelines.text import reference_numbers

MOST = 30
"""pictures of one document that are read"""


def with_pictures(document: DocumentText, reading: ReadContext) -> DocumentText:
    """The document with the texts of its pictures: on their pages, or at its end."""
    pictures = [picture for picture in document.pictures if len(picture.data) >= SMALLEST]
    if not pictures:
        return document
    if not is_program_ready(reading):
        return replace(document, failures=[*document.failures, unread("", len(pictures), reading)])
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
