"""What is to be forgotten, as a rule, and what that would remove.

`relrag forget` carries it out, for the command line and for the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from relrag_pipelines.erasure import record_selection, rule_matching
from relrag_pipelines.erasure.record_selection import ErasureSelection
from relrag_pipelines.erasure.rule_file import ErasureRule, ForgettingError
from relrag_pipelines.settings import now
from relrag_pipelines.stores import generations, lake
from relrag_pipelines.workspace import Workspace
from relrag_query.archive import Archive
from relrag_query.understanding import time_expressions


@dataclass(frozen=True)
class ForgetRequest:
    """What to forget. Exactly one of the fields is set."""

    refs: Sequence[str] = ()
    source: str | None = None
    person: str | None = None
    before: str | None = None


@dataclass(frozen=True)
class ForgetPreview:
    """A preview of what will be forgotten."""

    rule: ErasureRule
    selection: ErasureSelection
    quoting: list[str]
    """asset_ids of remaining mails that quote a forgotten record"""


def preview_of(rule: ErasureRule, workspace: Workspace) -> ForgetPreview:
    """What a rule would remove now."""
    selection = record_selection.select(workspace, [rule])
    rule = record_selection.complete_rule(rule, selection, workspace)
    return ForgetPreview(rule, selection, record_selection.mails_quoting_selection(workspace, rule, selection))


def rule_of(request: ForgetRequest, aliases: list[str], workspace: Workspace, config: Path | None) -> ErasureRule:
    """The rule of a request; `aliases` are further names of its person. Raises ForgettingError."""
    selectors = [bool(request.refs), request.source is not None, request.person is not None, request.before is not None]
    if sum(selectors) != 1:
        raise ForgettingError(
            "name what is to be forgotten by ids, or by one of --source, --person and --before", code="forget_nothing"
        )
    created = now().isoformat("T", "seconds")
    if request.refs:
        return rule_matching.for_records(_asset_ids(request.refs, workspace, config), workspace.keys, created)
    if request.person is not None:
        return rule_matching.for_person(request.person, workspace.keys, created, aliases, workspace.regions)
    if request.source is not None:
        if request.source not in lake.sources(workspace.home):
            workspace.settings.source(request.source)
        return ErasureRule(0, "source", created, source=request.source)
    first, _ = time_expressions.day_range(request.before or "")
    return ErasureRule(
        0, "before", created, before=time_expressions.seconds(first, ZoneInfo(workspace.settings.timezone))
    )


def _asset_ids(refs: Sequence[str], workspace: Workspace, config: Path | None) -> set[str]:
    """Ids of the records that the refs name: records, records of passages, members of threads."""
    threads = {
        asset_id: thread
        for _, _, table in record_selection.private_months(workspace)
        for asset_id, thread in zip(table["asset_id"].to_pylist(), table["thread_id"].to_pylist(), strict=True)
    }
    asset_ids: set[str] = set()
    for ref in refs:
        if ref in threads:
            asset_ids.add(ref)
        elif members := {asset_id for asset_id, thread in threads.items() if thread == ref.removeprefix("thread:")}:
            asset_ids |= members
        elif in_passage := _passage_members(ref, workspace, config) & threads.keys():
            asset_ids |= in_passage
        else:
            raise ForgettingError(
                f'the archive has nothing named "{ref}"; `relrag search` shows ids', code="ref_absent", ref=ref
            )
    return asset_ids


def _passage_members(ref: str, workspace: Workspace, config: Path | None) -> set[str]:
    if generations.current_number(workspace.home) is None:
        return set()
    with Archive.open(config) as archive:
        chunk = archive.chunk(ref.removeprefix("chunk:"))
        chunks = [chunk] if chunk else archive.chunks_of(ref)
    return {member for chunk in chunks for member in chunk.members or [chunk.asset_id]}
