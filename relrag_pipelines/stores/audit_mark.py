"""A mark on each source whose redacted months have not been searched for personal data yet.

It is set before anything of the source is redacted and removed once the search found nothing, so a kill between the
two leaves it, and publishing searches again.
"""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.stores import lake

NAME = "UNCHECKED"
"""name of the file, beside the redacted months of the source"""


def mark_unaudited(home: Path, source: str) -> None:
    """Marks a source; to be called before anything of it is redacted."""
    write_text(_path(home, source), "")


def is_unaudited(home: Path, source: str) -> bool:
    """Whether something of the source was redacted and not searched since."""
    return _path(home, source).exists()


def mark_audited(home: Path, source: str) -> None:
    """Removes the mark: what is left of the source has passed the search."""
    failpoint("lake.unlink", _path(home, source))
    _path(home, source).unlink(missing_ok=True)


def _path(home: Path, source: str) -> Path:
    return lake.folder(home, "records", source) / NAME
