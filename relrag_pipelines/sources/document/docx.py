"""DOCX (ECMA-376), read directly from the zip, since real files refer to missing parts.

Headers come before the text; footers, notes and comments after it. Text that a tracked change deleted is left out.
Headings get the `#` of Markdown, list items a `-`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from relrag_pipelines.sources.document.document_text import (
    DocumentText,
    clean_title,
    first_line_title,
)
from relrag_pipelines.sources.document.docx_text import Context, blocks, comments, heading_levels, notes
from relrag_pipelines.sources.document.office_package import Package, with_core_properties
from relrag_pipelines.sources.formats.text_cleaning import clean

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def read(parts: Package, main: str) -> DocumentText:
    """The text of a DOCX, whose main part is `main`."""
    context = Context()
    related: dict[str, list[etree._Element]] = {}
    for name, kind, target, is_external in sorted(parts.relations(main)):
        if is_external:
            context.links[name] = target
        elif kind in ("styles", "header", "footer", "footnotes", "endnotes", "comments"):
            related.setdefault(kind, []).append(parts.tree(target))
    for styles in related.get("styles", []):
        context.levels |= heading_levels(styles)
    texts = _texts(parts.tree(main), related, context)
    text = re.sub(r"\n{3,}", "\n\n", clean("\n\n".join(texts))).strip()
    document = with_core_properties(DocumentText(CONTENT_TYPE, text), parts)
    document.title = document.title or clean_title(context.title) or first_line_title(text)
    return document


def _texts(main: etree._Element, related: dict[str, list[etree._Element]], context: Context) -> list[str]:
    """The texts of a document in reading order; `related` holds the trees of its other parts by kind."""
    texts = _distinct("\n".join(blocks(tree, context)) for tree in related.get("header", []))
    texts += blocks(main, context)
    for tree in (*related.get("footnotes", []), *related.get("endnotes", [])):
        texts += notes(tree, context)
    for tree in related.get("comments", []):
        texts += comments(tree, context)
    texts += _distinct("\n".join(blocks(tree, context)) for tree in related.get("footer", []))
    return texts


def _distinct(texts: Iterator[str]) -> list[str]:
    """Distinct headers or footers, as sections repeat them; those without a letter are page numbers and left out."""
    return [text for text in dict.fromkeys(texts) if any(map(str.isalpha, text))]
