"""Recorded calls that wait for the owner's approval, as a page shows them: each with its sound and its transcript."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from relrag_pipelines.ingest import call_review
from relrag_pipelines.ingest.call_review import Call, CallsError
from relrag_pipelines.ingest.read_context import read_context, units_of_source
from relrag_pipelines.journal import call_approvals
from relrag_pipelines.links.edge_rows import generate_asset_id
from relrag_pipelines.privacy.keys import safe_native_id
from relrag_pipelines.records import Record
from relrag_pipelines.sources import KINDS, CallApproval, ReadContext
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace
from relrag_query.display.amounts import number
from relrag_query.owner import originals
from relrag_query.owner.switch import changing, require_writes
from relrag_query.owner.transcript import Segment, segments
from relrag_query.service import Service
from relrag_query.service.original_file import NoOriginal

PAGE_SIZE = 20
"""calls of a page"""
_WHY = "read the transcript of a call that waits for approval"


class CallsReply(BaseModel):
    """The calls that a decision holds of from the next sync on."""

    calls: list[str] = Field(description="their ids")


@dataclass(frozen=True)
class ReviewedCall:
    """A call that waits, or waited until the owner decided since the last sync."""

    call: Call
    decision: str
    """approved or left_out; empty while it waits"""


@dataclass(frozen=True)
class CallsPage:
    """Some of the calls, the latest first."""

    calls: list[ReviewedCall]
    number: int
    """from 1"""
    pages: int
    """at least 1"""


@dataclass(frozen=True)
class CallTranscript:
    """What is said in a call, not redacted."""

    text: str
    segments: list[Segment]
    """empty if the transcript has no times"""
    has_sound: bool
    """whether a browser can play the original"""


def reviewed_calls(service: Service, number: int = 1, ref: str = "") -> CallsPage:
    """A page of the calls that waited for approval at the last sync: the one with the call `ref`, if it is there.

    A number that is too high gives the last page, one below 1 the first. Raises OnlyReads.
    """
    settings, waiting = service.settings, _waiting(service)
    decisions = call_approvals.load(settings.home_path)
    ids = [call.asset_id for call in waiting]
    pages = max(1, math.ceil(len(ids) / PAGE_SIZE))
    number = ids.index(ref) // PAGE_SIZE + 1 if ref in ids else min(max(number, 1), pages)
    shown = waiting[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    return CallsPage([ReviewedCall(call, _decision(decisions.get(call.asset_id))) for call in shown], number, pages)


def open_transcript(service: Service, asset_id: str) -> CallTranscript:
    """The transcript of a call that waits, after a note of the access.

    Raises CallsError for any other call and where its file is gone or has changed, OnlyReads and lock.LockedByOther.
    """
    call = next((call for call in _waiting(service) if call.asset_id == asset_id), None)
    if call is None:
        raise CallsError("no such call waits for approval", code="call_absent")
    record = _read_again(Workspace(service.settings), call)
    originals.note_access(service.settings, originals.owner_of(service.settings, "page"), asset_id, _WHY)
    return CallTranscript(record.text, segments(record.text, record.spoken), _has_sound(service, asset_id))


def approve(service: Service, calls: Sequence[str]) -> CallsReply:
    """Approves calls, so that the next sync indexes their transcripts. Raises CallsError."""
    return _decide(service, "approve_calls", calls, call_review.approve)


def leave_out(service: Service, calls: Sequence[str]) -> CallsReply:
    """Leaves the transcripts of calls out of the archive. Raises CallsError."""
    return _decide(service, "leave_out_calls", calls, call_review.leave_out)


def _decide(
    service: Service, action: str, calls: Sequence[str], decide: Callable[[Workspace, Sequence[str]], list[Call]]
) -> CallsReply:
    with changing(service, action, number(len(calls), "call")):
        return CallsReply(calls=[call.asset_id for call in decide(Workspace(service.settings), calls)])


def _waiting(service: Service) -> list[Call]:
    require_writes(service)
    return call_review.awaiting_approval(service.settings)


def _decision(approval: CallApproval | None) -> str:
    if approval is None:
        return ""
    return "approved" if approval.approved else "left_out" if approval.left_out else ""


def _has_sound(service: Service, asset_id: str) -> bool:
    try:
        return originals.find(service, asset_id).media_type.startswith("audio/")
    except NoOriginal:
        return False


def _read_again(workspace: Workspace, call: Call) -> Record:
    """The record of a call with its text, which is stored nowhere before it is approved. Raises CallsError."""
    # imported only here: few calls are read, and the readers of sound take long to load
    from relrag_pipelines.sources.call_recording.transcribe import cache_file

    context = replace(read_context(workspace, workspace.settings.source(call.source)), approval_required=False)
    # a page never transcribes, which takes minutes; it reads what the last sync transcribed
    record = _record_at(workspace, call, replace(context, transcription_model=""))
    if record.text or not cache_file(context, record.source_id).is_file():
        return record
    return _record_at(workspace, call, context)


def _record_at(workspace: Workspace, call: Call, context: ReadContext) -> Record:
    """The record of a call, from one of the files that it was read from. Raises CallsError."""
    source, paths = workspace.settings.source(call.source), _paths(workspace, call)
    kind, has_changed = KINDS[source.kind], False
    for unit in units_of_source(workspace, source):
        for item in kind.read(unit, context) if unit.path in paths else ():
            if isinstance(item, Record):
                native = safe_native_id(item.source_id, workspace.keys)
                if generate_asset_id(kind.ids_begin, native) == call.asset_id:
                    return item
                has_changed = True
    if has_changed:
        raise CallsError("the recording has changed; a sync reads it again", code="call_changed")
    raise CallsError("the call is no longer where it was read from", code="call_gone")


def _paths(workspace: Workspace, call: Call) -> set[str]:
    """The files that a call was read from."""
    rows = itertools.chain.from_iterable(
        lake.read(workspace.home, "private_records", call.source, month, ["asset_id", "unit"]).to_pylist()
        for month in lake.manifest(workspace.home, "private_records", call.source)
    )
    return {row["unit"] for row in rows if row["asset_id"] == call.asset_id}
