"""Tokens of HTML, as its standard defines them, and how each element affects the text around it."""

from __future__ import annotations

import html
import re

from relrag_pipelines.sources.formats.html_spacing import LINE

MAX_ADDRESS = 200
"""A longer address is displayed without its query, characters."""
TOKEN = re.compile(
    r"""<(?:(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)(?P<attributes>(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)(?P<closed>>?)
    |(?P<comment>!--)
    |[!?/][^>]*+>?)""",
    re.VERBOSE,
)
RAW = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "title", "textarea", "xmp")}
SKIPPED = frozenset({"template", "svg", "math", "iframe", "object", "canvas", "select", "audio", "video"})
SELF_CLOSING = {"svg", "math"}
VOID = {"br", "hr", "img", "input", "meta", "link", "col", "area", "base", "wbr", "embed", "source"}
REOPENED = {"p", "li", "tr", "td", "th", "dt", "dd", "option"}
"""Elements whose end tag may be missing: the next of their kind ends them."""
_PARAGRAPHS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "pre", "blockquote", "table", "section"} | {
    *("article", "figure", "hr")
}
_LINES = {"div", "li", "tr", "dt", "dd", "header", "footer", "nav", "main", "aside", "address", "caption", "body"} | {
    *("figcaption", "form", "fieldset", "option")
}
BLOCKS = _PARAGRAPHS | _LINES
"""Elements that are separated from the text around them."""
BREAKS = {"br": "\n"} | dict.fromkeys(_LINES, LINE) | dict.fromkeys(_PARAGRAPHS, "\n\n")
HIDDEN = re.compile(r"(?:display\s*+:\s*+none|visibility\s*+:\s*+hidden)", re.IGNORECASE)
HIDDEN_BY_NAME = re.compile(r"(?:^|\s)hidden(?:\s|=|/|$)", re.IGNORECASE)
PIXEL = re.compile(r"\b(?:width|height)\s*+[=:]\s*+[\"']?[012](?:px)?[\s\"';/]|(?:^|\s)(?:width|height)=[012]$", re.I)
_VALUE = r"""\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))"""
_ATTRIBUTE = {
    name: re.compile(rf"(?:^|[\s\"'/]){name}{_VALUE}", re.I)
    for name in ("href", "alt", "start", "colspan", "rowspan", "name", "content")
}


def attribute(attributes: str, name: str) -> str:
    """The value of an attribute (href, alt, start, colspan, rowspan, name, content), empty where it is missing."""
    match = _ATTRIBUTE[name].search(attributes)
    return html.unescape(match[1] or match[2] or match[3] or "") if match else ""


def shown_address(href: str) -> str:
    """The address to display after a link's text; empty unless it is a web or mail address."""
    address = href.strip()
    if not re.match(r"https?://|mailto:", address, re.IGNORECASE):
        return ""
    address = re.sub(r"^mailto:([^?]*).*", r"\1", address, flags=re.IGNORECASE)
    return address if len(address) <= MAX_ADDRESS else re.split(r"[?#]", address)[0][:MAX_ADDRESS]
