"""`relrag forget`: removes records at once, everywhere, and shows that nothing of them is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from relrag_pipelines import settings as settings_module
from relrag_pipelines.erasure import (
    person_removal,
    purge,
    record_selection,
    rule_file,
    rule_matching,
    similar_names,
    verification,
)
from relrag_pipelines.erasure.rule_file import ErasureRule, ForgettingError
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.erasure.similar_names import SimilarName
from relrag_pipelines.settings import now
from relrag_pipelines.stages import answer_pruning, graph_vectors
from relrag_pipelines.stores import generations, lake, lock, retired_generations, vector_pruning
from relrag_pipelines.workspace import Workspace
from relrag_query.archive import Archive
from relrag_query.cli import conversation
from relrag_query.cli.commands import forget_report as shown
from relrag_query.cli.commands.forget_report import ForgetPreview
from relrag_query.cli.progress import show_progress
from relrag_query.display.amounts import number
from relrag_query.display.source_line import moment
from relrag_query.understanding import time_expressions

_READERS_SECONDS = 10.0


@dataclass(frozen=True)
class ForgetRequest:
    """What to forget: one of the four."""

    refs: Sequence[str] = ()
    source: str | None = None
    person: str | None = None
    before: str | None = None


def forget(wanted: ForgetRequest, config: Path | None = None, *, yes: bool = False, wait: float = 0) -> int:
    """Shows what would go, asks, removes it and searches for what is left; returns the exit code."""
    with record_selection.months_in_memory():
        return _forget(wanted, config, yes=yes, wait=wait)


def _forget(wanted: ForgetRequest, config: Path | None, *, yes: bool, wait: float) -> int:
    workspace = Workspace(settings_module.load(config))
    also = similar_names.same_person_values(workspace, wanted.person) if wanted.person else []
    rule = _rule(wanted, also, workspace, config)
    shown_files = record_selection.month_files(workspace)
    going = _preview(rule, workspace)
    others = _candidates(wanted, also, going, workspace)
    shown.preview(workspace, going)
    shown.print_names(also, others)
    if not (yes or _asked()):
        print("Nothing was changed.")
        return 2
    started = time.monotonic()
    with lock.writing(workspace.home, "relrag forget", wait), show_progress() as show:
        workspace = Workspace(workspace.settings, show)
        conversation.drop(workspace.home)
        purge.resume(workspace)
        if person_removal.missing_sources(workspace):  # a forget that was cut short removed it
            _follow_up(workspace)
            person_removal.require(workspace)
        if record_selection.month_files(workspace) != shown_files:  # a sync came between
            going = _preview(rule, workspace)
        values, sampled = verification.distinctive_values(record_selection.selected_rows(workspace, going.selection))
        short = verification.short_in(record_selection.selected_rows(workspace, going.selection))
        kept = rule_file.add_rule(rule_file.load(workspace.home, workspace.keys), going.rule)
        rule_file.save(workspace.home, kept, workspace.keys)
        purge.remove(workspace, kept, going.selection)
        errors = _publish(workspace)
        conversation.drop(workspace.home)  # again: an `ask` that ran meanwhile may have written it
        names = [wanted.person, *also] if wanted.person else []
        found = verification.verify_erased(workspace, values, names, sampled=sampled, short=short)
    for error in errors:
        print(f"error: {error}")
    gone = number(going.rule.records, "record")
    print(f"Forgotten: {gone}, as rule {kept.last}; {time.monotonic() - started:.1f} s.")
    shown.print_remaining(going)
    shown.print_names([], others)
    return max(shown.report(found, ZoneInfo(workspace.settings.timezone)), 2 if errors else 0)


def list_rules(config: Path | None = None) -> int:
    """Prints what was forgotten, without saying what it was; returns the exit code."""
    workspace = Workspace(settings_module.load(config))
    zone = ZoneInfo(workspace.settings.timezone)
    known = rule_file.load(workspace.home).rules
    for rule in known:
        at = datetime.fromisoformat(rule.at).astimezone(zone)
        what = shown.rule_in_words(rule, zone)
        print(f"{rule.number}  {moment(at)}  {what}; {number(rule.records, 'record')} went")
    if not known:
        print("Nothing was forgotten.")
    return 0


def undo(number_of_rule: int, config: Path | None = None, *, wait: float = 0) -> int:
    """Withdraws a rule; returns the exit code."""
    workspace = Workspace(settings_module.load(config))
    with lock.writing(workspace.home, "relrag forget --undo", wait):
        purge.resume(workspace)
        rule = purge.undo(workspace, number_of_rule)
    zone = ZoneInfo(workspace.settings.timezone)
    print(f"Rule {rule.number} is withdrawn: {shown.rule_in_words(rule, zone)}.")
    print("`relrag sync` reads everything again; only what the exports still contain comes back.")
    return 0


def _preview(rule: ErasureRule, workspace: Workspace) -> ForgetPreview:
    chosen = record_selection.select(workspace, [rule])
    rule = record_selection.complete_rule(rule, chosen, workspace)
    return ForgetPreview(rule, chosen, record_selection.mails_quoting_selection(workspace, rule, chosen))


def _candidates(
    wanted: ForgetRequest, also: list[str], going: ForgetPreview, workspace: Workspace
) -> list[SimilarName]:
    if not wanted.person:
        return []
    return similar_names.find_candidates(
        workspace, [wanted.person, *also], going.selection, RuleMatcher([going.rule], workspace.keys, workspace.regions)
    )


def _rule(wanted: ForgetRequest, also: list[str], workspace: Workspace, config: Path | None) -> ErasureRule:
    ways = [bool(wanted.refs), wanted.source is not None, wanted.person is not None, wanted.before is not None]
    if sum(ways) != 1:
        raise ForgettingError("name what is to be forgotten by ids, or by one of --source, --person and --before")
    at = now().isoformat("T", "seconds")
    if wanted.refs:
        return rule_matching.for_records(_asset_ids(wanted.refs, workspace, config), workspace.keys, at)
    if wanted.person is not None:
        return rule_matching.for_person(wanted.person, workspace.keys, at, also, workspace.regions)
    if wanted.source is not None:
        if wanted.source not in lake.sources(workspace.home):
            workspace.settings.source(wanted.source)
        return ErasureRule(0, "source", at, source=wanted.source)
    first, _ = time_expressions.day_range(wanted.before or "")
    return ErasureRule(0, "before", at, before=time_expressions.seconds(first, ZoneInfo(workspace.settings.timezone)))


def _asset_ids(refs: Sequence[str], workspace: Workspace, config: Path | None) -> set[str]:
    """Ids of the records that the refs name: records, the records of passages, the members of threads."""
    stored = {
        asset_id: thread
        for _, _, table in record_selection.private_months(workspace)
        for asset_id, thread in zip(table["asset_id"].to_pylist(), table["thread_id"].to_pylist(), strict=True)
    }
    found: set[str] = set()
    for ref in refs:
        if ref in stored:
            found.add(ref)
        elif members := {one for one, thread in stored.items() if thread == ref.removeprefix("thread:")}:
            found |= members
        elif held := _held_in_passage(ref, workspace, config) & stored.keys():
            found |= held
        else:
            raise ForgettingError(f'the archive has nothing named "{ref}"; `relrag search` shows ids')
    return found


def _held_in_passage(ref: str, workspace: Workspace, config: Path | None) -> set[str]:
    if generations.current_number(workspace.home) is None:
        return set()
    with Archive.open(config) as archive:
        chunk = archive.chunk(ref.removeprefix("chunk:"))
        chunks = [chunk] if chunk else archive.chunks_of(ref)
    return {member for chunk in chunks for member in chunk.members or [chunk.asset_id]}


def _asked() -> bool:
    if not sys.stdin.isatty():
        raise ForgettingError("this is not a terminal, so nobody can confirm; add --yes to forget this")
    return input("Forget all this, for good? [y/N] ").strip().lower() in {"y", "yes"}


def _follow_up(workspace: Workspace) -> list[str]:
    # imported only now: the preview is there in less time than either import takes
    if workspace.settings.golden_set_path:  # only Dagster's assets ask it
        from relrag_pipelines.orchestration.runner import follow_up

        return [*follow_up(workspace).errors]
    from relrag_pipelines.publishing.rebuild import rebuild

    return rebuild(workspace)


def _publish(workspace: Workspace) -> list[str]:
    """Builds a generation without what was removed, and deletes all older ones; returns what went wrong."""
    before = generations.current_number(workspace.home)
    errors = _follow_up(workspace)
    if generations.current_number(workspace.home) == before:  # else it was done while publishing
        vector_pruning.prune_vectors(workspace.home, graph_vectors.hashes_to_keep(workspace.home))
        answer_pruning.prune_answers(workspace.home)
    until = time.monotonic() + _READERS_SECONDS
    while True:
        generations.sweep(workspace.home, 1)
        current = generations.current_number(workspace.home)
        left = sorted(one for one in generations.numbers(workspace.home) if one != current)
        if not left or time.monotonic() > until:
            break
        time.sleep(0.1)
    held = [f"generation {one} is still being read; close what reads it, then run `relrag sync`" for one in left]
    held += [
        f"{one} could not be removed; run `relrag sync`"
        for one in retired_generations.describe_remote_leftovers(workspace.home)
    ]
    return [*errors, *held]
