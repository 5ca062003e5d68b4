"""What a sync would do, and why: decided in this one place, without Dagster.

`inspect_source` reads what is there, `plan` is a pure function of it. A month of a stage is stale when its input, its
stage's version or the settings that matter to it differ from what its manifest entry says; what follows from a stale
month is stale with it. The same holds of a stage over the whole archive, whose input is all months of its tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from relrag_pipelines import embedders
from relrag_pipelines.erasure import rule_file
from relrag_pipelines.ingest import unpacking
from relrag_pipelines.ingest.read_context import scan_source
from relrag_pipelines.ingest.scan import SourceScan
from relrag_pipelines.ingest.units import SourceNotFound
from relrag_pipelines.journal import manual_links
from relrag_pipelines.onboarding.estimate import text_bytes
from relrag_pipelines.records import SCHEMA_VERSION
from relrag_pipelines.settings import Source
from relrag_pipelines.stages import graph_index_plan, plan_model, whole_archive
from relrag_pipelines.stages.graph_index_plan import StaleGraph
from relrag_pipelines.stages.month_range import with_partition
from relrag_pipelines.stages.month_stages import STAGES, Stage, input_hashes, version_orders
from relrag_pipelines.stages.plan_model import (
    FOLLOWS,
    ArchiveState,
    Plan,
    SourceState,
    StaleMonth,
    StaleStage,
    StaleUnits,
)
from relrag_pipelines.stages.redaction_policy import RECOGNISERS, policy_hash
from relrag_pipelines.stages.whole_archive import ArchiveStage, MonthlyManifests, month_outputs
from relrag_pipelines.stores import archive_tables, generations, lake, searched_values, unit_state
from relrag_pipelines.stores.archive_tables import PUBLISHED
from relrag_pipelines.stores.fingerprint import changed_settings, describe_changes, fingerprint, settings_fingerprint
from relrag_pipelines.stores.lake import InputFingerprint, Manifest, ManifestEntry
from relrag_pipelines.text import analyzer
from relrag_pipelines.workspace import Workspace

PUBLISH_VERSION = 5
"""Raised when equal lake tables are published differently."""


PUBLISHED_TABLES = ("records", "identifiers", "chunks", "embeddings", "asset_asset_edges", "failures")


def inspect_source(workspace: Workspace, source: Source) -> SourceState:
    """Reads the listing and the manifests of a source; opens no unit."""
    scan, problem = None, ""
    stored = unit_state.load(workspace.home, source.name)
    try:
        scan = SourceScan({}, (), ())
        if not source.paused and source.name not in rule_file.load(workspace.home).sources():
            scan = scan_source(workspace, source, stored)
    except SourceNotFound as missing:
        problem = str(missing)
    tables = ("private_records", *dict.fromkeys(stage.table for stage in STAGES), "failures")
    first = workspace.settings.first_month
    return SourceState(
        source.name,
        scan,
        problem,
        {table: with_partition(lake.manifest(workspace.home, table, source.name), first) for table in tables},
        {stage.name: settings_fingerprint(stage.settings(workspace, source)) for stage in STAGES},
        source.retain,
        any(state.reader == unit_state.UNFINISHED for state in stored.values()),
        version_orders(source, stored),
    )


def inspect_archive(workspace: Workspace) -> ArchiveState:
    """Looks at the manifests and settings of the stages over the whole archive."""
    stages = whole_archive.stages(workspace.settings)
    return ArchiveState(
        stages,
        {table: archive_tables.entry(workspace.home, table) for table in archive_tables.NAMES},
        {stage.name: settings_fingerprint(stage.settings(workspace)) for stage in stages},
        {stage.name: left for stage in stages if stage.unfinished and (left := stage.unfinished(workspace))},
    )


def plan(
    surveys: Iterable[SourceState],
    known_units: Mapping[str, set[str]],
    published: str | None,
    current_hash: str,
    archive: ArchiveState | None = None,
    graphs: Iterable[StaleGraph] = (),
    *,
    search_again: bool = False,
) -> Plan:
    """The work that is due: a pure function of the current state.

    known_units are the paths read before, by source. published is the inputs' hash of the current generation (None if
    there is none), current_hash the one that the lake gives now. graphs are the stale GraphRAG indexes. search_again:
    the last search for replaced values, which is part of publishing, was interrupted.
    """
    surveys = list(surveys)
    exports = [
        _stale_units(survey, known_units.get(survey.source, set())) for survey in surveys if _has_changes(survey)
    ]
    stale = stale_months(surveys)
    tables = stale_stages(archive or ArchiveState(), surveys, stale)
    outdated = published != current_hash or search_again
    reasons = {
        "nothing is published yet": published is None,
        "what it is made from changes": bool(exports or stale or tables),
        "what it was made from has changed": published != current_hash,
        "values that were replaced have to be looked for again": search_again,
    }
    reason = next((reason for reason, holds in reasons.items() if holds), "")
    stale_names = {stage.stage for stage in tables}
    unfinished = {} if archive is None else archive.unfinished
    remaining = {stage: why for stage, why in unfinished.items() if stage not in stale_names}
    return Plan(exports, stale, reason, _problems(surveys), outdated, tables, list(graphs), remaining)


def _has_changes(survey: SourceState) -> bool:
    return survey.scan is not None and bool(survey.scan.changed_units or survey.scan.missing_units)


def _stale_units(survey: SourceState, known_units: set[str]) -> StaleUnits:
    """The changed and missing units of a source, with their number, size and reasons."""
    scan = survey.scan
    assert scan
    changed = scan.changed_units
    new = sum(path not in known_units for path in changed)
    size = sum(scan.units[path].size for path in changed)
    text = sum(text_bytes({Path(path).suffix: scan.units[path].size}) for path in changed)
    counts = new, len(changed) - new, 0 if survey.retain else len(scan.missing_units)
    why = Counter(scan.reasons.values())
    why["gone, its records stay"] = len(scan.missing_units) if survey.retain else 0
    return StaleUnits(survey.source, *counts, size, int(text), dict(sorted((+why).items())))


def _problems(surveys: Iterable[SourceState]) -> list[str]:
    """What prevents a sync, each problem once with the names of its sources."""
    names: dict[str, list[str]] = {}
    for survey in surveys:
        if survey.problem:
            names.setdefault(survey.problem, []).append(survey.source)
    return [f"{', '.join(sources)}: {problem}" for problem, sources in names.items()]


def build_plan(workspace: Workspace) -> Plan:
    """The plan for an archive as it is now."""
    surveys = [inspect_source(workspace, source) for source in workspace.settings.sources]
    known_units = {survey.source: set(survey.scan.known_units) for survey in surveys if survey.scan}
    published, current_hash = (
        generations.current_manifest(workspace.home).get("inputs"),
        expected_inputs_hash(workspace, surveys),
    )
    changing = {month.source for month in stale_months(surveys) if month.stage == "chunks"}
    graphs = graph_index_plan.stale(
        workspace, {survey.source: survey.manifests["chunks"] for survey in surveys}, changing
    )
    search_again = workspace.settings.pii_redaction_enabled and searched_values.is_unfinished(workspace.home)
    archive = inspect_archive(workspace)
    servers = {source.name: source.host for source in _active_sources(workspace) if source.is_fetched}
    todo = plan(surveys, known_units, published, current_hash, archive, graphs, search_again=search_again)
    return replace(todo, servers=servers, zips=_sources_with_zips(workspace))


def _active_sources(workspace: Workspace) -> list[Source]:
    """The sources that are not paused."""
    return [source for source in workspace.settings.sources if not source.paused]


def _sources_with_zips(workspace: Workspace) -> tuple[str, ...]:
    """The sources with zips that were added, changed or removed."""
    opening = [source for source in _active_sources(workspace) if source.open_zips]
    return tuple(source.name for source in opening if unpacking.is_due(workspace, source))


def required_for_publish(workspace: Workspace, todo: Plan) -> Plan:
    """The part of the plan that the next generation depends on.

    The first does not wait for vectors, which take long or may fail: until they are there it is searched by words.
    """
    first = generations.current_number(workspace.home) is None
    return todo.drop_stage("embeddings") if first and embedders.model(workspace.settings) else todo


def embedding_model(workspace: Workspace, surveys: Iterable[SourceState]) -> embedders.ModelInfo | None:
    """The model of the lake's vectors; None where there are none, or not yet all."""
    model, surveys = embedders.model(workspace.settings), list(surveys)
    if model is None or not any(entry.rows for survey in surveys for entry in survey.manifests["embeddings"].values()):
        return None
    return None if any(month.stage == "embeddings" for month in stale_months(surveys)) else model


def stale_months(surveys: Iterable[SourceState]) -> list[StaleMonth]:
    """Every month of every stage that is not up to date with the private records and settings, in order."""
    return sorted(entry for survey in surveys if not survey.was_interrupted for entry in _stale_months_of(survey))


def stale_stages(
    archive: ArchiveState, surveys: Iterable[SourceState], stale: Iterable[StaleMonth]
) -> list[StaleStage]:
    """Every stage over the whole archive that isn't up to date with the months and its settings, in order.

    A stage is stale too if one of its inputs is.
    """
    changing = {stage.table for stage in STAGES if stage.name in {month.stage for month in stale}}
    months, made_from = (
        {survey.source: survey.manifests for survey in surveys},
        whole_archive.monthly_inputs(archive.stages),
    )
    remade: set[str] = set()
    stale_list = []
    for stage in archive.stages:
        above = [table for table in stage.inputs if table in changing | remade]
        own = _stage_difference(archive, stage, months)
        if reason := f"{plan_model.rows_of(above[0])} change" if above and own != plan_model.NEW else own:
            waits = bool(made_from[stage.name] & changing)
            stale_list.append(StaleStage(stage.name, reason, stage.tables, tuple(sorted(made_from[stage.name])), waits))
            remade |= {*stage.tables}
    return stale_list


def _stage_difference(archive: ArchiveState, stage: ArchiveStage, months: MonthlyManifests) -> str:
    """Why the tables of a stage differ from what their inputs give, which are up to date; empty where they do not."""
    settings = archive.settings[stage.name]
    expected = whole_archive.expected_fingerprint(stage, months, archive.entries, settings)
    for entry in (archive.entries[table] for table in stage.tables):
        if entry is None:
            return plan_model.NEW
        if entry.stamp != expected:
            return _difference(entry, expected, f"what {stage.name} is made from changed")
    return ""


def expected_inputs_hash(workspace: Workspace, surveys: Iterable[SourceState]) -> str:
    """Hash of all that a generation is made from, in the order of relrag.toml."""
    surveys = list(surveys)
    tables = [
        [survey.source, [[table, month_outputs(survey.manifests[table])] for table in PUBLISHED_TABLES]]
        for survey in surveys
    ]
    failures = [
        [source.name, fingerprint([repr(failure) for failure in unit_state.load_failures(workspace.home, source.name)])]
        for source in workspace.settings.sources
    ]
    whole = [
        [table, entry.output if (entry := archive_tables.entry(workspace.home, table)) else ""] for table in PUBLISHED
    ]
    # a generation without vectors is replaced once all are there, even where the last months have none
    embedder = [model.name] if (model := embedding_model(workspace, surveys)) else []
    return fingerprint([publish_settings(workspace), tables, failures, *embedder, *whole])


def month_inputs(workspace: Workspace, surveys: Iterable[SourceState]) -> dict[str, str]:
    """Hash of each month that has rows and of its people, by <source>/<YYYY-MM>; failures apart."""
    outputs_by_month: dict[str, list[list[str]]] = {}
    people = dict[str, str]()
    if archive_tables.entry(workspace.home, "person_months"):
        months = archive_tables.read(workspace.home, "person_months")
        people = dict(zip(months["lake_month"].to_pylist(), months["people"].to_pylist(), strict=True))
    for survey in surveys:
        for table in PUBLISHED_TABLES[:-1]:
            for month, output in month_outputs(survey.manifests[table]):
                outputs_by_month.setdefault(f"{survey.source}/{month}", []).append([table, output])
    return {month: fingerprint([*outputs, people.get(month)]) for month, outputs in sorted(outputs_by_month.items())}


def publish_settings(workspace: Workspace) -> str:
    """Hash of what decides, beside the lake, how a generation is built."""
    settings = workspace.settings
    names = [source.name for source in settings.sources]
    relations = [settings.link_max_records, [repr(word) for word in manual_links.load(workspace.home)]]
    server: list[str | int] = [settings.qdrant_url, settings.qdrant_quantization] if settings.qdrant_url else []
    cluster = [settings.qdrant_shards, settings.qdrant_replicas]
    server += cluster if server and cluster != [1, 1] else []
    # also where no record was forgotten: what the owner had said of somebody stands in generations as well
    forgotten = [last] if (last := rule_file.load(workspace.home).last) else []
    made_by = [SCHEMA_VERSION, PUBLISH_VERSION, analyzer.VERSION, policy_hash(workspace)]
    return fingerprint([*made_by, names, relations, *server, *forgotten])


def _stale_months_of(survey: SourceState) -> list[StaleMonth]:
    stale_list: list[StaleMonth] = []
    remade: set[tuple[str, str]] = set()
    for stage in STAGES:
        upstream, entries = [survey.manifests[table] for table in stage.inputs], survey.manifests[stage.table]
        months = sorted(
            {month for table in (*upstream, entries) for month in table} | _months_to_rebuild(remade, stage)
        )
        for month in months:
            if reason := _stale_reason(survey, stage, month, upstream, entries, remade):
                stale_list.append(StaleMonth(survey.source, month, stage.name, reason))
                remade.add((stage.table, month))
    return stale_list


def _months_to_rebuild(remade: set[tuple[str, str]], stage: Stage) -> set[str]:
    return {month for table, month in remade if table in stage.inputs}


def _stale_reason(
    survey: SourceState,
    stage: Stage,
    month: str,
    upstream: list[Manifest],
    entries: Manifest,
    remade: set[tuple[str, str]],
) -> str:
    entry = entries.get(month)
    above = [table for table in stage.inputs if (table, month) in remade]
    if above:
        return above[0] + FOLLOWS
    if any(month not in manifest for manifest in upstream):
        return "its records are gone" if entry else ""
    if entry is None:
        return plan_model.NEW
    inputs = fingerprint(input_hashes(stage, month, upstream, survey.version_orders))
    expected = InputFingerprint(inputs, stage.version, survey.settings[stage.name])
    return _difference(entry, expected, f"{plan_model.rows_of(stage.inputs[0])} changed")


def _difference(entry: ManifestEntry, expected: InputFingerprint, inputs: str) -> str:
    """Why something has to be made again; `inputs` says that they differ. Empty if it is up to date."""
    if entry.version != expected.version:
        return f"made by version {entry.version} of the stage, now {expected.version}"
    if entry.settings != expected.settings:
        names = changed_settings(entry.settings, expected.settings)
        return "what is found as personal data changed" if RECOGNISERS in names else describe_changes(names)
    return inputs if entry.input != expected.input else ""
