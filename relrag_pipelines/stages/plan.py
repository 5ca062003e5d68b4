"""What a sync would do, and why: decided in this one place, without Dagster.

`inspect_source` reads what is there, `plan` is a pure function of it. A month of a stage is stale when its input, its
stage's version or the settings that matter to it differ from what its manifest entry says; what follows from a stale
month is stale with it. The same holds of a stage over the whole archive, whose input is all months of its tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from relrag_pipelines import embedders
from relrag_pipelines.erasure import rule_file
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
from relrag_pipelines.stages.month_stages import STAGES, Stage
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
    """Looks at the files and the manifests of a source; opens no unit."""
    scan, problem = None, ""
    known = unit_state.load(workspace.home, source.name)
    try:
        scan = SourceScan({}, (), ())
        if source.name not in rule_file.load(workspace.home).sources():
            scan = scan_source(workspace, source, known)
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
        any(state.reader == unit_state.UNFINISHED for state in known.values()),
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
    wanted: str,
    archive: ArchiveState | None = None,
    graphs: Iterable[StaleGraph] = (),
    *,
    search_again: bool = False,
) -> Plan:
    """What has to be done: a pure function of the current state.

    known_units are the paths read before, by source; published is the inputs' hash of the current generation (None
    when there is none), wanted the one that the lake gives now; graphs are the GraphRAG indexes that are stale.
    search_again: the last search for replaced values, which is part of publishing, was cut short.
    """
    surveys = list(surveys)
    exports = []
    for one in surveys:
        if one.scan and (one.scan.changed_units or one.scan.missing_units):
            new = sum(path not in known_units.get(one.source, set()) for path in one.scan.changed_units)
            size = sum(one.scan.units[path].size for path in one.scan.changed_units)
            text = sum(text_bytes({Path(path).suffix: one.scan.units[path].size}) for path in one.scan.changed_units)
            counts = new, len(one.scan.changed_units) - new, 0 if one.retain else len(one.scan.missing_units)
            why = Counter(one.scan.reasons.values())
            why["gone, its records stay"] = len(one.scan.missing_units) if one.retain else 0
            exports.append(StaleUnits(one.source, *counts, size, int(text), dict(sorted((+why).items()))))
    stale = stale_months(surveys)
    tables = stale_stages(archive or ArchiveState(), surveys, stale)
    reason = ""
    if published is None:
        reason = "nothing is published yet"
    elif exports or stale or tables:
        reason = "what it is made from changes"
    elif published != wanted:
        reason = "what it was made from has changed"
    elif search_again:
        reason = "values that were replaced have to be looked for again"
    outdated = published != wanted or search_again
    made = {one.stage for one in tables}
    left = {} if archive is None else {stage: why for stage, why in archive.unfinished.items() if stage not in made}
    return Plan(exports, stale, reason, _problems(surveys), outdated, tables, list(graphs), left)


def _problems(surveys: Iterable[SourceState]) -> list[str]:
    """What prevents a sync, each problem once with the names of its sources."""
    names: dict[str, list[str]] = {}
    for one in surveys:
        if one.problem:
            names.setdefault(one.problem, []).append(one.source)
    return [f"{', '.join(sources)}: {problem}" for problem, sources in names.items()]


def build_plan(workspace: Workspace) -> Plan:
    """The plan for an archive as it is now."""
    surveys = [inspect_source(workspace, source) for source in workspace.settings.sources]
    known = {one.source: set(one.scan.known_units) for one in surveys if one.scan}
    published, wanted = (
        generations.current_manifest(workspace.home).get("inputs"),
        expected_inputs_hash(workspace, surveys),
    )
    changing = {one.source for one in stale_months(surveys) if one.stage == "chunks"}
    graphs = graph_index_plan.stale(workspace, {one.source: one.manifests["chunks"] for one in surveys}, changing)
    again = workspace.settings.pii_redaction_enabled and searched_values.is_unfinished(workspace.home)
    archive = inspect_archive(workspace)
    return plan(surveys, known, published, wanted, archive, graphs, search_again=again)


def required_for_publish(workspace: Workspace, todo: Plan) -> Plan:
    """The part of the plan that the next generation depends on.

    The first does not wait for vectors, which take long or may fail: until they are there it is searched by words.
    """
    first = generations.current_number(workspace.home) is None
    return todo.drop_stage("embeddings") if first and embedders.model(workspace.settings) else todo


def embedding_model(workspace: Workspace, surveys: Iterable[SourceState]) -> embedders.ModelInfo | None:
    """The model of the lake's vectors; None where there are none, or not yet all."""
    model, surveys = embedders.model(workspace.settings), list(surveys)
    if model is None or not any(entry.rows for one in surveys for entry in one.manifests["embeddings"].values()):
        return None
    return None if any(one.stage == "embeddings" for one in stale_months(surveys)) else model


def stale_months(surveys: Iterable[SourceState]) -> list[StaleMonth]:
    """Every month of every stage that is not up to date with the private records and settings, in order."""
    return sorted(entry for one in surveys if not one.was_interrupted for entry in _stale_months_of(one))


def stale_stages(
    archive: ArchiveState, surveys: Iterable[SourceState], stale: Iterable[StaleMonth]
) -> list[StaleStage]:
    """Every stage over the whole archive that is not up to date with the months and its settings, in order.

    What is made of a stale month, or of a table that is made again, is made again with it.
    """
    changing = {stage.table for stage in STAGES if stage.name in {one.stage for one in stale}}
    months, made_from = {one.source: one.manifests for one in surveys}, whole_archive.monthly_inputs(archive.stages)
    remade: set[str] = set()
    found = []
    for stage in archive.stages:
        above = [table for table in stage.inputs if table in changing | remade]
        own = _stage_difference(archive, stage, months)
        if reason := f"{plan_model.rows_of(above[0])} change" if above and own != plan_model.NEW else own:
            waits = bool(made_from[stage.name] & changing)
            found.append(StaleStage(stage.name, reason, stage.tables, tuple(sorted(made_from[stage.name])), waits))
            remade |= {*stage.tables}
    return found


def _stage_difference(archive: ArchiveState, stage: ArchiveStage, months: MonthlyManifests) -> str:
    """Why the tables of a stage differ from what their inputs give, which are up to date; empty where they do not."""
    settings = archive.settings[stage.name]
    wanted = whole_archive.expected_fingerprint(stage, months, archive.entries, settings)
    for entry in (archive.entries[table] for table in stage.tables):
        if entry is None:
            return plan_model.NEW
        if entry.stamp != wanted:
            return _difference(entry, wanted, f"what {stage.name} is made from changed")
    return ""


def expected_inputs_hash(workspace: Workspace, surveys: Iterable[SourceState]) -> str:
    """Hash of all that a generation is made from, in the order of relrag.toml."""
    surveys = list(surveys)
    tables = [
        [one.source, [[table, month_outputs(one.manifests[table])] for table in PUBLISHED_TABLES]] for one in surveys
    ]
    failures = [
        [source.name, fingerprint([repr(failure) for failure in unit_state.load_failures(workspace.home, source.name)])]
        for source in workspace.settings.sources
    ]
    whole = [
        [table, held.output if (held := archive_tables.entry(workspace.home, table)) else ""] for table in PUBLISHED
    ]
    # a generation without vectors is replaced once all are there, even where the last months have none
    embedder = [model.name] if (model := embedding_model(workspace, surveys)) else []
    return fingerprint([publish_settings(workspace), tables, failures, *embedder, *whole])


def month_inputs(workspace: Workspace, surveys: Iterable[SourceState]) -> dict[str, str]:
    """Hash of each month that has rows and of its people, by <source>/<YYYY-MM>; failures apart."""
    found: dict[str, list[list[str]]] = {}
    people = dict[str, str]()
    if archive_tables.entry(workspace.home, "person_months"):
        months = archive_tables.read(workspace.home, "person_months")
        people = dict(zip(months["lake_month"].to_pylist(), months["people"].to_pylist(), strict=True))
    for one in surveys:
        for table in PUBLISHED_TABLES[:-1]:
            for month, output in month_outputs(one.manifests[table]):
                found.setdefault(f"{one.source}/{month}", []).append([table, output])
    return {month: fingerprint([*outputs, people.get(month)]) for month, outputs in sorted(found.items())}


def publish_settings(workspace: Workspace) -> str:
    """Hash of what decides, beside the lake, how a generation is built."""
    settings = workspace.settings
    names = [source.name for source in settings.sources]
    relations = [settings.link_max_records, [repr(word) for word in manual_links.load(workspace.home)]]
    server = [settings.qdrant_url, settings.qdrant_quantization] if settings.qdrant_url else []
    # also where no record was forgotten: what the owner had said of somebody stands in generations as well
    forgotten = [last] if (last := rule_file.load(workspace.home).last) else []
    made_by = [SCHEMA_VERSION, PUBLISH_VERSION, analyzer.VERSION, policy_hash(workspace)]
    return fingerprint([*made_by, names, relations, *server, *forgotten])


def _stale_months_of(one: SourceState) -> list[StaleMonth]:
    found: list[StaleMonth] = []
    remade: set[tuple[str, str]] = set()
    for stage in STAGES:
        upstream, entries = [one.manifests[table] for table in stage.inputs], one.manifests[stage.table]
        months = sorted(
            {month for table in (*upstream, entries) for month in table} | _months_to_rebuild(remade, stage)
        )
        for month in months:
            if reason := _stale_reason(one, stage, month, upstream, entries, remade):
                found.append(StaleMonth(one.source, month, stage.name, reason))
                remade.add((stage.table, month))
    return found


def _months_to_rebuild(remade: set[tuple[str, str]], stage: Stage) -> set[str]:
    return {month for table, month in remade if table in stage.inputs}


def _stale_reason(
    one: SourceState,
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
    if any(month not in known for known in upstream):
        return "its records are gone" if entry else ""
    if entry is None:
        return plan_model.NEW
    inputs = fingerprint([known[month].output for known in upstream])
    wanted = InputFingerprint(inputs, stage.version, one.settings[stage.name])
    return _difference(entry, wanted, f"{plan_model.rows_of(stage.inputs[0])} changed")


def _difference(entry: ManifestEntry, wanted: InputFingerprint, inputs: str) -> str:
    """Why something has to be made again; `inputs` says that they differ. Empty if it is up to date."""
    if entry.version != wanted.version:
        return f"made by version {entry.version} of the stage, now {wanted.version}"
    if entry.settings != wanted.settings:
        names = changed_settings(entry.settings, wanted.settings)
        return "what is found as personal data changed" if RECOGNISERS in names else describe_changes(names)
    return inputs if entry.input != wanted.input else ""
