"""The sealed file that makes a folder a backup of an archive."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.regular_files import RefusedFile, read_plain

NAME = "MANIFEST.json"
_FIELDS = {"archive", "made_at", "everything", "files"}
"""what only the manifest of a backup has together"""
_MAX_BYTES = 2**26
"""the largest file that is read; the manifest of a backup is much smaller"""


def marks_backup(folder: Path, names: Collection[str]) -> bool:
    """Whether a folder with files of these `names` is a finished backup, also one by a newer relrag.

    The folder may be anybody's: a file of that name without relrag's seal is no manifest.
    """
    if NAME not in names:
        return False
    try:
        data = read_plain(folder / NAME, _MAX_BYTES)
        return data.startswith(sealed_json.HEAD) and sealed_json.parse(data).keys() >= _FIELDS
    except sealed_json.NewerSchema:
        return True
    except (OSError, RefusedFile, RecursionError, sealed_json.UnusableFile):
        return False
