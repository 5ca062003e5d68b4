"""What the owner has said of calls: private/approvals.jsonl, one line a word, appended and never rewritten.

Nothing else holds it, so a backup must.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from relrag_pipelines.journal import journal
from relrag_pipelines.sources import CallApproval

Word = Literal["approve", "swap-speakers"]

NAME = "approvals.jsonl"


def path(home: Path) -> Path:
    """Where it lies."""
    return home / "private" / NAME


def append(home: Path, asset_ids: Iterable[str], word: Word) -> None:
    """Adds what the owner says of these calls; it is on disk when this returns. The caller holds the writer's lock."""
    journal.append(home, NAME, ({"asset_id": one, "word": word} for one in asset_ids))


def load(home: Path) -> Mapping[str, CallApproval]:
    """What holds of each call by asset_id; a second swap of speakers takes the first one back."""
    return _load(home, journal.state(home, NAME))


@functools.lru_cache(2)
def _load(home: Path, state: tuple[int, int]) -> Mapping[str, CallApproval]:
    said: dict[str, CallApproval] = {}
    for line in journal.lines(home, NAME):
        before = said.get(line["asset_id"], CallApproval())
        if line["word"] == "approve":
            said[line["asset_id"]] = replace(before, approved=True)
        else:
            said[line["asset_id"]] = replace(before, swapped=not before.swapped)
    return MappingProxyType(said)
