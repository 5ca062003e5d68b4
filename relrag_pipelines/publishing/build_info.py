"""What a generation was built from, as a file in its folder: hashes of months and tables, what was scanned, counts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.stores import generations

NAME = "months.json"


def write(place: Path, about: Mapping[str, Any]) -> None:
    """Writes it into the folder of a generation."""
    failpoint("publish.about", place / NAME)
    (place / NAME).write_bytes(orjson.dumps(about, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2))


def read(place: Path) -> dict[str, Any]:
    """What stands in that folder; empty where it is of an older version, or damaged: everything is built anew then."""
    try:
        found: dict[str, Any] = orjson.loads((place / NAME).read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return {}
    return found


def of_current(home: Path) -> dict[str, Any]:
    """That of the current generation; empty where there is none."""
    number = generations.current_number(home)
    return {} if number is None else read(home / "published" / str(number))
