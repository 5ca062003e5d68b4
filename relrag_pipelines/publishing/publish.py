"""Builds and publishes a generation: the catalog, the vectors, the seal. The current one is read until then.

A month that is not up to date is refused: it could hold text redacted under an older policy.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from relrag_pipelines.erasure import purge, rule_file
from relrag_pipelines.files.atomic import link
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.journal import journal
from relrag_pipelines.pii.known_values import NO_VALUES, KnownValues
from relrag_pipelines.publishing import build_info, centred_vectors, disk_space, inputs, lake_bucket
from relrag_pipelines.publishing.withholding import LeakSearch
from relrag_pipelines.publishing.withholding_report import WithholdingReport
from relrag_pipelines.records import SCHEMA_VERSION, TABLES
from relrag_pipelines.settings import default_embedder, now
from relrag_pipelines.stages import answer_pruning, graph_vectors, redaction_check, redaction_policy
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.plan_model import Plan, SourceState
from relrag_pipelines.stores import (
    archive_tables,
    catalog,
    catalog_build,
    generations,
    graph_indexes,
    lake,
    vector_pruning,
    vector_store,
)
from relrag_pipelines.stores.generations import Generation, GenerationError
from relrag_pipelines.stores.retired_generations import VECTORS
from relrag_pipelines.stores.vectors.collection_ref import CollectionRef
from relrag_pipelines.workspace import Workspace

CATALOG = catalog.NAME
_INPUTS = "INPUTS"
"""file in the build folder, written last: the hash of the inputs"""
_MAX_CHANGED_RATIO = 5
"""an incremental build changes at most 1 record in this many"""


def build_searched(workspace: Workspace) -> tuple[dict[str, int], WithholdingReport]:
    """Searches the lake for replaced values, builds a generation and searches that. The caller holds the writer's lock.

    Returns the counts of `build`, and a report of the rows left out. Raises GenerationError as `build` does, VaultError
    if the values cannot be read, and SafeError if the disk has too little room.
    """
    purge.resume(workspace)
    lake.sweep(workspace.home)
    archive_tables.sweep(workspace.home)
    disk_space.require_vector_space(workspace.settings)
    start = time.monotonic()
    search = LeakSearch(workspace)
    search.clean_lake()
    search.report.seconds = time.monotonic() - start
    counts = build(workspace, search)
    start = time.monotonic()
    search.scan_build()
    search.report.seconds += time.monotonic() - start
    return counts, search.report


def build(workspace: Workspace, search: LeakSearch | None = None) -> dict[str, int]:
    """Builds the catalog and the vectors of a generation; returns rows by table, and `points`.

    `search` has already searched the inputs for replaced values.

    If little has changed since the last full build, the catalog is a layer on top of that one, and the vectors are a
    copy of the newest with the changes applied. Otherwise, and after any deletion, both are built in full. The first
    generation does not wait for dense vectors: until they exist, it is searched by words.
    Raises GenerationError if a month of the lake or a table of the whole archive is not up to date.
    """
    redaction_check.require_checked(workspace)
    surveys = [plans.inspect_source(workspace, source) for source in workspace.settings.sources]
    _require_up_to_date(workspace, surveys)
    inputs_hash, months = plans.expected_inputs_hash(workspace, surveys), plans.month_inputs(workspace, surveys)
    model = plans.embedding_model(workspace, surveys)
    info = {
        "settings": plans.publish_settings(workspace),
        "embedder": model.name if model else "",
        "dimension": model.dimension if model else 0,
        "spans": bool(model and model.spans),
        "months": months,
        "journal": journal.last_number(workspace.home),
        "scanned": search.marks() if search else {},
    }
    values = search.known_values if search else NO_VALUES
    counts = _build_incremental(workspace, info, values)
    if not counts:
        info["means"] = centred_vectors.language_means(workspace, model) if model else {}
        try:
            counts = _build_full(workspace, info, values)
        except BrokenExecutor:  # the system ended the process that fills the vectors
            counts = _build_full(workspace, info, values)
    failpoint("publish.inputs", generations.build_folder(workspace.home) / _INPUTS)
    (generations.build_folder(workspace.home) / _INPUTS).write_text(inputs_hash)
    return counts


def _require_up_to_date(workspace: Workspace, surveys: Sequence[SourceState]) -> None:
    months = plans.stale_months(surveys)
    outdated = Plan(stale=months, archive=plans.stale_stages(plans.inspect_archive(workspace), surveys, months))
    if generations.current_number(workspace.home) is None:
        outdated = outdated.drop_stage("embeddings")
    if outdated.stale:
        first = outdated.stale[0]
        raise GenerationError(
            f"{len(outdated.stale)} months are not up to date, the first is {first.source}/{first.stage} {first.month} "
            f"({first.reason}); run `relrag sync`"
        )
    if outdated.archive:
        stages = ", ".join(f"{stage.stage} ({stage.reason})" for stage in outdated.archive)
        raise GenerationError(f"not up to date: {stages}; run `relrag sync`")


def _build_full(workspace: Workspace, info: dict[str, Any], values: KnownValues) -> dict[str, int]:
    folder, points = _begin(workspace), []

    def index(batches: Iterator[pa.RecordBatch], _: Sequence[str]) -> None:
        batches = centred_vectors.centre_batches(batches, info["means"], info["dimension"])
        shape = info["dimension"], info["spans"]
        if target := _collection(workspace):
            points.append(vector_store.build(folder / VECTORS, batches, workspace.each, *shape, target))
            return
        with workspace.dedicated_worker() as (executor, workers):
            points.append(vector_store.build(folder / VECTORS, batches, workers.each, *shape, executor=executor))

    parts = inputs.month_files(workspace, folder, set(info["months"]), bool(info["embedder"]), values)
    counts = catalog_build.build(
        folder / CATALOG,
        parts,
        at=now(),
        previous=_current_catalog(workspace),
        index=index,
        **inputs.other_inputs(workspace),
    )
    totals = {**counts, "points": points[0]}
    _finish_build_info(folder, {**info, "base": info["months"], "holds": totals})
    return totals


def _build_incremental(workspace: Workspace, info: dict[str, Any], values: KnownValues) -> dict[str, int] | None:
    """Builds on top of the newest full build; None if that is impossible or would not save work."""
    previous = _current_catalog(workspace)
    base_info = build_info.read(previous.parent) if previous else {}
    replaced = _changed_months(workspace, info, base_info) if previous else None
    if not previous or replaced is None or vector_store.missing_parts(previous.with_name(VECTORS)):
        return None
    folder, points = _begin(workspace), []
    number = generations.next_number(workspace.home)
    info = {**info, "means": base_info["means"], "lacks_nothing_of": generations.current_number(workspace.home)}
    base = previous.with_name(catalog.BASE)
    link(base if base.exists() else previous, folder / catalog.BASE)

    def index(batches: Iterator[pa.RecordBatch], removed_ids: Sequence[str]) -> None:
        base_vectors, new_vectors = previous.with_name(VECTORS), folder / VECTORS
        batches = centred_vectors.centre_batches(batches, info["means"], info["dimension"])
        points.append(vector_store.extend(base_vectors, new_vectors, batches, removed_ids, workspace.each, number))

    parts = inputs.month_files(workspace, folder, set(replaced), bool(info["embedder"]), values)
    try:
        counts = catalog_build.build(
            folder / CATALOG,
            parts,
            at=now(),
            previous=previous,
            replaced=replaced,
            index=index,
            refuse_removal=True,
            **inputs.other_inputs(workspace),
        )
    except catalog_build.RemovedRecordsError:
        # deleted records would stay in the base and in the vector files
        return None
    except (catalog_build.SharedRecordsError, duckdb.OutOfMemoryException):
        # a join with the whole base may take more memory than a full build, month by month
        return None
    totals = {**counts, "points": points[0]}
    _finish_build_info(folder, {**info, "base": base_info["base"], "holds": totals})
    return totals


def _changed_months(workspace: Workspace, info: Mapping[str, Any], base_info: Mapping[str, Any]) -> list[str] | None:
    """The months that differ from the base; None if its settings differ, or too many months do."""
    if any(base_info.get(name) != info[name] for name in ("settings", "embedder", "dimension", "spans")):
        return None
    months, base = info["months"], base_info["base"]
    replaced = sorted(month for month in months.keys() | base if months.get(month) != base.get(month))
    too_many = inputs.record_count(workspace, replaced) * _MAX_CHANGED_RATIO > inputs.record_count(workspace, months)
    return None if too_many else replaced


def publish(workspace: Workspace) -> tuple[Generation, list[int]]:
    """Checks the build and makes it the current generation; returns it and the numbers of the removed generations.

    The lake goes into its bucket first, if it has one: LakeError or ObjectStoreError where that fails. What forgets
    does not wait for a bucket: the old generation would stay. Its caller commits the lake afterwards.
    """
    folder = generations.build_folder(workspace.home)
    if not (folder / _INPUTS).exists():
        raise GenerationError("nothing has been built; materialise duckdb_catalog and qdrant_points first")
    surveys = [plans.inspect_source(workspace, source) for source in workspace.settings.sources]
    inputs_hash = plans.expected_inputs_hash(workspace, surveys)
    if (folder / _INPUTS).read_text() != inputs_hash:
        raise GenerationError("the lake has changed since the catalog was built; run `relrag sync`")
    counts = validate_build(folder)
    deleted = _count_deleted(workspace, folder)
    policy = redaction_policy.policy_hash(workspace)
    former = generations.current_manifest(workspace.home)
    # a generation of an older schema cannot be compared: any of its records may have been deleted
    incomparable = (
        policy != former.get("policy", policy) or former.get("schema_version", SCHEMA_VERSION) < generations.OLDEST
    )
    info, last_rule = build_info.read(folder), rule_file.load(workspace.home).last
    # deleted and forgotten records, and text of another policy, must not stay in older generations or vectors
    forget = bool(deleted) or incomparable or last_rule > former.get("forgotten", 0)
    if not forget:
        lake_bucket.commit(workspace)  # before anybody reads what is made of it
    failpoint("publish.seal", folder)
    (folder / _INPUTS).unlink()
    manifest = {
        "inputs": inputs_hash,
        "policy": policy,
        "embedder": info["embedder"],
        "means": info["means"],
        "journal": info["journal"],
        "default_embedder": default_embedder(workspace.home),
        "counts": {**counts, "deleted": deleted},
        "forgotten": last_rule,
    }
    if collection := vector_store.collection(folder / VECTORS):
        manifest["collection"] = collection.name
    if forget:
        _prune(workspace)
    inherited = _inherited_hashes(workspace, folder)
    generation = generations.finish(workspace.home, manifest, now(), forget=forget, carried=inherited)
    return generation, generations.sweep(workspace.home, workspace.settings.keep_generations)


def _count_deleted(workspace: Workspace, folder: Path) -> int:
    """How many records and failures of the current generation the built one lacks.

    An incremental build is refused where anything is gone, so only full builds are compared.
    """
    if build_info.read(folder).get("lacks_nothing_of") == generations.current_number(workspace.home):
        return 0
    return catalog.count_removed(folder / CATALOG, _current_catalog(workspace))


def _prune(workspace: Workspace) -> None:
    """Removes what only records had that are gone: vectors, GraphRAG indexes, answers of language models."""
    vector_pruning.prune_vectors(workspace.home, graph_vectors.hashes_to_keep(workspace.home))
    graph_indexes.drop(workspace.home)  # each is rebuilt later from the remaining records
    answer_pruning.prune_answers(workspace.home)


def validate_build(folder: Path) -> dict[str, int]:
    """The counts of a build, taken when its parts were written; GenerationError if its parts are inconsistent."""
    counts: dict[str, int] | None = build_info.read(folder).get("holds")
    if counts is None:
        raise GenerationError("what was built is of an older version, or damaged; run `relrag sync`")
    mismatches = {name: count for name, count in catalog.count_dangling(folder / CATALOG).items() if count}
    if counts["points"] != counts["chunks"]:
        mismatches["points"] = counts["points"]
    if mismatches:
        raise GenerationError(f"the new generation does not fit together: {mismatches}, with {counts['chunks']} chunks")
    return counts


def _begin(workspace: Workspace) -> Path:
    """Creates the folder of the next generation and links the tables that it holds as files."""
    folder = generations.begin(workspace.home)
    for table in archive_tables.PUBLISHED:
        if archive_tables.AS_FILE in TABLES[table].place.split(", "):
            source = archive_tables.path(workspace.home, table)
            if source.exists():  # a first generation does not wait for tables made from vectors
                link(source, folder / f"{table}.parquet")
    return folder


def _collection(workspace: Workspace) -> CollectionRef | None:
    """A new collection for the next generation; None if the vectors stay in its folder.

    Its name is unique: two archives of the same name, or a copy of one, may share a server.
    """
    settings = workspace.settings
    if not settings.qdrant_url:
        return None
    number = generations.next_number(workspace.home)
    name = f"relrag-{settings.archive}-{number}-{secrets.token_hex(4)}"
    return CollectionRef(
        settings.qdrant_url,
        name,
        number,
        quantization=settings.qdrant_quantization,
        shards=settings.qdrant_shards,
        replicas=settings.qdrant_replicas,
    )


def _finish_build_info(folder: Path, info: dict[str, Any]) -> None:
    """Writes what the generation was built from, and removes the files that only the catalog needed."""
    build_info.write(folder, info)
    for path in folder.glob("failures-*.parquet"):
        path.unlink()


def _inherited_hashes(workspace: Workspace, folder: Path) -> dict[str, dict[str, Any]]:
    """The manifest entries of files shared with the previous generation, whose hashes are known."""
    if not (folder / catalog.BASE).exists():
        return {}
    files = generations.current_manifest(workspace.home)["files"]
    return {catalog.BASE: files.get(catalog.BASE) or files[CATALOG]}


def _current_catalog(workspace: Workspace) -> Path | None:
    """The catalog of the current generation; None if there is none or its schema is too old."""
    number = generations.current_number(workspace.home)
    if generations.current_manifest(workspace.home).get("schema_version", 0) < generations.OLDEST:
        return None
    path = workspace.home / "published" / str(number) / CATALOG
    return path if path.exists() else None
