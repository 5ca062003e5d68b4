"""The owner's decisions about recorded calls, stored in the journal."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import CallDecision
from relrag_pipelines.sources import CallApproval

Word = Literal["approve", "leave-out", "swap-speakers"]


def append(home: Path, asset_ids: Iterable[str], word: Word) -> None:
    """Appends a decision about these calls, and syncs it to disk."""
    journal.append(home, [CallDecision(asset_id, word) for asset_id in asset_ids])


def load(home: Path) -> Mapping[str, CallApproval]:
    """asset_id -> the decisions about a call; a second swap of speakers undoes the first."""
    return _load(home, journal.state(home))


@functools.lru_cache(2)
def _load(home: Path, state: tuple[tuple[int, int], ...]) -> Mapping[str, CallApproval]:
    approvals: dict[str, CallApproval] = {}
    for decision in journal.statements(home, CallDecision):
        former = approvals.get(decision.asset_id, CallApproval())
        approvals[decision.asset_id] = _decided(former, decision.word)
    return MappingProxyType(approvals)


def _decided(former: CallApproval, word: str) -> CallApproval:
    """What holds of a call after a further decision; of approving and leaving out the later one."""
    if word == "swap-speakers":
        return replace(former, swapped=not former.swapped)
    return replace(former, approved=word == "approve", left_out=word == "leave-out")
