"""What the owner has said of calls: private/approvals.jsonl, one line a word, appended and never rewritten.

Nothing else holds it, so a backup must. A last line that a power cut tore is ignored; the next one starts a new line.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import orjson

from relrag_pipelines.settings import now
from relrag_pipelines.sources import Approval
from relrag_pipelines.stores import expected
from relrag_pipelines.stores.atomic import make_private, sync_file, sync_folder

Word = Literal["approve", "swap-speakers"]

NAME = "approvals.jsonl"


def path(home: Path) -> Path:
    """Where it lies."""
    return home / "private" / NAME


def append(home: Path, asset_ids: Iterable[str], word: Word) -> None:
    """Adds what the owner says of these calls; it is on disk when this returns. The caller holds the writer's lock."""
    make_private(home / "private")
    file = path(home)
    said_at = now().isoformat("T", "seconds")
    lines = [orjson.dumps({"at": said_at, "asset_id": one, "word": word}) + b"\n" for one in asset_ids]
    with os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "rb+") as opened:
        size = opened.seek(0, os.SEEK_END)
        before = os.pread(opened.fileno(), size, 0)
        added = b"".join([b"\n" if before and not before.endswith(b"\n") else b"", *lines])
        expected.note(home, f"private/{NAME}", hashlib.sha256(before + added).hexdigest())
        opened.write(added)
    sync_file(file)
    sync_folder(file.parent)


def load(home: Path) -> Mapping[str, Approval]:
    """What holds of each call by asset_id; a second swap of speakers takes the first one back."""
    file = path(home)
    try:
        found = file.stat()
    except FileNotFoundError:
        return {}
    return _load(file, found.st_size, found.st_mtime_ns)


@functools.lru_cache(2)
def _load(file: Path, size: int, mtime_ns: int) -> Mapping[str, Approval]:
    said: dict[str, Approval] = {}
    for line in file.read_bytes().splitlines():
        try:
            word = orjson.loads(line)
        except orjson.JSONDecodeError:  # torn
            continue
        before = said.get(word["asset_id"], Approval())
        if word["word"] == "approve":
            said[word["asset_id"]] = replace(before, approved=True)
        else:
            said[word["asset_id"]] = replace(before, swapped=not before.swapped)
    return MappingProxyType(said)
