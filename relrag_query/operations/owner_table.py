"""The operations of the owner's pages. A new one is a row here, a request, and a function of relrag_query/owner/.

They are served to a logged-in owner alone: not to programs with a token, to no language model, and to no team.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relrag_query.operations import owner_requests
from relrag_query.operations.operation import Operation
from relrag_query.operations.requests import Request
from relrag_query.owner import backups, calls, people, settings_form, sources, switch, uploads, visits, work
from relrag_query.service import Service


def _fields_to(function: Callable[..., Any]) -> Callable[[Service, Any], Any]:
    """Calls a function with the service and the fields of a request."""

    def call(service: Service, request: Request) -> Any:
        return function(service, **dict(request))

    return call


def _row(name: str, request: type[Request], reply: type, function: Callable[..., Any]) -> Operation:
    """An operation of the pages: a POST of JSON below /owner/."""
    return Operation(name, f"/owner/{name}", request, reply, _fields_to(function), method="POST", writes="changes")


OWNER_OPERATIONS = (
    _row("allow_writes", owner_requests.AllowWritesRequest, type(None), switch.answer),
    _row("add_source", owner_requests.AddSourceRequest, sources.SourcesReply, sources.add),
    _row("pause_source", owner_requests.PauseSourceRequest, sources.SourcesReply, sources.pause),
    _row("change_settings", owner_requests.ChangeSettingsRequest, settings_form.SettingsReply, settings_form.change),
    _row("sync", owner_requests.SyncRequest, work.JobReply, work.sync),
    _row("backup", owner_requests.BackupRequest, work.JobReply, backups.start),
    _row("cancel", owner_requests.CancelRequest, work.JobReply, work.cancel),
    _row("retry", owner_requests.RetryRequest, work.JobReply, work.retry),
    _row("forget", owner_requests.ForgetRequest, work.JobReply, work.forget),
    _row("approve_calls", owner_requests.CallsRequest, calls.CallsReply, calls.approve),
    _row("leave_out_calls", owner_requests.CallsRequest, calls.CallsReply, calls.leave_out),
    _row("merge", owner_requests.MergeRequest, people.StatementNotice, people.merge),
    _row("split", owner_requests.SplitRequest, people.StatementNotice, people.split),
    _row("undo", owner_requests.UndoRequest, people.StatementNotice, people.undo),
    _row("refuse", owner_requests.RefuseRequest, people.StatementNotice, people.refuse),
    _row("add_fact", owner_requests.AddFactRequest, people.StatementNotice, people.add_fact),
    _row("relate", owner_requests.RelateRequest, people.StatementNotice, people.relate),
    _row("unrelate", owner_requests.UnrelateRequest, people.StatementNotice, people.unrelate),
    _row("clear_questions", owner_requests.ClearQuestionsRequest, type(None), visits.clear_questions),
    _row("upload_state", owner_requests.UploadRequest, uploads.PieceReply, uploads.stored_bytes),
    _row("upload_finish", owner_requests.FinishUploadRequest, uploads.UploadReply, uploads.finish),
    _row("upload_discard", owner_requests.UploadRequest, uploads.PieceReply, uploads.discard),
)
