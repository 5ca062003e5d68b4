"""Approvals of calls, as the owner's journal has them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import CallWord
from relrag_pipelines.sources import CallApproval

Word = Literal["approve", "swap-speakers"]


def append(home: Path, asset_ids: Iterable[str], word: Word) -> None:
    """Appends decisions about these calls; they are on disk when this returns."""
    journal.append(home, [CallWord(one, word) for one in asset_ids])


def load(home: Path) -> Mapping[str, CallApproval]:
    """What is decided about each call, by asset_id; a second swap of speakers undoes the first."""
    return _load(home, journal.state(home))


@functools.lru_cache(2)
def _load(home: Path, state: tuple[tuple[int, int], ...]) -> Mapping[str, CallApproval]:
    said: dict[str, CallApproval] = {}
    for one in journal.statements(home, CallWord):
        before = said.get(one.asset_id, CallApproval())
        if one.word == "approve":
            said[one.asset_id] = replace(before, approved=True)
        else:
            said[one.asset_id] = replace(before, swapped=not before.swapped)
    return MappingProxyType(said)
