"""The owner's review of recorded calls: list them, approve transcripts or leave them out, swap speakers.

A word goes to the journal (journal/call_approvals.py) and holds from the next sync on: the unit is marked
as changed before the word is written, so that a kill between the two costs a second reading and no word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from relrag_pipelines.errors import RelragError
from relrag_pipelines.journal import call_approvals
from relrag_pipelines.journal.call_approvals import Word
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores import lake, unit_state
from relrag_pipelines.workspace import Workspace

_REVIEWED = ("transcribed", "approved", "left_out")
"""states of calls with a transcript"""


class CallsError(RelragError):
    """No such call, or it cannot be reviewed like that; the message names it and what to do."""


@dataclass(frozen=True)
class Call:
    """One call as the last sync read it, redacted."""

    asset_id: str
    source: str
    state: str
    """pending, transcribed, approved, left_out or error"""
    ts: int | None
    with_whom: str
    seconds: float | None
    location: str
    speakers: tuple[str, ...] = ()
    rag_source_type: str = ""
    date_quality: str = ""
    """as in records, which say how the time is known"""


def calls(settings: Settings) -> list[Call]:
    """The calls of all sources, the latest first."""
    rows = [
        _call(row, source.name)
        for source in settings.sources
        if "approval_required" in KINDS[source.kind].options
        for month in lake.manifest(settings.home_path, "records", source.name)
        for row in lake.read(settings.home_path, "records", source.name, month).to_pylist()
    ]
    return sorted(rows, key=lambda call: (-(call.ts or 0), call.asset_id))


def waiting_calls(settings: Settings) -> dict[str, int]:
    """The number of calls that wait, by the missing step: `transcript`, `approval`."""
    every_call = calls(settings)
    counts = {
        "transcript": sum(call.state == "pending" for call in every_call),
        "approval": len(_awaiting_approval(every_call, settings)),
    }
    return {step: count for step, count in counts.items() if count}


def awaiting_approval(settings: Settings) -> list[Call]:
    """The calls whose transcripts wait for approval, the latest first."""
    return _awaiting_approval(calls(settings), settings)


def _awaiting_approval(every_call: Iterable[Call], settings: Settings) -> list[Call]:
    sources = {source.name for source in settings.sources if source.approval_required}
    return [call for call in every_call if call.state == "transcribed" and call.source in sources]


def approve(workspace: Workspace, names: Sequence[str], *, everything: bool = False) -> list[Call]:
    """Approves the calls of these ids, or all that wait; returns those that were not approved before.

    An id may be its first letters. Raises CallsError, with nothing said, where one is unknown or has no transcript.
    """
    every_call = calls(workspace.settings)
    chosen = (
        [call for call in every_call if call.state == "transcribed"]
        if everything
        else list(_calls_by_name(every_call, names))
    )
    for call in chosen:
        if call.state not in _REVIEWED:
            raise CallsError(
                f"{call.asset_id} is {call.state}; it has no transcript to approve yet", code="call_untranscribed"
            )
    new = [call for call in chosen if call.state != "approved"]
    _say(workspace, new, "approve")
    return new


def leave_out(workspace: Workspace, names: Sequence[str]) -> list[Call]:
    """Leaves the text of these calls out of the archive, from the next sync on; approving one takes that back.

    Raises CallsError where one is unknown; nothing is changed then.
    """
    chosen = list(_calls_by_name(calls(workspace.settings), names))
    new = [call for call in chosen if call.state != "left_out"]
    _say(workspace, new, "leave-out")
    return new


def swap_speakers(workspace: Workspace, names: Sequence[str]) -> list[Call]:
    """Exchanges the two speakers of these calls; a second time undoes it. Raises CallsError."""
    chosen = list(_calls_by_name(calls(workspace.settings), names))
    for call in chosen:
        if len(call.speakers) != 2:
            raise CallsError(f"{call.asset_id} has {len(call.speakers)} speakers; only two can be swapped")
    _say(workspace, chosen, "swap-speakers")
    return chosen


def _call(row: dict[str, Any], source: str) -> Call:
    extra = orjson.loads(row["extra"])
    seconds = extra.get("seconds")
    location = (row["locations"] or [""])[0]
    names = tuple(extra.get("speakers", ()))
    state = extra.get("state", "")
    known = (row["rag_source_type"], row["date_quality"])
    return Call(row["asset_id"], source, state, row["ts"], row["from"] or "", seconds, location, names, *known)


def _calls_by_name(every_call: list[Call], names: Sequence[str]) -> Iterator[Call]:
    for name in names:
        prefixed = ":" in name
        matches = [
            call
            for call in every_call
            if (call.asset_id if prefixed else call.asset_id.partition(":")[2]).startswith(name)
        ]
        if not matches:
            message = f'no call whose id begins with "{name}"; `relrag calls list` shows ids'
            raise CallsError(message, code="call_absent")
        if len({call.asset_id for call in matches}) > 1:
            message = f'{len(matches)} calls whose id begins with "{name}"; `relrag calls list` shows ids'
            raise CallsError(message, code="call_ambiguous", name=name)
        yield matches[0]


def _say(workspace: Workspace, chosen: list[Call], word: Word) -> None:
    if not chosen:
        return
    ids = list(dict.fromkeys(call.asset_id for call in chosen))
    for source in {call.source for call in chosen}:
        _mark_changed(workspace, source, set(ids))
    call_approvals.append(workspace.home, ids, word)


def _mark_changed(workspace: Workspace, source: str, ids: set[str]) -> None:
    units = {
        row["unit"]
        for month in lake.manifest(workspace.home, "private_records", source)
        for row in lake.read(workspace.home, "private_records", source, month).select(["asset_id", "unit"]).to_pylist()
        if row["asset_id"] in ids
    }
    stored = unit_state.load(workspace.home, source)
    states = {path: replace(state, content_hash="") if path in units else state for path, state in stored.items()}
    unit_state.save(workspace.home, source, states)
