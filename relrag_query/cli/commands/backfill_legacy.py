"""`relrag backfill legacy`: indexes an older system's Qdrant collection, and writes relrag's fields into it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from relrag_pipelines import settings as settings_module
from relrag_pipelines.legacy import source_collections
from relrag_pipelines.legacy.backfill import BackfillReport, backfill
from relrag_pipelines.settings import SettingsError, Source
from relrag_pipelines.stores import lock
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands import sync
from relrag_query.cli.exit_codes import COULD_NOT, DONE, WITH_FAILURES
from relrag_query.cli.progress import show_progress
from relrag_query.display.amounts import number

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
    workspace = Workspace(settings_module.load(config))
    sources = _chosen(workspace, names)
    if dry_run:
        for source in sources:
            _print_preview(source, backfill(workspace, source, limit=limit, dry_run=True), limit)
        return DONE
    with lock.writing(workspace.home, "relrag backfill legacy", wait):
        for source in sources:
            if source.url:
                print(_what_is_sent(source))
                source_collections.note_state(workspace, source)
        synced = sync.sync(config, strict=strict)
        if synced == COULD_NOT:
            return COULD_NOT
        from relrag_pipelines.orchestration.runner import backfill_legacy as run

        with show_progress() as show:
            outcome = run(Workspace(workspace.settings, show), [one.name for one in sources], limit)
    for source in sources:
        for told in (counts for asset, counts in outcome.counts.items() if asset == f"{source.name}/backfill"):
            _print_done(source, told, source_collections.copies(workspace, source))
    for error in outcome.errors:
        print(f"error: {error}")
    return COULD_NOT if outcome.errors else max(synced, WITH_FAILURES if outcome.warnings else DONE)


def _what_is_sent(source: Source) -> str:
    """Says what leaves this machine, in one line."""
    said = "ids of their records, their own fields under relrag's names, numbers of people"
    return f"{source.name}: into the points of {source.collection} at {source.url} go {said}; nothing else is sent"


def _chosen(workspace: Workspace, names: list[str] | None) -> list[Source]:
    sources = source_collections.sources(workspace)
    if not sources:
        raise SettingsError(_EXAMPLE)
    known = [source.name for source in sources]
    for name in names or ():
        if name not in known:
            raise SettingsError(f'"{name}" is not a source of an older system; there are: {", ".join(known)}')
    return [source for source in sources if not names or source.name in names]


def _print_preview(source: Source, found: BackfillReport, limit: int | None) -> None:
    by_channel = ", ".join(f"{count:,} {channel}" for channel, count in sorted(found.points.items()))
    print(
        f"{source.name}: {number(sum(found.points.values()), 'point')} ({by_channel or 'none'}). Nothing was written."
    )
    held = ", ".join(f"{count:,} {what}" for what, count in found.relations.items())
    print(f"  taken in by a sync: {held}")
    fields = f"  written: fields of {number(found.new, 'point')}"
    print(fields + (f", {found.waiting:,} more by later runs" if limit and found.waiting else ""))
    print(f"  left as they are: {number(found.done, 'point')} that have their fields")
    print(
        f"  person ids: of {number(found.people, 'point')}"
        if found.people_known
        else "  person ids: known after the sync that goes first"
    )
    print(f"  dropped: old vectors of relationships at {number(found.vectors, 'point')}")
    if found.synthetic:
        print(f"  not taken in: {number(found.synthetic, 'point')} that the older system made for itself")
    if found.unreadable:
        print(f"  cannot be read: {number(found.unreadable, 'point')}")
    print("  before that: " + _copies(source))


def _copies(source: Source) -> str:
    return "a snapshot on the server" if source.url else "a copy of the folder, beside it"


def _print_done(source: Source, told: dict[str, Any], copies: list[str]) -> None:
    new, people, before = (
        told[f"points_{name}"] for name in ("with_new_fields", "with_other_people", "with_fields_before")
    )
    if told["points_written"]:
        print(f"{source.name}: {number(new, 'point')} got fields, {number(people, 'point')} got person ids.")
    else:
        print(f"{source.name}: nothing to write; {number(before, 'point')} had all fields.")
    if told["points_without_old_vectors"]:
        print(f"  old vectors of relationships dropped at {number(told['points_without_old_vectors'], 'point')}")
    if told["points_waiting"]:
        print(f"  {number(told['points_waiting'], 'point')} left; run this again to go on")
    if told["points_unreadable"]:
        print(
            f"  {number(told['points_unreadable'], 'point')} could not be read; `relrag status --failures` lists them"
        )
    if told["snapshots"]:
        print(f"  as it was before: {', '.join(copies)} ({_copies(source)})")
