"""HTML as text, read token by token as the HTML standard defines them, without a tree.

Tree parsers take quadratic time or worse on hostile input (17 KB took lexbor 4 s, and libxml2 searches all open
elements for every end tag), and pages and mails come from strangers. Time and memory here are proportional to the
length of the input. Subclasses read what is specific to pages and mails (html.py, mail/html_body.py).
"""

from __future__ import annotations

import html
import re

from relrag_pipelines.sources.formats.html_spacing import KEPT_LINE, KEPT_SPACE, LINE
from relrag_pipelines.sources.formats.html_tables import HtmlCell, HtmlTable, grid, rows
from relrag_pipelines.sources.formats.html_tokens import (
    BLOCKS,
    BREAKS,
    HIDDEN,
    HIDDEN_BY_NAME,
    PIXEL,
    RAW,
    REOPENED,
    SELF_CLOSING,
    SKIPPED,
    TOKEN,
    VOID,
    attribute,
    shown_address,
)
from relrag_pipelines.sources.formats.text_cleaning import one_line

MAX_SPAN = 1000
"""Columns or rows that one cell spans at most."""
MAX_CELLS = 100_000
"""Cells in tables of data; beyond this number, tables are read as running text."""
_SPACES = re.compile(r"\s")


class HtmlTextReader:
    """Reads the text of a page, keeping track of open elements.

    Headings get the `#` of Markdown, lists their marks, tables of data one line a row, links their address. Scripts,
    styles, comments, hidden elements and tracking pixels are left out.
    """

    skipped: frozenset[str] = SKIPPED
    """elements that are left out with their contents"""
    hidden_by: re.Pattern[str] = HIDDEN
    """matches attributes that hide an element"""

    def __init__(self, source: str) -> None:
        self.source = source
        self.out: list[str] = []
        self.tables: list[HtmlTable] = []
        self.lists: list[int | None] = []
        self.grids = 0
        """cells of all tables of data"""
        self.link: tuple[str, int] | None = None
        self.preformatted = 0
        self.hidden: tuple[str, int] | None = None
        """the element that is left out and how many of its name are open"""
        self.comments_end = True
        """False once a comment was found that does not"""

    def read(self) -> list[str]:
        """Pieces of text in order."""
        position, size = 0, len(self.source)
        while position < size:
            position = self._read_from(position)
        self._end_link()
        return self.out

    def start_tag(self, name: str, attributes: str) -> None:
        """Handles a start tag of a visible element; name in lower case."""
        if handler := _STARTS.get(name):
            handler(self, attributes)
        elif breaks := BREAKS.get(name):
            self.out.append(breaks)
            if name[0] == "h" and name[1:].isdigit():
                self.out.append("#" * int(name[1]) + " ")
                self.no_data()

    def end_tag(self, name: str) -> None:
        """Handles an end tag."""
        if handler := _ENDS.get(name):
            handler(self)
        elif breaks := BREAKS.get(name):
            self.out.append(breaks)

    def void(self, name: str, attributes: str) -> None:
        """Handles a tag of an element that has no content."""
        if name == "br":
            self.out.append(KEPT_LINE if self.preformatted else "\n")
        elif name == "hr":
            self.out.append("\n\n")
        elif name == "img" and not PIXEL.search(attributes) and not self._is_hidden(attributes):
            self.out.append(one_line(attribute(attributes, "alt")))

    def raw(self, name: str, text: str) -> None:
        """Handles the content of a script, style, title or the like, which isn't text of the page."""

    def no_data(self) -> None:
        """Marks the open table as layout: tables of data don't contain what was just read."""
        if self.tables:
            self.tables[-1].data = False

    def _read_from(self, position: int) -> int:
        """Reads up to the end of the next comment, script or style, and returns the position after it.

        A tag that never ends makes the rest text: the input was truncated, or isn't HTML.
        """
        source = self.source
        for token in TOKEN.finditer(source, position):
            closing, name, attributes, closed, comment = token.groups()
            if name and not closed:
                break
            if (start := token.start()) > position and not self.hidden:
                self._text(source[position:start])
            position = token.end()
            if comment:
                return self._behind_comment(position)
            if name:
                name = name.lower()
                if name in RAW and not closing:
                    return self._read_raw(name, position)
                self._tag(name, attributes, closing)
        if not self.hidden:
            self._text(source[position:])
        return len(source)

    def _read_raw(self, name: str, position: int) -> int:
        """Reads a script, style, title or the like up to its end tag, and returns the position of that."""
        end_tag = RAW[name].search(self.source, position)
        end = end_tag.start() if end_tag else len(self.source)
        if not self.hidden:
            self.raw(name, self.source[position:end])
        return end

    def _tag(self, name: str, attributes: str, closing: str) -> None:
        """Handles a start or end tag, unless it is hidden."""
        if self.hidden and not self._reappears(name, closing):
            return
        if closing:
            self.end_tag(name)
        else:
            self._start(name, attributes)

    def _behind_comment(self, position: int) -> int:
        """A comment without an end ends with the next `>`, as in old browsers."""
        if self.comments_end:
            end = self.source.find("-->", position - 2)
            self.comments_end = end >= 0
            if self.comments_end:
                return end + 3
        return (self.source.find(">", position) + 1) or len(self.source)

    def _reappears(self, name: str, closing: str) -> bool:
        """Whether this tag ends the hidden part and is itself visible."""
        assert self.hidden
        hidden, count = self.hidden
        if name != hidden and not (hidden == "p" and not closing and name in BLOCKS):
            return False
        if not closing and hidden in REOPENED:
            self.hidden = None
            return True
        count += -1 if closing else 1
        self.hidden = (hidden, count) if count else None
        return False

    def _is_hidden(self, attributes: str) -> bool:
        if self.hidden_by.search(attributes):
            return True
        return "hidden" in attributes and bool(HIDDEN_BY_NAME.search(re.sub("\"[^\"]*+\"|'[^']*+'", "", attributes)))

    def _text(self, text: str) -> None:
        if "&" in text:
            text = html.unescape(text)
        if self.preformatted:
            self.out.append(text.replace(" ", KEPT_SPACE).replace("\n", KEPT_LINE))
        else:
            self.out.append(text.replace("\n", " ") if text.isascii() and "\r" not in text else _SPACES.sub(" ", text))

    def _start(self, name: str, attributes: str) -> None:
        if name in VOID:
            self.void(name, attributes)
        elif name in self.skipped or (attributes and self._is_hidden(attributes)):
            if name not in SELF_CLOSING or not attributes.endswith("/"):
                self.hidden = (name, 1)
        else:
            self.start_tag(name, attributes)

    def _start_link(self, attributes: str) -> None:
        self._end_link()
        if address := shown_address(attribute(attributes, "href")):
            self.link = (address, len(self.out))

    def _end_link(self) -> None:
        if self.link:
            address, start = self.link
            text = "".join(self.out[start:])
            if text.strip(f" \n{LINE}") and address not in text:
                self.out.append(f" ({address})")
            self.link = None

    def _start_list(self, attributes: str, first: int | None = None) -> None:
        self.lists.append(first)
        self.out.append("\n\n")
        self.no_data()

    def _start_numbered(self, attributes: str) -> None:
        start = attribute(attributes, "start")
        self._start_list(attributes, int(start) if re.fullmatch("[0-9]{1,6}", start) else 1)

    def _end_list(self) -> None:
        if self.lists:
            self.lists.pop()
        self.out.append("\n\n")

    def _start_item(self, attributes: str) -> None:
        number = self.lists[-1] if self.lists else None
        if number is not None:
            self.lists[-1] = number + 1
        self.out.append(f"{LINE}- " if number is None else f"{LINE}{number}. ")

    def _start_preformatted(self, attributes: str) -> None:
        self.preformatted += 1
        self.out.append("\n\n")
        self.no_data()

    def _end_preformatted(self) -> None:
        self.preformatted = max(self.preformatted - 1, 0)
        self.out.append("\n\n")

    def _start_table(self, attributes: str) -> None:
        self.no_data()
        self.out.append("\n\n")
        self.tables.append(HtmlTable(len(self.out)))

    def _start_row(self, attributes: str) -> None:
        self._end_cell()
        self.out.append(LINE)
        if self.tables:
            self.tables[-1].rows.append([])

    def _start_cell(self, attributes: str) -> None:
        self._end_cell()
        self.out.append(" ")
        if self.tables:
            wide, high = _span(attributes, "colspan"), _span(attributes, "rowspan")
            self.tables[-1].cell = HtmlCell(len(self.out), 0, wide, high)

    def _start_heading(self, attributes: str) -> None:
        self._start_cell(attributes)
        if self.tables:
            self.tables[-1].headed = True

    def _end_cell(self) -> None:
        if self.tables and (cell := self.tables[-1].cell):
            self._end_link()
            table = self.tables[-1]
            table.rows = table.rows or [[]]
            table.rows[-1].append(cell._replace(end=len(self.out)))
            table.cell = None

    def _end_table(self) -> None:
        self._end_cell()
        if self.tables:
            table = self.tables.pop()
            self.grids += (size := grid(table))
            if size and self.grids <= MAX_CELLS:
                text = "\n".join(rows(table, self.out))
                del self.out[table.start :]
                self.out.append(text)
                if self.link:
                    self.link = (self.link[0], min(self.link[1], table.start))
        self.out.append("\n\n")


_STARTS = {
    "a": HtmlTextReader._start_link,
    "ul": HtmlTextReader._start_list,
    "ol": HtmlTextReader._start_numbered,
    "li": HtmlTextReader._start_item,
    "pre": HtmlTextReader._start_preformatted,
    "table": HtmlTextReader._start_table,
    "tr": HtmlTextReader._start_row,
    "td": HtmlTextReader._start_cell,
    "th": HtmlTextReader._start_heading,
}
_ENDS = {
    "a": HtmlTextReader._end_link,
    "ul": HtmlTextReader._end_list,
    "ol": HtmlTextReader._end_list,
    "pre": HtmlTextReader._end_preformatted,
    "table": HtmlTextReader._end_table,
    "tr": HtmlTextReader._end_cell,
    "td": HtmlTextReader._end_cell,
    "th": HtmlTextReader._end_cell,
}


def _span(attributes: str, name: str) -> int:
    value = attribute(attributes, name) if name in attributes else ""
    return min(max(int(value), 1), MAX_SPAN) if re.fullmatch("[0-9]{1,6}", value) else 1
