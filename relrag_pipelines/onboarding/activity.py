"""Parts of a Takeout that `relrag init` leaves out: what was watched, searched and visited, and lists about an account.

Left out is a folder with records of activity or places, and one without a document that holds only pages and tables
that no kind but documents reads: those are lists about an account. Owners who want one read take its `exclude` away.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from relrag_pipelines.sources.formats.takeout import ACTIVITY_LABELS, TAKEOUT, may_be_activity, product_folder

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
    activity: Callable[[], str]
    """what it holds if it is a record of activity; empty for other files"""


@dataclass(frozen=True)
class LeftOut:
    """A folder of a Takeout that is not proposed."""

    folder: str
    """relative to the searched folder; a file that lies beside the folders"""
    label: str
    """what it holds"""
    files: int


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
    labels = {file.activity() for file in files[:_EXAMINED] if may_be_activity(file.path)}
    activity = next((label for label in ACTIVITY_LABELS if label in labels), "")
    return activity or _label_of_lists(files)


def _label_of_lists(files: list[ExaminedFile]) -> str:
    are_lists = all(file.path.lower().endswith(_OF_ACCOUNTS) for file in files)
    return _LISTS if are_lists else ""
