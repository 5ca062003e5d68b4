"""Parts of a Takeout that `relrag init` leaves out: what was watched, searched and visited, and lists about an account.

Takeout has a folder for each product of Google, whose names are in the user's language, so the files in it decide. Left
out is a folder with records of activity or places, and one without a document that holds only pages and tables that no
kind but documents reads: those are lists about an account. Owners who want one read take its `exclude` away.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

TAKEOUT = "Takeout"
"""the folder around the products, in every language"""
HEAD = 2**16
"""bytes by which a file is recognised as a record of activity"""

_ACTIVITY: tuple[tuple[str, bytes], ...] = (
    ("videos watched and searches (YouTube)", rb"(?:www\.)?youtube\.com\\?/(?:watch|results|channel)"),
    ("searches and activity", rb"class=\"(?:mdl-grid|outer-cell mdl-cell)|\"titleUrl\"\s*:|\"activityControls\""),
    ("visited pages", rb"\"page_transition(?:_qualifier)?\"\s*:"),
    ("visited places", rb"\"(?:latitudeE7|semanticSegments|timelineObjects|placeVisit)\"|\"locations\"\s*:\s*\[\s*\{"),
)
_PATTERNS = [(label, re.compile(pattern)) for label, pattern in _ACTIVITY]
_RECORDS = (".html", ".json", ".csv")
"""suffixes of records of activity"""
STATED = (".html", ".json", ".csv", ".jpg", ".png")
"""suffixes of what Takeout states about its products and their settings"""
_LISTS = "lists about the account"
_OF_ACCOUNTS = (".html", ".htm", ".csv", ".tsv", ".json")
"""suffixes of lists about an account"""
_EXAMINED = 50
"""files of a folder that are examined"""


@dataclass(frozen=True)
class ExaminedFile:
    """A file in a Takeout."""

    path: str
    kind: str
    """that recognises it; empty for none"""
    is_document: bool
    """its kind reads any text, so that its kind says little"""
    head: Callable[[], bytes]
    """reads its first bytes"""


@dataclass(frozen=True)
class LeftOut:
    """A folder of a Takeout that is not proposed."""

    folder: str
    """relative to the searched folder; a file that lies beside the folders"""
    label: str
    """what it holds"""
    files: int


def product_folder(path: str) -> str:
    """The folder of a product that a file of a Takeout lies in, or the file beside those; empty for other files."""
    parts = PurePosixPath(path).parts
    depth = next((index for index, part in enumerate(parts[:-1]) if part == TAKEOUT), -1)
    return "/".join(parts[: depth + 2]) if depth >= 0 else ""


def left_out(files: Iterable[ExaminedFile]) -> list[LeftOut]:
    """The folders of Takeouts that are left out, by path."""
    by_folder: dict[str, list[ExaminedFile]] = {}
    for file in files:
        if folder := product_folder(file.path):
            by_folder.setdefault(folder, []).append(file)
    labels = {folder: _label(members) for folder, members in by_folder.items()}
    return [LeftOut(folder, label, len(by_folder[folder])) for folder, label in sorted(labels.items()) if label]


def pattern(folder: str, root: str) -> str:
    """The pattern that excludes a folder from a source at `root`: in every Takeout in it, also in later ones."""
    below = PurePosixPath(folder).relative_to(root) if root != "." else PurePosixPath(folder)
    return f"*{TAKEOUT}/{glob.escape(below.name)}" if TAKEOUT in below.parts[:-1] else glob.escape(below.as_posix())


def _label(files: list[ExaminedFile]) -> str:
    """What a folder holds that is left out; empty for one that is read."""
    if any(file.kind and not file.is_document for file in files):
        return ""
    heads = [file.head() for file in files[:_EXAMINED] if file.path.lower().endswith(_RECORDS)]
    activity = next((label for label, pattern in _PATTERNS if any(map(pattern.search, heads))), "")
    return activity or _label_of_lists(files)


def _label_of_lists(files: list[ExaminedFile]) -> str:
    are_lists = all(file.path.lower().endswith(_OF_ACCOUNTS) for file in files)
    return _LISTS if are_lists else ""
