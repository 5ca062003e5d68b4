"""`relrag plan`: prints what the next sync will do, and why."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.exit_codes import DONE, WITH_FAILURES
from relrag_query.cli.options import Config, Json
from relrag_query.display.amounts import duration
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_pipelines.settings import Settings
    from relrag_pipelines.stages.embedding_cost import CostEstimate
    from relrag_pipelines.stages.plan_model import Plan, StaleMonth, StaleUnits
    from relrag_pipelines.stages.reading_cost import ReadingCost
    from relrag_pipelines.workspace import Workspace

app = typer.Typer()


@app.command("plan", epilog="Example: relrag plan --json")
def plan_command(as_json: Json = False, config: Config = None) -> None:
    """Show what a sync would do, and why."""
    dispatch.run(plan, config, as_json=as_json)


def cost_ahead(workspace: Workspace, todo: Plan) -> CostEstimate | None:
    """The estimated cost of embedding; None if there is nothing to embed."""
    from relrag_pipelines.stages.embedding_cost import estimate_cost

    return estimate_cost(workspace, todo)


def reading_ahead(workspace: Workspace, todo: Plan) -> ReadingCost | None:
    """The estimated cost of reading facts about people with a language model; None if no passage is to be read."""
    if workspace.settings.people.method != "llm":
        return None
    from relrag_pipelines.stages import reading_cost

    return reading_cost.estimate_cost(workspace, todo)


def plan(config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints what a sync would do and why; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.ingest import unread_files
    from relrag_pipelines.stages import plan as plans
    from relrag_pipelines.workspace import Workspace

    workspace = Workspace(settings_module.load(config))
    require_sources(workspace)
    todo = plans.build_plan(workspace)
    embedding, reading = cost_ahead(workspace, todo), reading_ahead(workspace, todo)
    unread = unread_files.find_unread(workspace.settings)
    if as_json:
        report = {
            "embedding": asdict(embedding) if embedding else None,
            "people_model": asdict(reading) if reading else None,
            "left_out": list(unread.sentences()),
            "unread_files": [asdict(file) for file in unread.files()],
        }
        print(json.dumps({**asdict(todo), **report}, indent=1))
        return WITH_FAILURES if todo.problems else DONE
    print_servers(todo, workspace.settings)
    if todo.empty:
        print(f"Nothing to do: everything is up to date{scope_note(todo)}.")
    else:
        print_plan(todo, embedding, workspace.settings, reading)
        print_graphs(todo, workspace.settings)
    print_answerer(workspace.settings)
    for sentence in unread.sentences():
        print(safe(sentence))
    for problem in todo.problems:
        print(f"problem: {problem}")
    return WITH_FAILURES if todo.problems else DONE


def scope_note(todo: Plan) -> str:
    return " with what can be looked at" if todo.problems else ""


def require_sources(workspace: Workspace) -> None:
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.settings import SettingsError

    if not workspace.settings.sources:
        where = workspace.settings.folder / settings_module.CONFIG_NAME
        raise SettingsError(f"{where} names no sources; add a [[sources]] table, or let `relrag init` find them")


def _describe_counts(export: StaleUnits) -> str:
    """How many files of an export are read, and why."""
    counts = {"new": export.new, **export.why, "gone": export.gone}
    return "; ".join(_describe_count(what, count) for what, count in counts.items() if count)


def _describe_embedding(embedding: CostEstimate) -> str:
    """What will be embedded, and how long that may take."""
    return f"{embedding.words} (up to {duration(embedding.seconds)})" if embedding.seconds else embedding.words


def print_plan(
    todo: Plan, embedding: CostEstimate | None, settings: Settings, reading: ReadingCost | None = None
) -> None:
    for export in todo.exports:
        print(f"{export.source}: read files ({_describe_counts(export)}), then make the months that they touch")
    for source in dict.fromkeys(month.source for month in todo.stale):
        _print_stale(source, [month for month in todo.stale if month.source == source])
    _print_archive_stages(todo, settings)
    if embedding:
        print(_describe_embedding(embedding))
    if reading:
        print(reading.words)
    if todo.publish:
        print(f"publish a new generation ({todo.publish})")
        if settings.qdrant_url:
            print(f"send vectors, ids, times and numbers of people, no text, to Qdrant at {settings.qdrant_url}")


def _print_archive_stages(todo: Plan, settings: Settings) -> None:
    """Prints the stages of the whole archive that will run, and those that may run once files have been read."""
    from relrag_pipelines.stages import whole_archive

    stages = [stage.name for stage in whole_archive.stages(settings) if stage.inputs]
    stale_stages = {stale.stage for stale in todo.archive}
    for stale in todo.archive:
        if stale.stage in stages:
            print(f"make {stale.stage} ({stale.reason})")
    for stage, reason in todo.unfinished.items():
        print(f"make {stage} ({reason})")
    if todo.exports and (possible := [stage for stage in stages if stage not in stale_stages]):
        print(f"make {', '.join(possible)}, if the files change what they are made from")


def print_servers(todo: Plan, settings: Settings) -> None:
    """Prints which servers a sync asks for changes, and the bucket in which it keeps the lake."""
    for source, host in todo.servers.items():
        print(f"{source}: ask {host} for changes and mirror them in private/, then read what changed")
    if todo.zips:
        print(f"{', '.join(todo.zips)}: open the zips that are new or changed, then read what they hold")
    if settings.home_lake:
        print(f"keep the {'redacted ' if settings.pii_redaction_enabled else ''}lake in {settings.home_lake} too")
    if settings.home_lake_private:
        print("keep the private files there too, encrypted")


def print_graphs(todo: Plan, settings: Settings) -> None:
    """Prints which GraphRAG indexes will be made, and what will be sent for that."""
    from relrag_pipelines import embedders

    for graph in todo.graphs:
        print(f"make the GraphRAG index {graph.collection} ({graph.reason})")
    graphrag = settings.graphrag
    if todo.graphs and graphrag.method == "llm":
        host = urlsplit(graphrag.url).hostname or f"api.{graphrag.service}.com"
        print(f"send redacted passages to {host}, up to {graphrag.token_budget:,} tokens an index")
    model = embedders.model(settings)
    if todo.graphs and model and model.host:
        print(f"send names and descriptions of what an index finds to {model.host}, redacted, to be embedded")


def print_answerer(settings: Settings) -> None:
    """Prints what `relrag ask` sends to a language model, and where to; nothing where none answers."""
    model = safe(settings.answer_model) or "its model"
    if settings.answerer == "local":
        host = urlsplit(settings.answer_url).netloc
        print(f"`relrag ask` has {model} at {host} read and answer, on this machine: nothing leaves it")
    elif settings.answerer != "extractive":
        host = urlsplit(settings.answer_url).hostname or f"api.{settings.answerer}.com"
        print(f"`relrag ask` sends the redacted question and redacted excerpts to {host}")


def _describe_count(what: str, count: int) -> str:
    plain = what in ("new", "changed") or what.startswith("gone")
    return f"{count} {what}" if plain else f"{count} again, as {what}"


def _print_stale(source: str, stale: list[StaleMonth]) -> None:
    """Prints the stale months of a source by stage and reason, then the stages that only depend on them."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    dependents = dict.fromkeys(month.stage for month in stale if month.follows)
    for month in stale:
        if not month.follows:
            by_reason.setdefault((month.stage, month.reason), []).append(month.month)
    for position, ((stage, reason), months) in enumerate(by_reason.items(), start=1):
        span = months[0] if len(months) == 1 else f"{len(months)} months, {min(months)} to {max(months)}"
        suffix = (
            f", then what follows from that: {', '.join(dependents)}"
            if dependents and position == len(by_reason)
            else ""
        )
        print(f"{source}: make {stage} of {span} ({reason}){suffix}")
