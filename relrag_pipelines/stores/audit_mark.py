"""A mark on each source whose redacted months have not been searched for personal data yet; it names the months.

It is set before anything of the source is redacted and removed once the search found nothing, so a kill between the
two leaves it, and publishing searches again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.stores import lake

NAME = "UNCHECKED"
"""name of the file, beside the redacted months of the source"""


def mark_unaudited(home: Path, source: str, months: Iterable[str]) -> None:
    """Marks months of a source; to be called before they are redacted. Months marked before stay marked."""
    path = _path(home, source)
    if path.exists() and not unaudited_months(home, source):
        return  # an older version marked the source as a whole
    write_text(path, "\n".join(sorted({*unaudited_months(home, source), *months})))


def unaudited_months(home: Path, source: str) -> list[str]:
    """The months that are marked; none where the mark names none, or where there is no mark."""
    path = _path(home, source)
    return path.read_text(encoding="utf-8").split() if path.exists() else []


def is_unaudited(home: Path, source: str) -> bool:
    """Whether something of the source was redacted and not searched since."""
    return _path(home, source).exists()


def mark_audited(home: Path, source: str) -> None:
    """Removes the mark: what is left of the source has passed the search."""
    failpoint("lake.unlink", _path(home, source))
    _path(home, source).unlink(missing_ok=True)


def _path(home: Path, source: str) -> Path:
    return lake.folder(home, "records", source) / NAME
