"""The sealed file that makes a folder a backup of an archive."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from relrag_pipelines.files import sealed_json

NAME = "MANIFEST.json"
_FIELDS = {"archive", "made_at", "everything", "files"}
"""what only the manifest of a backup has together"""


def marks_backup(folder: Path, names: Collection[str]) -> bool:
    """Whether a folder with files of these `names` is a finished backup, also one by a newer relrag."""
    if NAME not in names:
        return False
    try:
        return sealed_json.read(folder / NAME).keys() >= _FIELDS
    except sealed_json.NewerSchema:
        return True
    except (OSError, sealed_json.UnusableFile):
        return False
