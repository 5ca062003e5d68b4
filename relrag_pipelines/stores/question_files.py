"""Two files in private/: the conversation of the command line, and what the first page remembers of its visits.

Both hold questions of the owner, which may name a person whom the owner forgets later. So `relrag forget` removes
both files, and a process that still reads an older generation writes neither.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from relrag_pipelines.files import atomic
from relrag_pipelines.stores import generations

CONVERSATION = "private/conversation.json"
VISITS = "private/visits.json"
NAMES = (CONVERSATION, VISITS)


@contextmanager
def changing(home: Path) -> Iterator[None]:
    """Holds a lock on these files, so that no process writes back what another one removes."""
    try:
        folder = os.open(home / "private", os.O_RDONLY)
    except FileNotFoundError:  # before the first sync there are none
        yield
        return
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def write(home: Path, name: str, content: dict[str, Any], generation: int) -> None:
    """Writes one of these files. Does nothing if the home is read-only.

    Does nothing either if a newer generation is current: the records of the older one may have been forgotten.
    """
    if generations.current_number(home) != generation:
        return
    try:
        atomic.write_text(home / name, orjson.dumps(content).decode())
    except OSError:  # an archive on a read-only disk still answers questions
        return
    if generations.current_number(home) != generation:  # a sync published meanwhile
        (home / name).unlink(missing_ok=True)


def drop(home: Path) -> None:
    """Removes them all."""
    with changing(home):
        for name in NAMES:
            (home / name).unlink(missing_ok=True)
