"""`relrag forget`: removes records from every stored file at once, and searches the files for remains."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer

from relrag_pipelines.errors import SafeError
from relrag_pipelines.stores import lock
from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Wait
from relrag_query.display.amounts import number

if TYPE_CHECKING:
    from relrag_pipelines.erasure.similar_names import SimilarName
    from relrag_pipelines.workspace import Workspace
    from relrag_query.forgetting import ForgetPreview, ForgetRequest

app = typer.Typer()


@app.command("forget", epilog='Example: relrag forget --person "Ota Kral"')
def forget_command(
    refs: Annotated[
        list[str] | None, typer.Argument(metavar="REF", help="Ids of records, passages or threads (thread:...).")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="NAME", help="All of this source, which will not be read any more."),
    ] = None,
    person: Annotated[
        str | None, typer.Option("--person", metavar="NAME", help="A name, an address or a phone number.")
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="DATE", help="Older than 2024, 2024-03 or 2024-03-15.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List what was forgotten so far.")] = False,
    undone: Annotated[
        int | None, typer.Option("--undo", metavar="RULE", help="Withdraw the rule with this number.")
    ] = None,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Remove records for good, and prove that nothing is left.

    Later syncs leave them out, too.
    """
    if listed:
        dispatch.run(list_rules, config)
    if undone is not None:
        dispatch.run(undo, undone, config, wait=wait)
    from relrag_query.forgetting import ForgetRequest

    request = ForgetRequest(refs or (), source, person, before)
    dispatch.run(forget, request, config, yes=yes, wait=wait)


_MAX_READER_SECONDS = 10.0


def forget(request: ForgetRequest, config: Path | None = None, *, yes: bool = False, wait: float = 0) -> int:
    """Previews, asks for confirmation, removes, and searches for remains; returns the exit code."""
    from relrag_pipelines.erasure import record_selection

    with record_selection.months_in_memory():
        return _forget(request, config, yes=yes, wait=wait)


def _forget(request: ForgetRequest, config: Path | None, *, yes: bool, wait: float) -> int:
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.erasure import purge, record_selection, rule_file, similar_names, verification
    from relrag_pipelines.stores import question_files
    from relrag_pipelines.workspace import Workspace
    from relrag_query.cli import forget_report
    from relrag_query.cli.progress import show_progress
    from relrag_query.forgetting import preview_of, rule_of

    workspace = Workspace(settings_module.load(config))
    aliases = similar_names.same_person_values(workspace, request.person) if request.person else []
    rule = rule_of(request, aliases, workspace, config)
    previewed_files = record_selection.month_files(workspace)
    preview = preview_of(rule, workspace)
    candidates = _candidates(request, aliases, preview, workspace)
    forget_report.print_preview(workspace, preview)
    forget_report.print_names(aliases, candidates)
    if not (yes or _confirm()):
        return 2
    start = time.monotonic()
    with lock.writing(workspace.home, "relrag forget", wait), show_progress(workspace.home) as show:
        workspace = Workspace(workspace.settings, show)
        question_files.drop(workspace.home)
        _finish_interrupted(workspace)
        if record_selection.month_files(workspace) != previewed_files:  # a sync ran since the preview
            preview = preview_of(rule, workspace)
        values, sampled = verification.distinctive_values(record_selection.selected_rows(workspace, preview.selection))
        short = verification.short_in(record_selection.selected_rows(workspace, preview.selection))
        rules = rule_file.add_rule(rule_file.load(workspace.home, workspace.keys), preview.rule)
        rule_file.save(workspace.home, rules, workspace.keys)
        purge.remove(workspace, rules, preview.selection)
        errors = _publish(workspace)
        question_files.drop(workspace.home)  # a second time: an `ask` may have written it meanwhile
        names = [request.person, *aliases] if request.person else []
        proof = verification.verify_erased(workspace, values, names, sampled=sampled, short=short)
    sys.stdout.writelines(f"error: {error}\n" for error in errors)
    record_count = number(preview.rule.records, "record")
    print(f"Forgotten: {record_count}, as rule {rules.last}; {time.monotonic() - start:.1f} s.")
    forget_report.print_remaining(preview)
    forget_report.print_names([], candidates)
    return max(forget_report.report(proof, ZoneInfo(workspace.settings.timezone)), 2 if errors else 0)


def _clean_bucket(workspace: Workspace, unpublished: list[str]) -> list[str]:
    """Removes from the bucket of the lake what is not in lake/ any more, older versions too; returns the errors.

    After errors of publishing (`unpublished`) the lake may be half made and unchecked, and is not uploaded.
    """
    from relrag_pipelines.publishing import lake_bucket

    url = workspace.settings.home_lake
    if url and unpublished:
        return [f"{url} may still hold what was forgotten, because the lake was not made again; run `relrag sync`"]
    try:
        lake_bucket.commit(workspace)
        damage = lake_bucket.damage(workspace)
    except SafeError as error:
        return [str(error)]
    if url and not damage:
        private = " and private files, encrypted," if workspace.settings.home_lake_private else ""
        print(f"{url} holds the files of lake/{private} alone, and no older versions of them.")
    return [f"the bucket of the lake: {key} {problem}; run `relrag sync`" for key, problem in damage]


def _finish_interrupted(workspace: Workspace) -> None:
    """Completes an earlier forget that was interrupted, with the table of people that it removed.

    The bucket of the lake comes first: one that cannot be reached would keep what is forgotten now.
    """
    from relrag_pipelines.erasure import person_removal, purge
    from relrag_pipelines.publishing import lake_bucket

    lake_bucket.pull(workspace)
    purge.resume(workspace)
    if person_removal.missing_sources(workspace):
        _follow_up(workspace)
        person_removal.require(workspace)


def list_rules(config: Path | None = None) -> int:
    """Prints the rules by number, time and kind, without the forgotten values; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.erasure import rule_file
    from relrag_pipelines.workspace import Workspace
    from relrag_query.cli import forget_report
    from relrag_query.display.source_line import moment

    workspace = Workspace(settings_module.load(config))
    zone = ZoneInfo(workspace.settings.timezone)
    rules = rule_file.load(workspace.home).rules
    for rule in rules:
        at = datetime.fromisoformat(rule.at).astimezone(zone)
        what = forget_report.rule_in_words(rule, zone)
        print(f"{rule.number}  {moment(at)}  {what}; {number(rule.records, 'record')} went")
    if not rules:
        print("Nothing was forgotten.")
    return 0


def undo(number_of_rule: int, config: Path | None = None, *, wait: float = 0) -> int:
    """Withdraws a rule; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.erasure import purge
    from relrag_pipelines.workspace import Workspace
    from relrag_query.cli import forget_report

    workspace = Workspace(settings_module.load(config))
    with lock.writing(workspace.home, "relrag forget --undo", wait):
        purge.resume(workspace)
        rule = purge.undo(workspace, number_of_rule)
    zone = ZoneInfo(workspace.settings.timezone)
    print(f"Rule {rule.number} is withdrawn: {forget_report.rule_in_words(rule, zone)}.")
    print("`relrag sync` reads everything again; only what the exports still contain comes back.")
    return 0


def _candidates(
    request: ForgetRequest, aliases: list[str], preview: ForgetPreview, workspace: Workspace
) -> list[SimilarName]:
    from relrag_pipelines.erasure import similar_names
    from relrag_pipelines.erasure.rule_matching import RuleMatcher

    if not request.person:
        return []
    return similar_names.find_candidates(
        workspace,
        [request.person, *aliases],
        preview.selection,
        RuleMatcher([preview.rule], workspace.keys, workspace.regions),
    )


def _confirm() -> bool:
    from relrag_pipelines.erasure.rule_file import ForgettingError

    if not sys.stdin.isatty():
        raise ForgettingError("this is not a terminal, so nobody can confirm; add --yes to forget this")
    confirmed = input("Forget all this, for good? [y/N] ").strip().lower() in {"y", "yes"}
    if not confirmed:
        print("Nothing was changed.")
    return confirmed


def _follow_up(workspace: Workspace) -> list[str]:
    # imported only now: each import takes longer than the preview
    if workspace.settings.golden_set_path:  # only Dagster's assets evaluate it
        from relrag_pipelines.orchestration.runner import follow_up

        return [*follow_up(workspace).errors]
    from relrag_pipelines.publishing.rebuild import rebuild

    return rebuild(workspace)


def _publish(workspace: Workspace) -> list[str]:
    """Builds a generation without the removed records, and deletes all older ones; returns the errors."""
    from relrag_pipelines.stages import answer_pruning, graph_vectors
    from relrag_pipelines.stores import generations, retired_generations, vector_pruning

    previous = generations.current_number(workspace.home)
    errors = _follow_up(workspace)
    if generations.current_number(workspace.home) == previous:  # otherwise publishing has pruned already
        vector_pruning.prune_vectors(workspace.home, graph_vectors.hashes_to_keep(workspace.home))
        answer_pruning.prune_answers(workspace.home)
    deadline = time.monotonic() + _MAX_READER_SECONDS
    while True:
        generations.sweep(workspace.home, 1)
        current = generations.current_number(workspace.home)
        old_generations = sorted(
            generation for generation in generations.numbers(workspace.home) if generation != current
        )
        if not old_generations or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    warnings = [
        f"generation {generation} is still being read; close what reads it, then run `relrag sync`"
        for generation in old_generations
    ]
    warnings += [
        f"{leftover} could not be removed; run `relrag sync`"
        for leftover in retired_generations.describe_remote_leftovers(workspace.home)
    ]
    return [*errors, *warnings, *_clean_bucket(workspace, errors)]
