"""HTML of a mail as readable text in which quoted history, dividers and signatures can still be told.

A reader by tokens, as the tokenisation of the HTML standard has them, that builds no tree: the trees of the standard
grow with the square of hostile input and more (17 KB took lexbor 4 s, and libxml2 looks for every end tag through all
open elements), and mail comes from strangers. Time and memory here are proportional to the length of the input.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from relrag_pipelines.sources.document.content import clean, one_line
from relrag_pipelines.sources.document.html import (
    KEPT_LINE,
    KEPT_SPACE,
    LINE,
    LINES,
    PARAGRAPHS,
    laid_out,
    shown_address,
    tidy,
)

MAX_QUOTES = 10
"""Quotations within quotations beyond this are shown at this depth."""
MAX_SPAN = 8
"""Columns or rows that one cell takes up at most."""
MAX_CELLS = 100_000
"""Tables of data with more cells in all are read as running text from there on."""
DIVIDER = "_" * 32
"""The line that Outlook puts above the header of the message that is answered."""

_TOKEN = re.compile(
    r"""<(?:(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)(?P<attributes>(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)(?P<closed>>?)
    |(?P<comment>!--)
    |[!?/][^>]*+>?)""",
    re.VERBOSE,
)
_RAW = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "title", "textarea", "xmp")}
_SKIPPED = {"template", "svg", "math", "iframe", "object", "canvas", "select", "audio", "video"}
_VOID = {"br", "hr", "img", "input", "meta", "link", "col", "area", "base", "wbr", "embed", "source"}
_REOPENED = {"p", "li", "tr", "td", "th", "dt", "dd", "option"}
"""Elements whose end tag may be missing: the next of their kind ends them."""
_BREAKS = {"br": "\n"} | dict.fromkeys(LINES, LINE) | dict.fromkeys(PARAGRAPHS, "\n\n")
_HIDDEN = re.compile(
    r"(?:display\s*+:\s*+none|visibility\s*+:\s*+hidden|(?:max-height|opacity)\s*+:\s*+0(?:px|%|\.0*)?\s*+(?:[;\"'!]|$))",
    re.IGNORECASE,
)
_HIDDEN_BY_NAME = re.compile(r"(?:^|\s)hidden(?:\s|=|/|$)", re.IGNORECASE)
_PIXEL = re.compile(r"\b(?:width|height)\s*+[=:]\s*+[\"']?[012](?:px)?[\s\"';/]|(?:^|\s)(?:width|height)=[012]$", re.I)
_VALUE = r"""\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))"""
_ATTRIBUTE = {
    name: re.compile(rf"(?:^|[\s\"'/]){name}{_VALUE}", re.I) for name in ("href", "alt", "start", "colspan", "rowspan")
}
_ANSWERED = re.compile(
    r"id\s*+=\s*+[\"']?(?:[\w-]{0,40}_)?(?:divRplyFwdMsg|appendonsend)\b"
    r"|border-top:\s*+solid\s++#(?:E1E1E1|B5C4DF)\s++1",
    re.I,
)
"""Above the header of the answered message: Outlook on the web and on phones, then Outlook for Windows."""
_SIGNATURE = re.compile(
    r"""(?:class|id)\s*+=\s*+["']?(?:[\w-]{0,40}_)?(?:gmail_signature|moz-signature|Signature)(?:["'\s]|$)"""
)
_INDENTED = re.compile(r"border(?:-left)?\s*+:\s*+(?:none|0)", re.IGNORECASE)
_CITED = re.compile(r"gmail_quote|cite", re.IGNORECASE)
_FILLER = re.compile("(?:[\u034f\u200b-\u200d\u2007\u2060] ?){4,}")
"""What newsletters put behind the preview line so that nothing else shows there."""
_QUOTE_BEGINS, _QUOTE_ENDS = "\x11", "\x12"
"""Lines of the intermediate text; `clean` removes them from input."""


def to_text(source: str) -> str:
    """The text of an HTML mail: lists, tables as rows, links with their address, quotations marked by `> `.

    Scripts, styles, comments, hidden elements (preview lines) and tracking pixels are left out. A line of underscores
    stands where Outlook's divider was, and `-- ` above what the mail program marks as a signature.
    """
    return clean(_FILLER.sub("", _quoted(tidy("".join(_Reader(clean(source)).read())))))


@dataclass
class _Table:
    start: int
    """where its text begins in the output"""
    data: bool = True
    """whether nothing was seen yet that tables of data do not hold"""
    headed: bool = False
    cell: tuple[int, int, int] | None = None
    """the open cell: where it begins, columns, rows"""
    rows: list[list[tuple[int, int, int, int]]] = field(default_factory=list)
    """cells: start and end in the output, columns, rows"""


class _Reader:
    """What is open while the tokens go by."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.out: list[str] = []
        self.tables: list[_Table] = []
        self.lists: list[int | None] = []
        self.quotes: list[bool] = []
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

    def _read_from(self, position: int) -> int:
        """Reads up to a comment, script or style, and returns where reading goes on behind it.

        A tag that never ends is text with all that follows: the mail was cut, or is no HTML.
        """
        source = self.source
        for token in _TOKEN.finditer(source, position):
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
                if name in _RAW and not closing:
                    end = _RAW[name].search(source, position)
                    return end.start() if end else len(source)
                if not self.hidden or self._reappears(name, closing):
                    if closing:
                        self._end(name)
                    else:
                        self._start(name, attributes)
        if not self.hidden:
            self._text(source[position:])
        return len(source)

    def _behind_comment(self, position: int) -> int:
        """A comment without an end ends with the next `>`, as in old browsers."""
        if self.comments_end:
            end = self.source.find("-->", position - 2)
            self.comments_end = end >= 0
            if self.comments_end:
                return end + 3
        return (self.source.find(">", position) + 1) or len(self.source)

    def _reappears(self, name: str, closing: str) -> bool:
        """Whether this tag ends what is hidden and is itself to be read."""
        assert self.hidden
        hidden, count = self.hidden
        if name != hidden and not (hidden == "p" and not closing and name in PARAGRAPHS | LINES):
            return False
        if not closing and hidden in _REOPENED:
            self.hidden = None
            return True
        count += -1 if closing else 1
        self.hidden = (hidden, count) if count else None
        return False

    def _text(self, text: str) -> None:
        if "&" in text:
            text = html.unescape(text)
        if self.preformatted:
            self.out.append(text.replace(" ", KEPT_SPACE).replace("\n", KEPT_LINE))
        else:
            self.out.append(text.replace("\n", " ").replace("\xa0", " "))

    def _start(self, name: str, attributes: str) -> None:
        if name in _VOID:
            self._void(name, attributes)
            return
        if name in _SKIPPED or (attributes and _is_hidden(attributes)):
            self.hidden = (name, 1)
            return
        if attributes and _ANSWERED.search(attributes):
            if not "".join(self.out[-8:]).rstrip(f" \n{LINE}").endswith(DIVIDER):
                self.out.append(f"\n\n{DIVIDER}\n")
        elif attributes and _SIGNATURE.search(attributes) and "".join(self.out[-3:]).strip(f" \n{LINE}") != "--":
            self.out.append(f"{LINE}--{KEPT_SPACE}{LINE}")
        if handler := _STARTS.get(name):
            handler(self, attributes)
        elif breaks := _BREAKS.get(name):
            self.out.append(breaks)
            if name[0] == "h" and name[1:].isdigit():
                self.out.append("#" * int(name[1]) + " ")
                self._no_data()

    def _end(self, name: str) -> None:
        if handler := _ENDS.get(name):
            handler(self)
        elif breaks := _BREAKS.get(name):
            self.out.append(breaks)

    def _void(self, name: str, attributes: str) -> None:
        if name == "br":
            self.out.append(KEPT_LINE if self.preformatted else "\n")
        elif name == "hr":
            self.out.append("\n\n")
        elif name == "img" and not _PIXEL.search(attributes) and not _is_hidden(attributes):
            self.out.append(one_line(_attribute(attributes, "alt")))

    def _start_link(self, attributes: str) -> None:
        self._end_link()
        if address := shown_address(_attribute(attributes, "href")):
            self.link = (address, len(self.out))

    def _end_link(self) -> None:
        if self.link:
            address, start = self.link
            text = "".join(self.out[start:])
            if text.strip(f" \n{LINE}") and address not in text:
                self.out.append(f" ({address})")
            self.link = None

    def _start_quote(self, attributes: str) -> None:
        marked = not _INDENTED.search(attributes) or bool(_CITED.search(attributes))
        self.quotes.append(marked)
        self.out.append(f"\n\n{_QUOTE_BEGINS}\n" if marked else "\n\n")
        self._no_data()

    def _end_quote(self) -> None:
        marked = self.quotes.pop() if self.quotes else False
        self.out.append(f"\n{_QUOTE_ENDS}\n\n" if marked else "\n\n")

    def _start_list(self, attributes: str, first: int | None = None) -> None:
        self.lists.append(first)
        self.out.append("\n\n")
        self._no_data()

    def _start_numbered(self, attributes: str) -> None:
        start = _attribute(attributes, "start")
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
        self._no_data()

    def _end_preformatted(self) -> None:
        self.preformatted = max(self.preformatted - 1, 0)
        self.out.append("\n\n")

    def _no_data(self) -> None:
        if self.tables:
            self.tables[-1].data = False

    def _start_table(self, attributes: str) -> None:
        self._no_data()
        self.out.append("\n\n")
        self.tables.append(_Table(len(self.out)))

    def _start_row(self, attributes: str) -> None:
        self._end_cell()
        self.out.append(LINE)
        if self.tables:
            self.tables[-1].rows.append([])

    def _start_cell(self, attributes: str) -> None:
        self._end_cell()
        self.out.append(" ")
        if self.tables:
            table = self.tables[-1]
            table.cell = (len(self.out), _span(attributes, "colspan"), _span(attributes, "rowspan"))

    def _start_heading(self, attributes: str) -> None:
        self._start_cell(attributes)
        if self.tables:
            self.tables[-1].headed = True

    def _end_cell(self) -> None:
        if self.tables and self.tables[-1].cell:
            self._end_link()
            table = self.tables[-1]
            assert table.cell
            start, wide, high = table.cell
            table.rows = table.rows or [[]]
            table.rows[-1].append((start, len(self.out), wide, high))
            table.cell = None

    def _end_table(self) -> None:
        self._end_cell()
        if self.tables:
            table = self.tables.pop()
            self.grids += (size := _grid(table))
            if size and self.grids <= MAX_CELLS:
                rows = "\n".join(_rows(table, self.out))
                del self.out[table.start :]
                self.out.append(rows)
                if self.link:
                    self.link = (self.link[0], min(self.link[1], table.start))
        self.out.append("\n\n")


_STARTS = {
    "a": _Reader._start_link,
    "blockquote": _Reader._start_quote,
    "ul": _Reader._start_list,
    "ol": _Reader._start_numbered,
    "li": _Reader._start_item,
    "pre": _Reader._start_preformatted,
    "table": _Reader._start_table,
    "tr": _Reader._start_row,
    "td": _Reader._start_cell,
    "th": _Reader._start_heading,
}
_ENDS = {
    "a": _Reader._end_link,
    "blockquote": _Reader._end_quote,
    "ul": _Reader._end_list,
    "ol": _Reader._end_list,
    "pre": _Reader._end_preformatted,
    "table": _Reader._end_table,
    "tr": _Reader._end_cell,
    "td": _Reader._end_cell,
    "th": _Reader._end_cell,
}


def _is_hidden(attributes: str) -> bool:
    if _HIDDEN.search(attributes):
        return True
    return "hidden" in attributes and bool(_HIDDEN_BY_NAME.search(re.sub("\"[^\"]*+\"|'[^']*+'", "", attributes)))


def _attribute(attributes: str, name: str) -> str:
    found = _ATTRIBUTE[name].search(attributes)
    return html.unescape(found[1] or found[2] or found[3] or "") if found else ""


def _span(attributes: str, name: str) -> int:
    value = _attribute(attributes, name) if name in attributes else ""
    return min(max(int(value), 1), MAX_SPAN) if re.fullmatch("[0-9]{1,6}", value) else 1


def _grid(table: _Table) -> int:
    """The cells of a table's grid; 0 where it only lays out text.

    A table of data has two rows of two cells, or one and a heading, and its grid is not mostly empty.
    """
    wide = sum(len(row) > 1 for row in table.rows)
    if not table.data or not (wide > 1 or (wide == 1 and table.headed)):
        return 0
    size = len(table.rows) * max(sum(cell[2] for cell in row) for row in table.rows)
    return size if size <= 4 * sum(map(len, table.rows)) + 64 else 0


def _rows(table: _Table, out: list[str]) -> Iterator[str]:
    """What stands outside the cells (the caption), then the rows."""
    outside, position = [], table.start
    for start, end, *_ in (cell for row in table.rows for cell in row):
        outside += out[position:start]
        position = end
    if lead := one_line("".join([*outside, *out[position:]]).replace(LINE, "\n")):
        yield lead
    yield from laid_out([[(_cell(out[a:b]), wide, high) for a, b, wide, high in row] for row in table.rows])


def _cell(pieces: list[str]) -> str:
    return one_line("".join(pieces).replace(LINE, "\n"))


def _quoted(text: str) -> str:
    """The text with `> ` before each line of a quotation, a second time for one within another."""
    lines: list[str] = []
    depth = before = 0
    apart = False
    for line in text.split("\n"):
        if line in (_QUOTE_BEGINS, _QUOTE_ENDS):
            depth += 1 if line == _QUOTE_BEGINS else -1
        elif not line:
            apart = True
        else:
            if lines and (apart or depth < before):
                lines.append(("> " * min(depth, before, MAX_QUOTES)).rstrip())
            lines.append("> " * min(depth, MAX_QUOTES) + line)
            apart, before = False, depth
    return "\n".join(lines)
