"""Presentations of PowerPoint (.pptx, ECMA-376): a slide is a page, with its notes below it."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from relrag_pipelines.sources.document.document_text import DocumentText, PagedText
from relrag_pipelines.sources.document.office_package import Package, with_core_properties
from relrag_pipelines.sources.formats.text_cleaning import clean, table_row

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BREAKS = {f"{_A}br": "\n", f"{_A}tab": "\t"}
_LAYOUT_PARTS = frozenset({"sldNum", "dt", "hdr", "ftr", "sldImg"})
"""placeholders that repeat on every slide: number, date, header, footer, and on notes the slide's picture"""
_TITLES = frozenset({"title", "ctrTitle"})


def read(package: Package, main: str) -> DocumentText:
    """The text of a presentation, whose main part is `main`."""
    targets = {name: target for name, _, target, _ in package.relations(main)}
    paged, count, title = PagedText(), 0, ""
    for count, slide in enumerate(package.tree(main).iter(f"{_P}sldId"), 1):
        part = targets.get(slide.get(_R, ""), "")
        tree = package.tree(part)
        lines = [*_shapes(tree), *_notes(package, part)]
        title = title or next((line[2:] for line in lines if line.startswith("# ")), "")
        paged.add(count, clean("\n".join(lines)))
    text = paged.finish()
    document = DocumentText(CONTENT_TYPE, text.text, pages=text.pages, page_count=count or None)
    document = with_core_properties(document, package)
    document.title = document.title or title or None
    return document


def _shapes(slide: etree._Element) -> Iterator[str]:
    """The texts of a slide's shapes in their order; titles as headings, tables row by row."""
    for element in slide.iter(f"{_P}sp", f"{_A}tbl"):
        if _is_fallback(element):
            continue
        if element.tag == f"{_A}tbl":
            yield from _table(element)
            continue
        kind = next((mark.get("type", "") for mark in element.iter(f"{_P}ph")), "")
        lines = [] if kind in _LAYOUT_PARTS else [line for line in map(_paragraph, element.iter(f"{_A}p")) if line]
        if kind in _TITLES and lines:
            yield f"# {' '.join(lines)}"
        else:
            yield from lines


def _is_fallback(element: etree._Element) -> bool:
    return any(parent.tag == _FALLBACK for parent in element.iterancestors())


def _table(table: etree._Element) -> Iterator[str]:
    for row in table.iter(f"{_A}tr"):
        yield table_row(" ".join(map(_paragraph, cell.iter(f"{_A}p"))) for cell in row.iterfind(f"{_A}tc"))


def _paragraph(paragraph: etree._Element) -> str:
    texts = [_BREAKS.get(run.tag) or run.text or "" for run in paragraph.iter(f"{_A}t", *_BREAKS)]
    return "".join(texts).strip()


def _notes(package: Package, part: str) -> Iterator[str]:
    for _, kind, target, is_external in package.relations(part):
        if kind == "notesSlide" and not is_external:
            lines = list(_shapes(package.tree(target)))
            if lines:
                yield from ("", "Notes:", *lines)
        elif kind == "comments" and not is_external:
            tree = package.tree(target)
            yield from filter(None, ("".join(text.itertext()).strip() for text in tree.iter(f"{_P}text", f"{_A}p")))
