"""Checks a zip of unknown origin before it is stored among the exports."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

from relrag_pipelines.ingest.zip_contents import ZipLimits, zip_contents
from relrag_pipelines.sources.formats.safe_zip import ZipRejected, open_archive

_BLOCK_BYTES = 2**20
_REFUSED = frozenset({"too_large", "nested_zip"})
"""faults of a zip within the zip for which the whole is refused"""


class ZipProblem(NamedTuple):
    """Why a zip is refused."""

    message: str
    code: str
    """of `RelragError`"""


def problem(file: Path, limits: ZipLimits) -> ZipProblem | None:
    """Why a zip is refused; None if it isn't. Run it in the sandbox."""
    try:
        _unpack_to_nowhere(file, limits)
        contents = zip_contents(file, limits, file.parent / "zip")
    except ZipRejected as rejected:
        return ZipProblem(f"this zip is refused: {rejected}", code="zip_refused")
    refused = [failure for failure in contents.failures if failure.fault in _REFUSED]
    if refused:
        return ZipProblem(f"a zip in this zip is refused: {refused[0].message}", code="zip_refused")
    is_read = contents.kind or any(entry.kind for entry in contents.files)
    return None if is_read else ZipProblem("relrag reads nothing that is in this zip", code="zip_unread")


def _unpack_to_nowhere(file: Path, limits: ZipLimits) -> None:
    """Reads every member, since the sizes in headers can lie. Raises ZipRejected above the limits."""
    with open_archive(file, limits.max_ratio, limits.max_bytes) as archive:
        for name in archive.members:
            with archive.open(name) as member:
                for _ in iter(functools.partial(member.read, _BLOCK_BYTES), b""):
                    pass
