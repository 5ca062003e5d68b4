"""How many passages a language model was not asked about, because the budget ended or the service failed, and why."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.records import SCHEMA_VERSION

NAME = "private/unread_passages.json"


class UnreadPassages(NamedTuple):
    """What the next sync goes on with."""

    passages: int = 0
    reason: str = ""
    """holds no text"""


def load(home: Path) -> UnreadPassages:
    """What is left; nothing where the file is gone or damaged, since answers that are there are not asked for again."""
    try:
        body = sealed_json.read(home / NAME)
    except (FileNotFoundError, sealed_json.DamagedFile):
        return UnreadPassages()
    return UnreadPassages(body["passages"], body["reason"])


def save(home: Path, passages: int, reason: str = "") -> None:
    """Notes what is left."""
    if (passages, reason) == load(home):
        return
    if not passages:
        (home / NAME).unlink(missing_ok=True)
        return
    body = {"schema_version": SCHEMA_VERSION, "passages": passages, "reason": reason}
    write_text(home / NAME, sealed_json.seal(body))
