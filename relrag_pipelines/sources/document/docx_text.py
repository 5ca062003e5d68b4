"""Text of WordprocessingML elements: paragraphs, headings, lists, tables, notes and comments, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from relrag_pipelines.sources.document.docx_math import MATH, to_text
from relrag_pipelines.sources.formats.text_cleaning import one_line, table_row

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
BODY_TEXT = 9
"""The outline level of body text; levels count from 0, as in the format."""

_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_UNREAD = {_FALLBACK} | {
    f"{W}{name}"
    for name in ("pPr", "rPr", "tblPr", "trPr", "tcPr", "sdtPr", "sectPr", "del", "moveFrom", "instrText", "delText")
}
_WRAPPERS = {f"{W}{name}" for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo")}
_MARKS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}


@dataclass
class Context:
    """The links and styles that paragraphs refer to, and the title."""

    links: dict[str, str] = field(default_factory=dict)
    """relationship id -> address"""
    levels: dict[str, int] = field(default_factory=dict)
    """style id -> level of the heading from 1; 0 for a title"""
    title: str | None = None
    """the first paragraph that is styled as a title or heading"""


def heading_levels(styles: etree._Element) -> dict[str, int]:
    """Style id -> heading level; the names of built-in styles are English in every language of Word."""
    levels = {}
    for style in styles.iter(f"{W}style"):
        name, outline = _value(style, "name").casefold(), _value(style, "pPr", "outlineLvl")
        if name == "title":
            levels[style.get(f"{W}styleId", "")] = 0
        elif match := re.fullmatch(r"heading (\d)", name):
            levels[style.get(f"{W}styleId", "")] = int(match[1])
        elif outline.isdecimal() and int(outline) < BODY_TEXT:
            levels[style.get(f"{W}styleId", "")] = int(outline) + 1
    return levels


def blocks(parent: etree._Element, context: Context) -> Iterator[str]:
    """Paragraphs and tables below an element."""
    for child in parent:
        if child.tag == f"{W}p":
            yield from _paragraph(child, context)
        elif child.tag == f"{W}tbl":
            yield from _table(child, context)
        elif child.tag not in _UNREAD:
            yield from blocks(child, context)


def notes(tree: etree._Element, context: Context) -> Iterator[str]:
    """Footnotes or endnotes, each preceded by its number in the text."""
    for note in tree:
        if (text := one_line(" ".join(blocks(note, context)))) and note.get(f"{W}type", "normal") == "normal":
            yield f"[{note.get(f'{W}id', '')}] {text}"


def comments(tree: etree._Element, context: Context) -> Iterator[str]:
    """Comments with their authors."""
    for comment in tree.iter(f"{W}comment"):
        if text := one_line(" ".join(blocks(comment, context))):
            yield f"Comment by {comment.get(f'{W}author') or 'unknown'}: {text}"


def _paragraph(paragraph: etree._Element, context: Context) -> Iterator[str]:
    frames: list[etree._Element] = []
    text = "".join(_inline(paragraph, context, frames)).strip()
    level = _level(paragraph, context)
    if text and level is not None:
        context.title = context.title or one_line(text)
        yield f"{'#' * max(level, 1)} {one_line(text)}"
    elif text:
        yield f"- {text}" if paragraph.find(f"{W}pPr/{W}numPr") is not None else text
    for frame in frames:
        yield from blocks(frame, context)


def _level(paragraph: etree._Element, context: Context) -> int | None:
    """Level of the heading that a paragraph is, by its own outline level or its style; None for body text."""
    own = _value(paragraph, "pPr", "outlineLvl")
    if own.isdecimal():
        return int(own) + 1 if int(own) < BODY_TEXT else None
    return context.levels.get(_value(paragraph, "pPr", "pStyle"))


def _inline(parent: etree._Element, context: Context, frames: list[etree._Element]) -> Iterator[str]:
    """Pieces of text within a paragraph; text boxes anchored in it are appended to `frames`."""
    for child in parent:
        tag = child.tag
        if tag == f"{W}hyperlink":
            yield _hyperlink(child, context, frames)
        elif tag == f"{W}txbxContent":
            frames.append(child)
        elif (text := _plain_text(child)) is not None:
            yield text
        elif tag not in _UNREAD:
            yield from _inline(child, context, frames)


def _plain_text(element: etree._Element) -> str | None:
    """The text of an element without inline children: a run's text, a mark, a formula, a note's number; else None."""
    tag = element.tag
    if tag == f"{W}t":
        return element.text or ""
    if tag in _MARKS:
        return _MARKS[tag]
    if tag == f"{MATH}oMath":
        return to_text(element)
    if tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
        return f"[{element.get(f'{W}id', '')}]"
    return None


def _hyperlink(link: etree._Element, context: Context, frames: list[etree._Element]) -> str:
    """The text of a link, with its address in brackets if that differs."""
    text = "".join(_inline(link, context, frames))
    address = context.links.get(link.get(f"{R}id", ""), "").removeprefix("mailto:")
    return text if address in ("", text) else f"{text} ({address})"


def _table(table: etree._Element, context: Context) -> Iterator[str]:
    """The rows of a table as text; a table with a single column is a frame around its paragraphs."""
    rows = [list(_cells(row, context)) for row in _own(table, f"{W}tr")]
    if all(len(row) <= 1 for row in rows):
        yield from (text for row in rows for text in row if text)
    elif rows := [row for row in rows if any(row)]:
        yield "\n".join(table_row(row) for row in rows)


def _cells(row: etree._Element, context: Context) -> Iterator[str]:
    """The texts of a row's cells; columns that a merged or missing cell spans are empty."""
    yield from [""] * _columns(_value(row, "trPr", "gridBefore"))
    for cell in _own(row, f"{W}tc"):
        yield "\n".join(blocks(cell, context))
        yield from [""] * (_columns(_value(cell, "tcPr", "gridSpan")) - 1)


def _own(parent: etree._Element, tag: str) -> Iterator[etree._Element]:
    """The rows of this table, or the cells of this row, without those of nested tables."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _own(child, tag)


def _value(element: etree._Element, *path: str) -> str:
    """The `w:val` of the element at the path; empty if there is none."""
    value = element.find("/".join(f"{W}{name}" for name in path))
    return "" if value is None else str(value.get(f"{W}val", ""))


def _columns(number: str) -> int:
    return min(int(number), 100) if number.isdecimal() else 0
