"""From the lake to a published generation: the catalog, the vectors, the seal. Each step is built beside what is read.

A month that is not up to date is refused: it could hold text redacted under an older policy.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq

from relrag_pipelines import embedders
from relrag_pipelines import plan as plans
from relrag_pipelines.embedders import passages
from relrag_pipelines.records import Failure, arrow_schema, to_table
from relrag_pipelines.settings import Source, now
from relrag_pipelines.stores import catalog, generations, lake, units, vectors
from relrag_pipelines.stores.generations import Generation, GenerationError
from relrag_pipelines.workspace import Workspace

CATALOG = catalog.NAME
VECTORS = "vectors"
_INPUTS = "INPUTS"
"""in the folder being built: hash of what the catalog was built from"""


def build_catalog(workspace: Workspace) -> dict[str, int]:
    """Begins a generation with its catalog; returns rows by table.

    The first generation need not wait for vectors: it is searched by words until they are there. Raises
    GenerationError where a month of the lake is not up to date.
    """
    surveys = [plans.survey(workspace, source) for source in workspace.settings.sources]
    first_ever = generations.current_number(workspace.home) is None
    stale = [one for one in plans.stale_months(surveys) if not (first_ever and one.stage == "embeddings")]
    if stale:
        first = stale[0]
        raise GenerationError(
            f"{len(stale)} months are not up to date, the first is {first.source}/{first.stage} {first.month} "
            f"({first.reason}); run `relrag sync`"
        )
    place = generations.begin(workspace.home)
    counts = catalog.build(place / CATALOG, _parts(workspace, place), at=now(), previous=_published(workspace))
    for left in place.glob("failures-*.parquet"):
        left.unlink()
    (place / _INPUTS).write_text(plans.wanted_inputs(workspace, surveys))
    return counts


def build_vectors(workspace: Workspace) -> int:
    """Indexes the chunks of the catalog that was just built; returns how many."""
    place = generations.building(workspace.home)
    if not (place / CATALOG).exists():
        raise GenerationError("no catalog has been built; materialise duckdb_catalog first, or run `relrag sync`")
    model = _embedded_with(workspace)
    if model is None:
        return vectors.build(place / VECTORS, catalog.batches(place / CATALOG))
    batches = catalog.batches(place / CATALOG, embeddings=_files(workspace, "embeddings"))
    return vectors.build(place / VECTORS, batches, model.dimension)


def publish(workspace: Workspace) -> tuple[Generation, list[int]]:
    """Checks what was built and makes it the current generation; returns it and the numbers of those removed."""
    place = generations.building(workspace.home)
    if not (place / CATALOG).exists() or not (place / VECTORS).is_dir():
        raise GenerationError("nothing has been built; materialise duckdb_catalog and qdrant_points first")
    surveys = [plans.survey(workspace, source) for source in workspace.settings.sources]
    inputs = plans.wanted_inputs(workspace, surveys)
    if (place / _INPUTS).read_text() != inputs:
        raise GenerationError("the lake has changed since the catalog was built; run `relrag sync`")
    counts = check(place)
    deleted = catalog.removed(place / CATALOG, _published(workspace))
    policy = plans.policy_hash(workspace)
    redacted_otherwise = policy != generations.published(workspace.home).get("policy", policy)
    (place / _INPUTS).unlink()
    model = _embedded_with(workspace)
    embedder = model.name if model else ""
    about = {"inputs": inputs, "policy": policy, "embedder": embedder, "counts": {**counts, "deleted": deleted}}
    if deleted:
        passages.forget(workspace.home)
    # neither what was deleted nor what another policy let through may stay readable in an older generation
    sealed = generations.finish(workspace.home, about, now(), forget=bool(deleted) or redacted_otherwise)
    return sealed, generations.sweep(workspace.home, workspace.settings.keep_generations)


def check(place: Path) -> dict[str, int]:
    """What a generation holds; GenerationError where its parts do not fit together."""
    wrong = {name: count for name, count in catalog.dangling(place / CATALOG).items() if count}
    counts = catalog.counts(place / CATALOG)
    with closing(vectors.open(place / VECTORS)) as store:
        points = store.count()
    if points != counts["chunks"]:
        wrong["points"] = points
    if wrong:
        raise GenerationError(f"the new generation does not fit together: {wrong}, with {counts['chunks']} chunks")
    return {**counts, "points": points}


def redacted_failures(workspace: Workspace, source: Source) -> list[Failure]:
    """What could not be read in a source, its paths redacted."""
    channel, redactor = workspace.channel(source), workspace.redactor
    return [
        Failure(
            redactor.redact(one.location, channel),
            one.fault,
            redactor.redact(one.message, channel),
            one.source,
            redactor.redact(one.unit, channel),
            one.whole_unit,
        )
        for one in units.load_failures(workspace.home, source.name)
    ]


def _parts(workspace: Workspace, place: Path) -> dict[str, list[tuple[str, list[Path]]]]:
    parts: dict[str, list[tuple[str, list[Path]]]] = {table: [] for table in plans.PUBLISHED_TABLES}
    for source in workspace.settings.sources:
        for table, found in parts.items():
            found.append((source.name, _months(workspace, table, source)))
        failed = redacted_failures(workspace, source)
        path = place / f"failures-{source.name}.parquet"
        pq.write_table(to_table(failed, Failure) if failed else arrow_schema(Failure).empty_table(), path)
        parts["failures"][-1][1].append(path)
    return parts


def _embedded_with(workspace: Workspace) -> embedders.Model | None:
    """The model of the lake's vectors; None where there are none, or not yet all."""
    model = embedders.model(workspace.settings)
    surveys = [plans.survey(workspace, source) for source in workspace.settings.sources]
    if model is None or any(one.stage == "embeddings" for one in plans.stale_months(surveys)):
        return None
    return model if any(files for _, files in _files(workspace, "embeddings")) else None


def _files(workspace: Workspace, table: str) -> list[tuple[str, list[Path]]]:
    """The monthly files of a table, by source."""
    return [(source.name, _months(workspace, table, source)) for source in workspace.settings.sources]


def _months(workspace: Workspace, table: str, source: Source) -> list[Path]:
    entries = lake.manifest(workspace.home, table, source.name)
    held = [month for month, entry in sorted(entries.items()) if entry.rows]
    return [lake.month_path(workspace.home, table, source.name, month) for month in held]


def _published(workspace: Workspace) -> Path | None:
    number = generations.current_number(workspace.home)
    path = workspace.home / "published" / str(number) / CATALOG
    return path if path.exists() else None
