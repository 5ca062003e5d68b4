"""HTML that makes readers slow, by what it does."""

HOSTILE = {
    "open": "<div>",
    "never matching ends": "<div></x>",
    "table": "<table><tr><td>",
    "small tables": "<table><tr><td>x<td>y<tr><td>x<td>y</table>",
    "wide cells": "<tr><td colspan=99 rowspan=99>a<td>b",
    "tall cells": "<tr><td>a<td rowspan=60000>b",
    "formatting": "<p><b a=1><i><font x></p>",
    "open comment": "<!--",
    "open quote": "<a b='<c d=\"",
    "no end": "<a b=c ",
    "script": "<script>",
    "titles": "<title>a</title>",
    "headings": "<h1>a</h1></h1>",
    "empty headings": "<h1></h1></h1>",
    "hidden": "<p hidden>a",
    "links": "<a href=http://x>a<table><td>",
    "references": "&#x",
    "white space": "<p>\n \t",
    "empty lines of code": "<pre>\n\n\n",
    "lists": "<ol><li>",
    "filler": "\u200c \u200c",
}


def hostile(name: str, size: int = 500_000) -> str:
    """So many characters of it."""
    source = (HOSTILE[name] * (size // len(HOSTILE[name]) + 1))[:size]
    return f"<table>{source}</table>" if name.endswith(" cells") else source
