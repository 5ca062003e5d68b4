"""The file in a generation's folder that records its inputs: hashes of months and tables, scan marks, counts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.stores import generations

NAME = "months.json"


def write(folder: Path, info: Mapping[str, Any]) -> None:
    """Writes the information into a generation's folder."""
    failpoint("publish.about", folder / NAME)
    (folder / NAME).write_bytes(orjson.dumps(info, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2))


def read(folder: Path) -> dict[str, Any]:
    """The information in a generation's folder; empty for an older version or a damaged file, which is rebuilt."""
    try:
        info: dict[str, Any] = orjson.loads((folder / NAME).read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return {}
    return info


def read_current(home: Path) -> dict[str, Any]:
    """The information of the current generation; empty if there is none."""
    number = generations.current_number(home)
    return {} if number is None else read(home / "published" / str(number))
