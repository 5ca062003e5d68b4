"""Files of lines of JSON in private/ that hold what the owner said: appended and never rewritten.

A last line that a power cut tore is ignored; the next one starts a new line.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from relrag_pipelines.files.atomic import make_private, sync_file, sync_folder
from relrag_pipelines.settings import now
from relrag_pipelines.stores import private_manifest


def append(home: Path, name: str, said: Iterable[Mapping[str, Any]]) -> None:
    """Adds a line for each, with the time; all are on disk when this returns. The caller holds the writer's lock."""
    make_private(home / "private")
    file = home / "private" / name
    said_at = now().isoformat("T", "seconds")
    lines = [orjson.dumps({"at": said_at, **one}) + b"\n" for one in said]
    with os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "rb+") as opened:
        size = opened.seek(0, os.SEEK_END)
        before = os.pread(opened.fileno(), size, 0)
        added = b"".join([b"\n" if before and not before.endswith(b"\n") else b"", *lines])
        private_manifest.expect(home, f"private/{name}", hashlib.sha256(before + added).hexdigest())
        opened.write(added)
    sync_file(file)
    sync_folder(file.parent)


def lines(home: Path, name: str) -> Iterator[dict[str, Any]]:
    """What the lines say, in order; none where there is no file."""
    file = home / "private" / name
    for line in file.read_bytes().splitlines() if file.exists() else ():
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError:  # torn
            continue


def state(home: Path, name: str) -> tuple[int, int]:
    """Differs when the file does: its size and time; zeros where there is none."""
    try:
        found = (home / "private" / name).stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
