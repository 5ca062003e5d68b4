"""Excerpts as people read them: without the marks of Markdown, front matter and what else only programs need.

A passage is stored as its file has it, and quotes are looked up in it as it is. What is shown of it goes through
`plain`, on the command line, on pages, in the API and for tools.
"""

from __future__ import annotations

import re

from relrag_pipelines.sources import record_type
from relrag_pipelines.text.written_dates import join_dates

_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\n((?:[\w.-]+:.*\n|[ \t]*- .*\n|[ \t]+\S.*\n|[ \t]*\n)++)(?:---|\.\.\.)[ \t]*(?:\n|\Z)"
)
"""its lines are taken once: an indented item fits two ways, so that each would double the time where no end follows"""
_ITEM = re.compile(r"\n[ \t]*- +")
"""of a list in front matter"""
_YAML_MARKS = re.compile(r"(?<=[:,] )[\"'\[]|[\"'\]]+(?=,|$)", re.MULTILINE)
"""around values of front matter"""
_REPLACEMENTS = tuple(
    (re.compile(pattern, re.MULTILINE), new)
    for pattern, new in (
        (r"<!--(?:(?!-->|<!--)[\s\S])*-->", ""),
        (r"^[ \t]*(?:```|~~~)[^\n`]*$\n?", ""),
        (r"^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*$\n?", ""),  # below the names of columns
        (r"^[ \t]*(?:={3,}|-{3,}|\*{3,}|_{3,})[ \t]*$\n?", ""),  # lines, and those below a heading
        (r"^[ \t]{0,3}#{1,6}[ \t]+(?=\S)([^\n]*?)[ \t]*#*[ \t]*$", r"\1"),
        (r"^[ \t]{0,3}#{1,6}[ \t]*$\n?", ""),
        (r"(?<![\w\])])!?\[([^\[\]\n]+)\]\((?:[^()\s]|\([^()\s]*\))+(?:[ \t]+\"[^\"\n]*\")?\)", r"\1"),
        (r"\*\*(?=[^\s*])([^*\n]+)(?<=\S)\*\*", r"\1"),
        (r"[ \t]*<[ \t]*>(?=[ \t]*(?:[,;:)\]]|$))", ""),  # an address that was taken out
        (r"^([^\n]*\S)[ \t]+<[ \t]*>(?=[^\n]*:[ \t]*$)", r"\1"),  # Dana <> wrote:
    )
)


def plain(text: str, rag_source_type: str = "") -> str:
    """What is shown of a passage or quote of that type; code and messages of chats stay as they are."""
    kind = record_type(rag_source_type)
    if kind.verbatim or kind.chat:
        return text
    head = _FRONT_MATTER.match(text)
    if head and text[head.end() :].strip():
        text = text[head.end() :].lstrip("\n")
    elif head:
        text = readable_head(text)
    for pattern, new in _REPLACEMENTS:
        text = pattern.sub(new, text)
    return join_dates(text)


def readable_head(text: str) -> str:
    """The text with the marks of YAML taken from its front matter: `tags: home, kitchen` is what a reader is shown.

    What follows is a paragraph of its own.
    """
    head = _FRONT_MATTER.match(text)
    return f"{head_lines(text)}\n{text[head.end() :]}" if head else text


def head_lines(text: str) -> str:
    """The lines of its front matter without the marks of YAML; empty where it has none."""
    head = _FRONT_MATTER.match(text)
    return _YAML_MARKS.sub("", _ITEM.sub(", ", head[1]).replace(":, ", ": ")) if head else ""
