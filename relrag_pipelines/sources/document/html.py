"""HTML as readable text: headings with the `#` of Markdown, lists, tables as rows, links with their address.

Scripts, styles and what the page hides are left out. Tables that only lay out a page (they hold other tables, or one
column) are read as ordinary text. Nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from relrag_pipelines.sources.charset import Decoded, decode
from relrag_pipelines.sources.document.content import (
    DocumentError,
    Extracted,
    clean,
    first_line_title,
    one_line,
    sane_author,
    sane_title,
    table_row,
)

CONTENT_TYPE = "text/html"
MAX_ADDRESS = 200
"""A longer address is shown without its query, characters."""
MAX_DEPTH = 10_000
"""Elements within elements."""

_DECLARED = re.compile(rb"""<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_SKIPPED = {"script", "style", "noscript", "template", "head", "svg", "math", "iframe", "object", "canvas", "select"}
PARAGRAPHS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "pre", "blockquote", "table", "section"} | {
    *("article", "figure", "hr")
}
LINES = {"div", "li", "tr", "dt", "dd", "header", "footer", "nav", "main", "aside", "address", "caption", "body"} | {
    *("figcaption", "form", "fieldset", "option")
}
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_TAG = re.compile(
    r"<(/?)(?!(?:br|hr|img|p|li|dt|dd|td|th|tr|tbody|thead|tfoot|option|col|input|meta|link)\b)[a-z]", re.I
)
LINE, KEPT_SPACE, KEPT_LINE = "\x1d", "\x1e", "\x1f"
"""A line end that any other one absorbs; space and line end of preformatted text. `clean` removes them from input."""


def extract(data: bytes) -> tuple[Extracted, Decoded]:
    """The text of an HTML page, and how its bytes were read. Raises CharsetError."""
    declared = _DECLARED.search(data[:4096])
    decoded = decode(data, _browser_charset(declared[1].decode("ascii")) if declared else None)
    source = clean(decoded.text)
    _refuse_nesting(source)
    tree = LexborHTMLParser(source)
    found = Extracted(CONTENT_TYPE, clean(tidy("".join(_texts(tree.root)))) if tree.root else "")
    title, heading = tree.css_first("title"), tree.css_first("h1")
    found.title = next((name for node in (title, heading) if node and (name := sane_title(node.text()))), None)
    found.title = found.title or first_line_title(found.text)
    author = tree.css_first('meta[name="author" i]')
    found.author = sane_author(author.attributes.get("content")) if author else None
    return found, decoded


def _refuse_nesting(source: str) -> None:
    """The parser's time grows with the square of the depth."""
    depth = 0
    for tag in _TAG.finditer(source):
        depth += -1 if tag[1] else 1
        if depth > MAX_DEPTH:
            raise DocumentError(
                "too_deep", f"elements within elements beyond {MAX_DEPTH} levels; this is no readable page"
            )


def _browser_charset(name: str) -> str:
    """Browsers read Latin-1 and ASCII as Windows-1252, and so do those who declare them (WHATWG Encoding)."""
    return "cp1252" if name.casefold() in ("iso-8859-1", "latin1", "latin-1", "ascii", "us-ascii") else name


def _texts(root: LexborNode) -> Iterator[str]:
    """Pieces of text below a node in order. A stack, not recursion: pages nest deeper than Python does."""
    waiting: list[LexborNode | str] = [root]
    items: dict[int, int] = {}
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif node.is_text_node:
            yield re.sub(r"\s+", " ", node.text_content or "")
        elif node.is_element_node and node.tag not in _SKIPPED and not _is_hidden(node):
            if node.tag == "pre":
                yield f"\n\n{node.text().strip(chr(10)).replace(' ', KEPT_SPACE).replace(chr(10), KEPT_LINE)}\n\n"
            elif node.tag == "table" and _is_data(node):
                yield "\n\n" + "\n".join(_rows(node)) + "\n\n"
            else:
                before, after = _around(node, items)
                yield before
                waiting.append(after)
                waiting += reversed(list(node.iter(include_text=True)))
        elif node.is_document_node:
            waiting += reversed(list(node.iter(include_text=True)))


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    return "hidden" in attributes or bool(_HIDDEN.search(attributes.get("style") or ""))


def _around(node: LexborNode, items: dict[int, int]) -> tuple[str, str]:
    """What stands before and after the text of an element; `items` counts the entries of numbered lists."""
    tag = node.tag or ""
    if tag == "br":
        return "\n", ""
    if tag == "img":
        return node.attributes.get("alt") or "", ""
    if tag == "a":
        return "", _address(node)
    if tag == "li":
        return f"{LINE}{_item_mark(node, items)}", LINE
    if tag in ("td", "th"):
        return " ", " "
    heading = "#" * int(tag[1]) + " " if re.fullmatch("h[1-6]", tag) else ""
    return (f"\n\n{heading}", "\n\n") if tag in PARAGRAPHS else (LINE, LINE) if tag in LINES else ("", "")


def _item_mark(node: LexborNode, items: dict[int, int]) -> str:
    parent = node.parent
    if parent is None or parent.tag != "ol":
        return "- "
    start = parent.attributes.get("start") or "1"
    items[parent.mem_id] = items.get(parent.mem_id, (int(start) if start.isdecimal() else 1) - 1) + 1
    return f"{items[parent.mem_id]}. "


def _address(node: LexborNode) -> str:
    address = shown_address(node.attributes.get("href") or "")
    return "" if address in node.text() else f" ({address})"


def shown_address(href: str) -> str:
    """The address of a link as it is shown behind its text; empty for one that leads nowhere outside the page."""
    address = href.strip()
    if not re.match(r"https?://|mailto:", address, re.IGNORECASE):
        return ""
    address = re.sub(r"^mailto:([^?]*).*", r"\1", address, flags=re.IGNORECASE)
    return address if len(address) <= MAX_ADDRESS else re.split(r"[?#]", address)[0][:MAX_ADDRESS]


def _is_data(table: LexborNode) -> bool:
    """Whether a table holds data: no table inside, and a heading cell or two rows of two cells."""
    if len(table.css("table")) > 1 or table.css_matches("pre, ul, ol, h1, h2, h3"):
        return False
    wide = sum(len(row.css("td, th")) > 1 for row in table.css("tr"))
    return wide > 1 or (wide == 1 and table.css_matches("th"))


def _rows(table: LexborNode) -> Iterator[str]:
    """The caption and the rows of a table."""
    if caption := table.css_first("caption"):
        yield one_line(caption.text())
    yield from laid_out(
        [
            (one_line("".join(_texts(cell))), _span(cell, "colspan"), _span(cell, "rowspan"))
            for cell in row.css("td, th")
        ]
        for row in table.css("tr")
    )


def laid_out(rows: Iterable[Iterable[tuple[str, int, int]]]) -> Iterator[str]:
    """Rows of cells, each with its columns and rows, as lines; columns that a wide or tall one also fills are empty."""
    taken: dict[int, int] = {}
    for row in rows:
        cells: list[str] = []
        for text, width, height in row:
            while taken.get(len(cells), 0):
                taken[len(cells)] -= 1
                cells.append("")
            for place in range(len(cells), len(cells) + width):
                taken[place] = height - 1
            cells += [text, *[""] * (width - 1)]
        for place in range(len(cells), max(taken, default=-1) + 1):
            if taken.get(place, 0):
                taken[place] -= 1
        if any(cells):
            yield table_row(cells)


def _span(cell: LexborNode, name: str) -> int:
    value = cell.attributes.get(name) or "1"
    return min(max(int(value), 1), 100) if value.isdecimal() else 1


def tidy(text: str) -> str:
    """Runs of white space as one space, one line end or one empty line; what is kept, as it was."""

    def reduced(run: re.Match[str]) -> str:
        return "\n\n" if run[0].count("\n") > 1 else "\n" if "\n" in run[0] or LINE in run[0] else " "

    text = re.sub(f"[ \t\n{LINE}]{{2,}}|[\t{LINE}]", reduced, text).strip()
    return text.replace(KEPT_SPACE, " ").replace(KEPT_LINE, "\n")
