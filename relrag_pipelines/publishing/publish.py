"""From the lake to a published generation: the catalog, the vectors, the seal. Each step is built beside what is read.

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
from relrag_pipelines.publishing import build_info, centred_vectors, disk_space, inputs
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
    vectors,
)
from relrag_pipelines.stores.generations import Generation, GenerationError
from relrag_pipelines.stores.retired_generations import VECTORS
from relrag_pipelines.workspace import Workspace

CATALOG = catalog.NAME
_INPUTS = "INPUTS"
"""in the folder being built, written last: hash of what it was built from"""
_SHARE = 5
"""not more than one in so many records may lie on top of a base"""


def build_searched(workspace: Workspace) -> tuple[dict[str, int], WithholdingReport]:
    """Searches the lake for values that were replaced, builds a generation and searches that; whoever writes calls it.

    Returns what `build` returns, and what was left out. Raises what `build` raises, and VaultError, and SafeError where
    the disk has no room.
    """
    purge.resume(workspace)
    lake.sweep(workspace.home)
    archive_tables.sweep(workspace.home)
    disk_space.require_vector_space(workspace.settings)
    begun = time.monotonic()
    search = LeakSearch(workspace)
    search.clean_lake()
    search.found.seconds = time.monotonic() - begun
    counts = build(workspace, search)
    begun = time.monotonic()
    search.look_at_build()
    search.found.seconds += time.monotonic() - begun
    return counts, search.found


def build(workspace: Workspace, search: LeakSearch | None = None) -> dict[str, int]:
    """Begins a generation with its catalog and its vectors; returns rows by table, and `points`.

    `search` has gone through what it is built from, for values that were replaced.

    Where little has changed since the last generation that was built whole, the catalog lies on top of that one and
    the vectors are a copy of the newest ones with what differs; else, and whenever something is deleted, both are
    built anew. The first generation need not wait for dense vectors: it is searched by words until they are there.
    Raises GenerationError where a month of the lake, or a table of the whole archive, is not up to date.
    """
    redaction_check.require_checked(workspace)
    surveys = [plans.inspect_source(workspace, source) for source in workspace.settings.sources]
    _require_up_to_date(workspace, surveys)
    wanted, months = plans.expected_inputs_hash(workspace, surveys), plans.month_inputs(workspace, surveys)
    model = plans.embedding_model(workspace, surveys)
    about = {
        "settings": plans.publish_settings(workspace),
        "embedder": model.name if model else "",
        "dimension": model.dimension if model else 0,
        "spans": bool(model and model.spans),
        "months": months,
        "journal": journal.last_number(workspace.home),
        "scanned": search.marks() if search else {},
    }
    known = search.known_values if search else NO_VALUES
    counts = _build_incremental(workspace, about, known)
    if not counts:
        about["means"] = centred_vectors.language_means(workspace, model) if model else {}
        try:
            counts = _build_full(workspace, about, known)
        except BrokenExecutor:  # the system ended the process that fills the vectors
            counts = _build_full(workspace, about, known)
    failpoint("publish.inputs", generations.build_folder(workspace.home) / _INPUTS)
    (generations.build_folder(workspace.home) / _INPUTS).write_text(wanted)
    return counts


def _require_up_to_date(workspace: Workspace, surveys: Sequence[SourceState]) -> None:
    months = plans.stale_months(surveys)
    todo = Plan(stale=months, archive=plans.stale_stages(plans.inspect_archive(workspace), surveys, months))
    if generations.current_number(workspace.home) is None:
        todo = todo.drop_stage("embeddings")
    if todo.stale:
        first = todo.stale[0]
        raise GenerationError(
            f"{len(todo.stale)} months are not up to date, the first is {first.source}/{first.stage} {first.month} "
            f"({first.reason}); run `relrag sync`"
        )
    if todo.archive:
        named = ", ".join(f"{one.stage} ({one.reason})" for one in todo.archive)
        raise GenerationError(f"not up to date: {named}; run `relrag sync`")


def _build_full(workspace: Workspace, about: dict[str, Any], known: KnownValues) -> dict[str, int]:
    place, points = _begin(workspace), []

    def index(batches: Iterator[pa.RecordBatch], _: Sequence[str]) -> None:
        batches = centred_vectors.centre_batches(batches, about["means"], about["dimension"])
        shape = about["dimension"], about["spans"]
        if target := _collection(workspace):
            points.append(vectors.build(place / VECTORS, batches, workspace.each, *shape, target))
            return
        with workspace.dedicated_worker() as (beside, others):
            points.append(vectors.build(place / VECTORS, batches, others.each, *shape, executor=beside))

    parts = inputs.month_files(workspace, place, set(about["months"]), bool(about["embedder"]), known)
    counts = catalog_build.build(
        place / CATALOG,
        parts,
        at=now(),
        previous=_current_catalog(workspace),
        index=index,
        **inputs.beside_months(workspace),
    )
    held = {**counts, "points": points[0]}
    _finish_build_info(place, {**about, "base": about["months"], "holds": held})
    return held


def _build_incremental(workspace: Workspace, about: dict[str, Any], known: KnownValues) -> dict[str, int] | None:
    """The same on top of the newest generation built whole; None where that cannot be or would not pay."""
    previous = _current_catalog(workspace)
    below = build_info.read(previous.parent) if previous else {}
    replaced = _changed_months(workspace, about, below) if previous else None
    if not previous or replaced is None or vectors.missing_parts(previous.with_name(VECTORS)):
        return None
    place, points = _begin(workspace), []
    number = generations.next_number(workspace.home)
    about = {**about, "means": below["means"]}
    base = previous.with_name(catalog.BASE)
    link(base if base.exists() else previous, place / catalog.BASE)

    def index(batches: Iterator[pa.RecordBatch], gone: Sequence[str]) -> None:
        below, above = previous.with_name(VECTORS), place / VECTORS
        batches = centred_vectors.centre_batches(batches, about["means"], about["dimension"])
        points.append(vectors.extend(below, above, batches, gone, workspace.each, number))

    parts = inputs.month_files(workspace, place, set(replaced), bool(about["embedder"]), known)
    try:
        counts = catalog_build.build(
            place / CATALOG,
            parts,
            at=now(),
            previous=previous,
            replaced=replaced,
            index=index,
            refuse_removal=True,
            **inputs.beside_months(workspace),
        )
    except catalog_build.RemovedRecordsError:
        # what was deleted would stay in the base and in the files of the vectors
        return None
    except (catalog_build.SharedRecordsError, duckdb.OutOfMemoryException):
        # what is joined with all of the base may take more than building anew, month by month
        return None
    held = {**counts, "points": points[0]}
    _finish_build_info(place, {**about, "base": below["base"], "holds": held})
    return held


def _changed_months(workspace: Workspace, about: Mapping[str, Any], below: Mapping[str, Any]) -> list[str] | None:
    """The months that differ from a base; None where it was made otherwise, or so many differ that it would not pay."""
    if any(below.get(name) != about[name] for name in ("settings", "embedder", "dimension", "spans")):
        return None
    months, base = about["months"], below["base"]
    replaced = sorted(month for month in months.keys() | base if months.get(month) != base.get(month))
    too_many = inputs.record_count(workspace, replaced) * _SHARE > inputs.record_count(workspace, months)
    return None if too_many else replaced


def publish(workspace: Workspace) -> tuple[Generation, list[int]]:
    """Checks what was built and makes it the current generation; returns it and the numbers of those removed."""
    place = generations.build_folder(workspace.home)
    if not (place / _INPUTS).exists():
        raise GenerationError("nothing has been built; materialise duckdb_catalog and qdrant_points first")
    surveys = [plans.inspect_source(workspace, source) for source in workspace.settings.sources]
    made_from = plans.expected_inputs_hash(workspace, surveys)
    if (place / _INPUTS).read_text() != made_from:
        raise GenerationError("the lake has changed since the catalog was built; run `relrag sync`")
    counts = validate_build(place)
    deleted = catalog.count_removed(place / CATALOG, _current_catalog(workspace))
    policy = redaction_policy.policy_hash(workspace)
    failpoint("publish.seal", place)
    before = generations.current_manifest(workspace.home)
    # one of an older schema cannot be compared with, so whatever it holds may have been deleted
    apart = policy != before.get("policy", policy) or before.get("schema_version", SCHEMA_VERSION) < generations.OLDEST
    (place / _INPUTS).unlink()
    forgotten = rule_file.load(workspace.home).last
    built = build_info.read(place)
    about = {
        "inputs": made_from,
        "policy": policy,
        "embedder": built["embedder"],
        "means": built["means"],
        "journal": built["journal"],
        "default_embedder": default_embedder(workspace.home),
        "counts": {**counts, "deleted": deleted},
        "forgotten": forgotten,
    }
    if there := vectors.collection(place / VECTORS):
        about["collection"] = there.name
    # what was deleted or forgotten, or what another policy let through, may stay in no older generation or vector
    forget = bool(deleted) or apart or forgotten > before.get("forgotten", 0)
    if forget:
        vector_pruning.prune_vectors(workspace.home, graph_vectors.hashes_to_keep(workspace.home))
        graph_indexes.drop(workspace.home)  # each is made again after this, from what is left
        answer_pruning.prune_answers(workspace.home)
    carried = _inherited_hashes(workspace, place)
    sealed = generations.finish(workspace.home, about, now(), forget=forget, carried=carried)
    return sealed, generations.sweep(workspace.home, workspace.settings.keep_generations)


def validate_build(place: Path) -> dict[str, int]:
    """What a generation holds, counted when its parts were written; GenerationError where they do not fit together."""
    counts: dict[str, int] | None = build_info.read(place).get("holds")
    if counts is None:
        raise GenerationError("what was built is of an older version, or damaged; run `relrag sync`")
    wrong = {name: count for name, count in catalog.count_dangling(place / CATALOG).items() if count}
    if counts["points"] != counts["chunks"]:
        wrong["points"] = counts["points"]
    if wrong:
        raise GenerationError(f"the new generation does not fit together: {wrong}, with {counts['chunks']} chunks")
    return counts


def _begin(workspace: Workspace) -> Path:
    """The folder of the next generation, with the tables of the whole archive that lie in it as files."""
    place = generations.begin(workspace.home)
    for table in archive_tables.PUBLISHED:
        if archive_tables.AS_FILE in TABLES[table].place.split(", "):
            source = archive_tables.path(workspace.home, table)
            if source.exists():  # a first generation does not wait for what is made from vectors
                link(source, place / f"{table}.parquet")
    return place


def _collection(workspace: Workspace) -> vectors.CollectionRef | None:
    """A new collection for the next generation; None where the vectors stay in its folder.

    Its name is used by nobody else: two archives of one name, or a copy of one, may share a server.
    """
    settings = workspace.settings
    if not settings.qdrant_url:
        return None
    number = generations.next_number(workspace.home)
    name = f"relrag-{settings.archive}-{number}-{secrets.token_hex(4)}"
    return vectors.CollectionRef(settings.qdrant_url, name, number, quantization=settings.qdrant_quantization)


def _finish_build_info(place: Path, about: dict[str, Any]) -> None:
    """What the generation was built from, and at the end what was written for the catalog alone."""
    build_info.write(place, about)
    for left in place.glob("failures-*.parquet"):
        left.unlink()


def _inherited_hashes(workspace: Workspace, place: Path) -> dict[str, dict[str, Any]]:
    """The entries of files that are those of the generation before, whose hashes are known."""
    if not (place / catalog.BASE).exists():
        return {}
    files = generations.current_manifest(workspace.home)["files"]
    return {catalog.BASE: files.get(catalog.BASE) or files[CATALOG]}


def _current_catalog(workspace: Workspace) -> Path | None:
    """The catalog to compare with: the current one, if it has the shape of today."""
    number = generations.current_number(workspace.home)
    if generations.current_manifest(workspace.home).get("schema_version", 0) < generations.OLDEST:
        return None
    path = workspace.home / "published" / str(number) / CATALOG
    return path if path.exists() else None
