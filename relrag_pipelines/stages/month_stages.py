"""The monthly stages between private records and publishing, each a function from tables to a table.

Declared once here: the plan asks what a stage reads and depends on, the Dagster assets call `run`. What makes a
month is imported where it is called: most syncs find nothing to do, and it takes longer than they do.
"""

from __future__ import annotations

import functools
import json
import operator
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from relrag_pipelines import embedders
from relrag_pipelines.privacy import fault_report
from relrag_pipelines.records import Embedding, Failure, Record, UnitState
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS
from relrag_pipelines.sources.formats.versions import CHANGED
from relrag_pipelines.stages.redaction_policy import policy
from relrag_pipelines.stores import audit_mark, lake, unit_state, vault
from relrag_pipelines.stores.fingerprint import fingerprint, settings_fingerprint
from relrag_pipelines.stores.lake import InputFingerprint
from relrag_pipelines.stores.row_order import in_order
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from relrag_pipelines.workers.pool import ENDED_TWICE, MAKE_ROOM, WorkerKilled
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    from relrag_pipelines.embedders.embed_ahead import Batch, EmbeddedBatch

PRIVATE = "private_records"


@dataclass(frozen=True)
class StageOutput:
    """What a stage made of one month."""

    table: pa.Table
    failures: list[Failure] = field(default_factory=list)
    counts: Mapping[str, float] = field(default_factory=dict)
    """what it took"""
    seconds: float = 0
    """how long it took"""
    sealed_originals: Mapping[str, bytes] = field(default_factory=dict)
    """what pseudonyms in it stand for, encrypted"""


@dataclass(frozen=True)
class Stage:
    """One monthly stage of every source."""

    name: str
    """the Dagster asset's name"""
    table: str
    """the lake table it writes"""
    inputs: tuple[str, ...]
    """tables it reads, same source and month"""
    version: int
    """raised when equal input gives other output"""
    meaning: str
    make: Callable[[Workspace, Source, list[pa.Table]], StageOutput]
    settings: Callable[[Workspace, Source], Mapping[str, Any]] = lambda workspace, source: {}
    """the settings that change its output, by name"""


def merge_duplicates(private: pa.Table, written: Mapping[str, int] | None = None) -> pa.Table:
    """One row a record: of several units that hold it the first by path wins, `locations` lists all.

    A unit that tells what a record answers goes before one that does not: a database before an exported text. With
    `written`, the times of the units' files by path, the version wins that was changed last.
    """
    import pyarrow.compute as pc

    names = arrow_schema(Record).names
    answers_nothing = pc.cast(pc.is_null(private["parent_asset_id"]), pa.int8())
    ranked = private.append_column("answers_nothing", answers_nothing)
    ordered = in_order(ranked, ["asset_id", "answers_nothing", "unit"])
    if pc.count_distinct(ordered["asset_id"]).as_py() == ordered.num_rows:
        return ordered.select(names)
    if written is not None:
        ordered = _newest_first(ordered, written)
    ids, locations = ordered["asset_id"].to_pylist(), ordered["locations"].to_pylist()
    first: list[int] = []
    merged: list[list[str]] = []
    for row, asset_id in enumerate(ids):
        if first and ids[first[-1]] == asset_id:
            merged[-1] = list(dict.fromkeys([*merged[-1], *locations[row]]))
        else:
            first.append(row)
            merged.append(locations[row])
    table = ordered.take(first).select(names)
    column = table.schema.get_field_index("locations")
    return table.set_column(column, table.schema.field(column), pa.array(merged, pa.list_(pa.string())))


def _newest_first(ordered: pa.Table, written: Mapping[str, int]) -> pa.Table:
    """Rows in the order of their asset_id; of those with the same one what was changed last is first."""
    columns = (ordered[name].to_pylist() for name in ("asset_id", "extra", "unit"))
    rows = list(zip(*columns, range(ordered.num_rows), strict=True))
    counts = Counter(ordered["asset_id"].to_pylist())

    def version(row: tuple[str, str, str, int]) -> tuple[str, int]:
        asset_id, extra, unit, _ = row
        return (json.loads(extra).get(CHANGED, ""), written.get(unit, 0)) if counts[asset_id] > 1 else ("", 0)

    rows.sort(key=version, reverse=True)  # keeps the order among equal ones
    rows.sort(key=operator.itemgetter(0))
    return ordered.take([row[-1] for row in rows])


def _merged(workspace: Workspace, source: Source, private: pa.Table) -> pa.Table:
    """The records of a month, one row each."""
    if not KINDS[source.kind].mutable:
        return merge_duplicates(private)
    units = unit_state.load(workspace.home, source.name)
    return merge_duplicates(private, {path: unit.mtime_ns for path, unit in units.items()})


def _redact(workspace: Workspace, source: Source, tables: list[pa.Table]) -> StageOutput:
    from relrag_pipelines.pii import leaked_records

    originals: dict[str, str] = {}
    merged = _merged(workspace, source, tables[0])
    table, failed = leaked_records.redact(merged, workspace.redactor, workspace.channel(source), originals)
    keys = workspace.keys
    sealed = {name: keys.seal(value, name) for name, value in originals.items()}
    why = "its personal data could not be replaced, so it was left out; please report it with the kind of source"
    meaning = {leaked_records.FAULT: leaked_records.MEANING}
    faults = [Failure(asset_id, fault, meaning.get(fault, why), source.name) for asset_id, fault in failed]
    return StageOutput(table, faults, sealed_originals=sealed)


def _identifiers(workspace: Workspace, source: Source, tables: list[pa.Table]) -> StageOutput:
    from relrag_pipelines.identity.participants import extract_identifiers

    merged = _merged(workspace, source, tables[0])
    return StageOutput(extract_identifiers(merged, workspace.redactor, workspace.keys, workspace.channel(source)))


def _chunks(workspace: Workspace, source: Source, tables: list[pa.Table]) -> StageOutput:
    from relrag_pipelines import chunking

    settings = workspace.settings
    chunks = chunking.chunk(
        tables[0],
        kind=source.kind,
        chunk_tokens=settings.chunk_tokens,
        overlap_sentences=settings.chunk_overlap_sentences,
    )
    return StageOutput(chunks)


def _embeddings(workspace: Workspace, source: Source, tables: list[pa.Table]) -> StageOutput:
    from relrag_pipelines.embedders import embed_chunks

    model = embedders.model(workspace.settings)
    if model is None:
        return StageOutput(arrow_schema(Embedding).empty_table())

    def report(done: int, total: int) -> None:
        workspace.report(f"{source.name}: passages of a month embedded", done, total)

    keyed, home = workspace.keys.content_hash, workspace.home
    embedded, tally = embed_chunks.embed(tables[0], model, lambda: workspace.embedder, keyed, home, report)
    return StageOutput(embedded, counts=asdict(tally))


def _embed_on_cluster(workspace: Workspace, source: Source, months: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
    """Embeds what is new in the months by tasks of a Ray cluster, if there is one; what that took, by month.

    The stage then finds the vectors in the cache. Texts for a service are left to it: processors do not hasten that.
    """
    model = embedders.model(workspace.settings)
    if workspace.cluster is None or model is None or model.host:
        return {}
    from relrag_pipelines.embedders import embed_ahead

    chunks = ((month, lake.read(workspace.home, "chunks", source.name, month)) for month in months)
    embed_each = functools.partial(_embed_each, workspace, f"{source.name}: batches of passages embedded")
    taken = embed_ahead.embed(chunks, model, embed_each, workspace.keys.content_hash, workspace.home)
    return {month: {"texts": counts.texts, "tokens": counts.tokens} for month, counts in taken.items()}


def _embed_each(workspace: Workspace, label: str, batches: Iterable[Batch]) -> Iterator[EmbeddedBatch]:
    for done, batch in enumerate(workspace.each(functools.partial(embed_batch, workspace), batches), 1):
        workspace.report(label, done, done)  # how many there are is known at the end
        yield batch


def embed_batch(workspace: Workspace, batch: Batch) -> EmbeddedBatch:
    """What another process computes, by Ray or on this machine; EmbeddingError goes through."""
    from relrag_pipelines.embedders import embed_ahead

    return embed_ahead.embed_batch(workspace.embedder, batch)


def _model_name(workspace: Workspace) -> str:
    model = embedders.model(workspace.settings)
    return model.name if model else embedders.NONE


def _edges(workspace: Workspace, source: Source, tables: list[pa.Table]) -> StageOutput:
    from relrag_pipelines import links

    return StageOutput(links.build_edges(tables[0], tables[1]))


STAGES = (
    Stage(
        "redacted",
        "records",
        (PRIVATE,),
        5,
        "The records with every string redacted by the policy of their channel; one row a record.",
        _redact,
        policy,
    ),
    Stage(
        "identifiers",
        "identifiers",
        (PRIVATE,),
        5,
        "Who appears in a record in what role, with a keyed value that joins channels.",
        _identifiers,
        policy,
    ),
    Stage(
        "chunks",
        "chunks",
        ("records",),
        4,
        "Passages that are indexed and cited, with page, position and thread.",
        _chunks,
        lambda workspace, source: {
            "chunk_tokens": workspace.settings.chunk_tokens,
            "chunk_overlap_sentences": workspace.settings.chunk_overlap_sentences,
        },
    ),
    Stage(
        "embeddings",
        "embeddings",
        ("chunks",),
        2,
        "Dense vectors of the passages; none without an embedder, or in languages that it does not know.",
        _embeddings,
        lambda workspace, source: {"embedder": _model_name(workspace)},
    ),
    Stage(
        "edges",
        "asset_asset_edges",
        ("records", "chunks"),
        5,
        "Claims of relations: thread_member, attachment_of, reply_to, references, chunk_of, transcript_of.",
        _edges,
    ),
)

ASSET_OF_TABLE = {"private_records": "records", "failures": "redacted"} | {stage.table: stage.name for stage in STAGES}
"""the Dagster asset of each source that writes a table"""


def input_hashes(stage: Stage, month: str, upstream: Sequence[lake.Manifest], orders: Mapping[str, str]) -> list[str]:
    """Hashes of what a month of the stage is made from; `orders` are those of `version_orders`."""
    hashes = [manifest[month].output for manifest in upstream]
    order = orders.get(month) if stage.inputs == (PRIVATE,) else None
    return [*hashes, order] if order else hashes


def version_orders(source: Source, units: Mapping[str, UnitState]) -> dict[str, str]:
    """month -> fingerprint of the order in which the files that it is made from were written.

    It decides which version of a record counts. Kinds whose records never change, and months of one unit, have none.
    """
    return unit_state.file_orders(units) if KINDS[source.kind].mutable else {}


def expected_fingerprint(workspace: Workspace, source: Source, stage: Stage, inputs: Iterable[str]) -> InputFingerprint:
    """The stamp that a month of the stage has when it is up to date with inputs of these hashes."""
    return InputFingerprint(
        fingerprint(list(inputs)), stage.version, settings_fingerprint(stage.settings(workspace, source))
    )


def run(
    workspace: Workspace, source: Source, stage: Stage, months: list[str]
) -> tuple[lake.Manifest, Mapping[str, Mapping[str, float]]]:
    """Rebuilds months of a stage; returns their manifest entries and, of those with input, what each took."""
    home, label = workspace.home, f"{source.name}: {stage.name}"
    if stage.table == "records" and workspace.settings.pii_redaction_enabled:
        audit_mark.mark_unaudited(home, source.name, months)
    upstream = [lake.manifest(home, table, source.name) for table in stage.inputs]
    orders = version_orders(source, unit_state.load(home, source.name))
    counts: dict[str, Mapping[str, float]] = {}
    present = [month for month in months if all(month in manifest for manifest in upstream)]
    make = functools.partial(_make, workspace, source.name, stage.name)

    def given_up(month: str) -> StageOutput:
        # a month is of many units: to leave it out would take them all from what is published
        raise WorkerKilled(f"{label} of {month}: {ENDED_TWICE}; {MAKE_ROOM}")

    embedded = _embed_on_cluster(workspace, source, present) if stage.name == "embeddings" else {}
    # an embedder keeps all processors busy by itself, and what it embedded is written at once
    outputs = map(make, present) if stage.name == "embeddings" else workspace.each(make, present, given_up)

    def month_tables() -> Iterator[tuple[pa.Table, InputFingerprint | None]]:
        for done, month in enumerate(months):
            workspace.report(label, done, len(months))
            if any(month not in manifest for manifest in upstream):
                _keep_failures(workspace, source, stage, month, [], None)
                _keep_sealed(workspace, source, stage, month, {})
                yield pa.table({}), None
                continue
            output = next(outputs)
            counts[month] = {**output.counts, **embedded.get(month, {}), "seconds": round(output.seconds, 3)}
            stamp = expected_fingerprint(workspace, source, stage, input_hashes(stage, month, upstream, orders))
            _keep_failures(workspace, source, stage, month, output.failures, stamp)
            _keep_sealed(workspace, source, stage, month, output.sealed_originals)
            yield output.table, stamp

    entries = lake.write(home, stage.table, source.name, months, month_tables())
    workspace.report(label, len(months), len(months))
    return entries, counts


def _make(workspace: Workspace, source_name: str, stage_name: str, month: str) -> StageOutput:
    """The stage's output for that month; only reads, so any process may call it."""
    source = workspace.settings.source(source_name)
    (stage,) = (declared for declared in STAGES if declared.name == stage_name)
    with fault_report.during(f"{stage.name} of {source.name}, {month}"):
        started = time.monotonic()
        tables = [lake.read(workspace.home, table, source.name, month) for table in stage.inputs]
        output = stage.make(workspace, source, tables)
        return replace(output, seconds=time.monotonic() - started)


def _keep_sealed(workspace: Workspace, source: Source, stage: Stage, month: str, sealed: Mapping[str, bytes]) -> None:
    """Stores the originals of a month's pseudonyms, before the month itself counts as done."""
    if stage.table == "records":
        vault.write(workspace.home, source.name, month, sealed)


def _keep_failures(
    workspace: Workspace,
    source: Source,
    stage: Stage,
    month: str,
    failures: list[Failure],
    stamp: InputFingerprint | None,
) -> None:
    """Stores the failures of a stage in a month, before the month itself counts as done."""
    stored_failures = lake.manifest(workspace.home, "failures", source.name)
    if stage.table == "records" and (failures or month in stored_failures):
        rows = to_table(failures, Failure) if failures else arrow_schema(Failure).empty_table()
        lake.write(workspace.home, "failures", source.name, [month], [(rows, stamp if failures else None)])
