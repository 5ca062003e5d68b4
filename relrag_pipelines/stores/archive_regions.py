"""The countries that an archive is at home in, and the counts of each month that tell so; made by ingest/regions.py.

It holds codes of countries and languages, figures, and keyed hashes of a few numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.records import SCHEMA_VERSION

NAME = "private/regions.json"

Evidence = dict[str, dict[str, Any]]
"""what tells of regions, by <source>/<YYYY-MM>"""


def load(home: Path) -> tuple[str, ...]:
    """The countries, the likeliest first; none where they were not looked for yet."""
    return tuple(_body(home)["regions"])


def load_evidence(home: Path) -> Evidence:
    """The stored counts; empty if there are none or the file is damaged, in which case they are counted again."""
    months: Evidence = _body(home)["months"]
    return dict(months)


def save(home: Path, regions: Sequence[str], evidence: Evidence) -> None:
    """Stores both, unless they are as they were."""
    body = {"regions": list(regions), "months": dict(sorted(evidence.items()))}
    if body != _body(home):
        write_text(home / NAME, sealed_json.seal({"schema_version": SCHEMA_VERSION, **body}))


def _body(home: Path) -> dict[str, Any]:
    try:
        status = (home / NAME).stat()
    except FileNotFoundError:
        return {"regions": [], "months": {}}
    return _read(home / NAME, (status.st_mtime_ns, status.st_size, status.st_ino))


@functools.lru_cache(maxsize=4)
def _read(path: Path, _version: tuple[int, int, int]) -> dict[str, Any]:
    """Read once as long as the file does not change: every request asks for the regions."""
    try:
        body = sealed_json.read(path)
    except (FileNotFoundError, sealed_json.DamagedFile):
        return {"regions": [], "months": {}}
    return {"regions": body["regions"], "months": body["months"]}
