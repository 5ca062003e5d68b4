"""Titles and ids in the names of exported notes."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

APPLE_FOLDERS = frozenset({"Notes", "iCloud Notes", "Recently Deleted", "Apple Notes"})
"""folders of the export that Apple sends, see privacy.apple.com"""

_NOTION = re.compile(r"^(?P<title>.*?)[ -]?(?P<id>[0-9a-f]{32})(?P<all>_all)?$", re.DOTALL)
_TIME = re.compile(r"-\d{4}-\d\d-\d\dT\d\d[_:-]\d\d[_:-]\d\dZ?$")


def has_notion_id(path: str) -> bool:
    """Whether a file's name ends with the id of a page of Notion."""
    return _NOTION.match(PurePosixPath(path).stem) is not None


def title_of(path: str) -> str:
    """The title of a note by its file's name, without an id of Notion or a time of Apple."""
    stem = PurePosixPath(path).stem
    match = _NOTION.match(stem)
    return (match["title"] if match else _TIME.sub("", stem)).strip()


def native_name(path: str) -> str:
    """What names a note: its id in Notion, so that another export holds the same one, else its path."""
    match = _NOTION.match(PurePosixPath(path).stem)
    return f"notion {match['id']}" if match else path
