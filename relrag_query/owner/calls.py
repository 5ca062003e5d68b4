"""Recorded calls that wait for the owner's approval, as a page shows them: each with its sound and its transcript."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from relrag_pipelines.ingest import call_review
from relrag_pipelines.ingest.call_review import Call, CallsError
from relrag_pipelines.ingest.read_context import read_context, units_of_source
from relrag_pipelines.journal import call_approvals
from relrag_pipelines.records import Record
from relrag_pipelines.sources import KINDS, CallApproval
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace
from relrag_query.display.amounts import number
from relrag_query.owner import originals
from relrag_query.owner.switch import changing, require_writes
from relrag_query.owner.transcript import Segment, segments
from relrag_query.service import Service

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


def reviewed_calls(service: Service) -> list[ReviewedCall]:
    """The calls that waited for approval at the last sync, the latest first. Raises OnlyReads."""
    settings = service.settings
    decisions = call_approvals.load(settings.home_path)
    return [ReviewedCall(call, _decision(decisions.get(call.asset_id))) for call in _waiting(service)]


def open_transcript(service: Service, asset_id: str) -> list[Segment]:
    """The transcript of a call that waits, not redacted, after a note of the access.

    Raises CallsError for any other call and where its file is gone, OnlyReads and lock.LockedByOther.
    """
    call = next((call for call in _waiting(service) if call.asset_id == asset_id), None)
    if call is None:
        raise CallsError("no such call waits for approval")
    record = _read_again(Workspace(service.settings), call)
    originals.note_access(service.settings, originals.owner_of(service.settings, "page"), asset_id, _WHY)
    return segments(record.text, record.spoken)


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


def _read_again(workspace: Workspace, call: Call) -> Record:
    """The record of a call with its text, which is stored nowhere before it is approved. Raises CallsError."""
    source, home = workspace.settings.source(call.source), workspace.home
    rows = itertools.chain.from_iterable(
        lake.read(home, "private_records", call.source, month, ["asset_id", "unit"]).to_pylist()
        for month in lake.manifest(home, "private_records", call.source)
    )
    paths = {row["unit"] for row in rows if row["asset_id"] == call.asset_id}
    context = replace(read_context(workspace, source), approval_required=False)
    for unit in units_of_source(workspace, source):
        if unit.path in paths:
            for item in KINDS[source.kind].read(unit, context):
                if isinstance(item, Record):
                    return item
    raise CallsError("the call is no longer where it was read from")
