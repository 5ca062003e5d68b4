"""The HTML of a mail as text in which quotes, dividers and signatures can still be recognised."""

from __future__ import annotations

import re

from relrag_pipelines.sources.formats.html_spacing import KEPT_SPACE, LINE, tidy
from relrag_pipelines.sources.formats.html_text import HtmlTextReader
from relrag_pipelines.sources.formats.text_cleaning import clean

MAX_QUOTES = 10
"""Quotations within quotations beyond this are shown at this depth."""
DIVIDER = "_" * 32
"""The line that Outlook puts above the header of the message that is answered."""

_HIDDEN = re.compile(
    r"(?:display\s*+:\s*+none|visibility\s*+:\s*+hidden|(?:max-height|opacity)\s*+:\s*+0(?:px|%|\.0*)?\s*+(?:[;\"'!]|$))",
    re.IGNORECASE,
)
"""The last two hide preview lines; in pages they are what a script shows later."""
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
    return clean(_FILLER.sub("", _mark_quotations(tidy("".join(_Mail(clean(source)).read())))))


class _Mail(HtmlTextReader):
    """A mail, with its quotations open."""

    hidden_by = _HIDDEN

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.quotes: list[bool] = []

    def start_tag(self, name: str, attributes: str) -> None:
        if attributes and _ANSWERED.search(attributes):
            if not "".join(self.out[-8:]).rstrip(f" \n{LINE}").endswith(DIVIDER):
                self.out.append(f"\n\n{DIVIDER}\n")
        elif attributes and _SIGNATURE.search(attributes) and "".join(self.out[-3:]).strip(f" \n{LINE}") != "--":
            self.out.append(f"{LINE}--{KEPT_SPACE}{LINE}")
        if name == "blockquote":
            marked = not _INDENTED.search(attributes) or bool(_CITED.search(attributes))
            self.quotes.append(marked)
            self.out.append(f"\n\n{_QUOTE_BEGINS}\n" if marked else "\n\n")
            self.no_data()
        else:
            super().start_tag(name, attributes)

    def end_tag(self, name: str) -> None:
        if name == "blockquote":
            marked = self.quotes.pop() if self.quotes else False
            self.out.append(f"\n{_QUOTE_ENDS}\n\n" if marked else "\n\n")
        else:
            super().end_tag(name)


def _mark_quotations(text: str) -> str:
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
