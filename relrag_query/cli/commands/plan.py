"""`relrag plan`: what the next sync will do, and why."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from relrag_pipelines import embedders
from relrag_pipelines import settings as settings_module
from relrag_pipelines.ingest import unread_files
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages import whole_archive
from relrag_pipelines.stages.plan_model import Plan, StaleMonth
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.exit_codes import DONE, WITH_FAILURES
from relrag_query.display.amounts import duration
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_pipelines.stages.embedding_cost import CostEstimate
    from relrag_pipelines.stages.reading_cost import ReadingCost


def cost_ahead(workspace: Workspace, todo: Plan) -> CostEstimate | None:
    """What embedding will cost; None if there is nothing to embed."""
    from relrag_pipelines.stages.embedding_cost import estimate_cost

    return estimate_cost(workspace, todo)


def reading_ahead(workspace: Workspace, todo: Plan) -> ReadingCost | None:
    """What a language model will be asked about people; None where none is, or there is nothing to ask."""
    if workspace.settings.people.method != "llm":
        return None
    from relrag_pipelines.stages import reading_cost

    return reading_cost.estimate_cost(workspace, todo)


def plan(config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints what a sync would do and why; returns the exit code."""
    workspace = Workspace(settings_module.load(config))
    require_sources(workspace)
    todo = plans.build_plan(workspace)
    ahead, asked = cost_ahead(workspace, todo), reading_ahead(workspace, todo)
    unread = unread_files.find_unread(workspace.settings)
    if as_json:
        told = {
            "embedding": asdict(ahead) if ahead else None,
            "people_model": asdict(asked) if asked else None,
            "left_out": list(unread.sentences()),
            "unread_files": [asdict(file) for file in unread.files()],
        }
        print(json.dumps({**asdict(todo), **told}, indent=1))
        return WITH_FAILURES if todo.problems else DONE
    if todo.empty:
        print(f"Nothing to do: everything is up to date{scope_note(todo)}.")
    else:
        print_plan(todo, ahead, workspace.settings, asked)
        print_graphs(todo, workspace.settings)
    for said in unread.sentences():
        print(safe(said))
    for problem in todo.problems:
        print(f"problem: {problem}")
    return WITH_FAILURES if todo.problems else DONE


def scope_note(todo: Plan) -> str:
    return " with what can be looked at" if todo.problems else ""


def require_sources(workspace: Workspace) -> None:
    if not workspace.settings.sources:
        where = workspace.settings.folder / settings_module.CONFIG_NAME
        raise SettingsError(f"{where} names no sources; add a [[sources]] table, or let `relrag init` find them")


def print_plan(todo: Plan, ahead: CostEstimate | None, settings: Settings, asked: ReadingCost | None = None) -> None:
    stages, made = (
        [one.name for one in whole_archive.stages(settings) if one.inputs],
        {one.stage for one in todo.archive},
    )
    for export in todo.exports:
        counts = {"new": export.new, **export.why, "gone": export.gone}
        said = "; ".join(_counted(what, count) for what, count in counts.items() if count)
        print(f"{export.source}: read files ({said}), then make the months that they touch")
    for source in dict.fromkeys(one.source for one in todo.stale):
        _print_stale(source, [one for one in todo.stale if one.source == source])
    for one in todo.archive:
        if one.stage in stages:
            print(f"make {one.stage} ({one.reason})")
    for stage, reason in todo.unfinished.items():
        print(f"make {stage} ({reason})")
    if todo.exports and (may := [one for one in stages if one not in made]):
        print(f"make {', '.join(may)}, if the files change what they are made from")
    if ahead:
        print(f"{ahead.words}{f' (up to {duration(ahead.seconds)})' if ahead.seconds else ''}")
    if asked:
        print(asked.words)
    if todo.publish:
        print(f"publish a new generation ({todo.publish})")
        if settings.qdrant_url:
            print(f"send vectors, ids, times and numbers of people, no text, to Qdrant at {settings.qdrant_url}")


def print_graphs(todo: Plan, settings: Settings) -> None:
    """Prints which GraphRAG indexes will be made, and what will be sent for that."""
    for one in todo.graphs:
        print(f"make the GraphRAG index {one.collection} ({one.reason})")
    asked = settings.graphrag
    if todo.graphs and asked.method == "llm":
        host = urlsplit(asked.url).hostname or f"api.{asked.service}.com"
        print(f"send redacted passages to {host}, up to {asked.token_budget:,} tokens an index")
    model = embedders.model(settings)
    if todo.graphs and model and model.host:
        print(f"send names and descriptions of what an index finds to {model.host}, redacted, to be embedded")


def _counted(what: str, count: int) -> str:
    plain = what in ("new", "changed") or what.startswith("gone")
    return f"{count} {what}" if plain else f"{count} again, as {what}"


def _print_stale(source: str, stale: list[StaleMonth]) -> None:
    """Prints what of a source is made again and why, followed by what only depends on it."""
    asked: dict[tuple[str, str], list[str]] = {}
    follows = dict.fromkeys(one.stage for one in stale if one.follows)
    for one in stale:
        if not one.follows:
            asked.setdefault((one.stage, one.reason), []).append(one.month)
    for place, ((stage, reason), months) in enumerate(asked.items(), start=1):
        span = months[0] if len(months) == 1 else f"{len(months)} months, {min(months)} to {max(months)}"
        then = f", then what follows from that: {', '.join(follows)}" if follows and place == len(asked) else ""
        print(f"{source}: make {stage} of {span} ({reason}){then}")
