"""`relrag backfill legacy`: indexes an older system's Qdrant collection, and writes relrag's fields into it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relrag_pipelines.stores import lock
from relrag_query.cli import dispatch
from relrag_query.cli.exit_codes import COULD_NOT, DONE, WITH_FAILURES
from relrag_query.cli.options import Config, Sources, Strict, Wait
from relrag_query.display.amounts import number

if TYPE_CHECKING:
    from relrag_pipelines.legacy.backfill import BackfillReport
    from relrag_pipelines.orchestration.runner import RunOutcome
    from relrag_pipelines.settings import Source
    from relrag_pipelines.workspace import Workspace

app = typer.Typer(invoke_without_command=True)


@app.callback(epilog="Example: relrag backfill --source mail --from 2024-01 --to 2024-03")
def backfill_command(
    context: typer.Context,
    source: Annotated[str, typer.Option("--source", metavar="NAME", help="Name of the source.")] = "",
    first: Annotated[str, typer.Option("--from", metavar="MONTH", help="First month, YYYY-MM.")] = "",
    last: Annotated[str, typer.Option("--to", metavar="MONTH", help="Last month, YYYY-MM.")] = "",
    strict: Strict = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Rebuild months of one source.

    `relrag backfill legacy` is about the Qdrant collection of an older system.
    """
    from relrag_query.cli.commands.sync import backfill

    if context.invoked_subcommand:
        return
    for option, value in (("--source", source), ("--from", first), ("--to", last)):
        if not value:
            raise typer.BadParameter(f"Missing option '{option}'; `relrag backfill legacy` needs none.")
    dispatch.run(backfill, source, first, last, config, strict=strict, wait=wait)


@app.command(epilog="Example: relrag backfill legacy --dry-run")
def legacy(
    sources: Sources = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing; show what would be done.")] = False,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Write at most this many points; the next run continues."),
    ] = None,
    strict: Strict = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Index an older system's Qdrant collection, and extend it.

    Its points are given relations, the fields that all kinds share, and person ids.
    """
    dispatch.run(backfill_legacy, sources, config, dry_run=dry_run, limit=limit, strict=strict, wait=wait)


_EXAMPLE = """no source of an older system in relrag.toml; add one, such as

  [[sources]]
  name = "older"
  kind = "legacy"
  path = "qdrant/collection"    # in the folder of qdrant-client's local mode

docs/legacy.md shows one for a server"""


def backfill_legacy(
    names: list[str] | None,
    config: Path | None = None,
    *,
    dry_run: bool = False,
    limit: int | None = None,
    strict: bool = False,
    wait: float = 0,
) -> int:
    """Syncs, then writes into the collections; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.publishing import lake_bucket
    from relrag_pipelines.workspace import Workspace
    from relrag_query.cli.commands import sync
    from relrag_query.cli.progress import show_progress

    workspace = Workspace(settings_module.load(config))
    sources = _select_sources(workspace, names)
    if dry_run:
        _preview(workspace, sources, limit)
        return DONE
    with lock.writing(workspace.home, "relrag backfill legacy", wait):
        _announce(workspace, sources)
        sync_code = sync.sync(config, strict=strict)
        if sync_code == COULD_NOT:
            return COULD_NOT
        from relrag_pipelines.orchestration.runner import backfill_legacy as run

        with show_progress(workspace.home) as show:
            outcome = run(Workspace(workspace.settings, show), [source.name for source in sources], limit)
        if not outcome.errors:
            lake_bucket.commit(workspace)
    _print_outcome(workspace, sources, outcome)
    return COULD_NOT if outcome.errors else max(sync_code, WITH_FAILURES if outcome.warnings else DONE)


def _preview(workspace: Workspace, sources: list[Source], limit: int | None) -> None:
    """Prints what would be written into each collection."""
    from relrag_pipelines.legacy.backfill import backfill

    for source in sources:
        _print_preview(source, backfill(workspace, source, limit=limit, dry_run=True), limit)


def _announce(workspace: Workspace, sources: list[Source]) -> None:
    """Prints what is sent to servers, and notes the state of their collections before."""
    from relrag_pipelines.legacy import source_collections

    for source in sources:
        if source.url:
            print(_describe_sent_data(source))
            source_collections.note_state(workspace, source)


def _print_outcome(workspace: Workspace, sources: list[Source], outcome: RunOutcome) -> None:
    """Prints what was written into each collection, and what failed."""
    from relrag_pipelines.legacy import source_collections

    for source in sources:
        asset = f"{source.name}/backfill"
        if asset in outcome.counts:
            _print_done(source, outcome.counts[asset], source_collections.copies(workspace, source))
    for error in outcome.errors:
        print(f"error: {error}")


def _describe_sent_data(source: Source) -> str:
    """One line about the data that leaves this machine."""
    contents = "ids of their records, their own fields under relrag's names, numbers of people"
    return f"{source.name}: into the points of {source.collection} at {source.url} go {contents}; nothing else is sent"


def _select_sources(workspace: Workspace, names: list[str] | None) -> list[Source]:
    from relrag_pipelines.legacy import source_collections
    from relrag_pipelines.settings import SettingsError

    sources = source_collections.sources(workspace)
    if not sources:
        raise SettingsError(_EXAMPLE)
    source_names = [source.name for source in sources]
    for name in names or ():
        if name not in source_names:
            raise SettingsError(f'"{name}" is not a source of an older system; there are: {", ".join(source_names)}')
    return [source for source in sources if not names or source.name in names]


def _print_preview(source: Source, report: BackfillReport, limit: int | None) -> None:
    by_channel = ", ".join(f"{count:,} {channel}" for channel, count in sorted(report.points.items()))
    print(
        f"{source.name}: {number(sum(report.points.values()), 'point')} ({by_channel or 'none'}). Nothing was written."
    )
    relations = ", ".join(f"{count:,} {what}" for what, count in report.relations.items())
    print(f"  taken in by a sync: {relations}")
    fields = f"  written: fields of {number(report.new, 'point')}"
    print(fields + (f", {report.waiting:,} more by later runs" if limit and report.waiting else ""))
    print(f"  left as they are: {number(report.done, 'point')} that have their fields")
    print(
        f"  person ids: of {number(report.people, 'point')}"
        if report.people_known
        else "  person ids: known after the sync that goes first"
    )
    print(f"  dropped: old vectors of relationships at {number(report.vectors, 'point')}")
    if report.synthetic:
        print(f"  not taken in: {number(report.synthetic, 'point')} that the older system made for itself")
    if report.unreadable:
        print(f"  cannot be read: {number(report.unreadable, 'point')}")
    print("  before that: " + _describe_copy(source))


def _describe_copy(source: Source) -> str:
    return "a snapshot on the server" if source.url else "a copy of the folder, beside it"


def _print_done(source: Source, counts: dict[str, Any], copies: list[str]) -> None:
    new, people, unchanged = (
        counts[f"points_{name}"] for name in ("with_new_fields", "with_other_people", "with_fields_before")
    )
    if counts["points_written"]:
        print(f"{source.name}: {number(new, 'point')} got fields, {number(people, 'point')} got person ids.")
    else:
        print(f"{source.name}: nothing to write; {number(unchanged, 'point')} had all fields.")
    if counts["points_without_old_vectors"]:
        print(f"  old vectors of relationships dropped at {number(counts['points_without_old_vectors'], 'point')}")
    if counts["points_waiting"]:
        print(f"  {number(counts['points_waiting'], 'point')} left; run this again to go on")
    if counts["points_unreadable"]:
        print(
            f"  {number(counts['points_unreadable'], 'point')} could not be read; `relrag status --failures` lists them"
        )
    if counts["snapshots"]:
        print(f"  as it was before: {', '.join(copies)} ({_describe_copy(source)})")
