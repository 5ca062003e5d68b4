"""The stages over the whole archive, which run after the months and before publishing; each maps tables to tables.

Declared once here, each a row in the order in which they are made. A row and the declaration of its tables in
`records.py` (place `lake/<table>/archive.parquet`) are all that a stage needs: the plan asks what it reads and depends
on, Dagster shows an asset for each of its tables, and what is published follows from the tables' places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from relrag_pipelines import embedders, people
from relrag_pipelines.errors import SafeError
from relrag_pipelines.records import TABLES
from relrag_pipelines.settings import Settings
from relrag_pipelines.stages import redaction_check
from relrag_pipelines.stages.month_range import with_partition
from relrag_pipelines.stores import archive_tables, lake, unread_passages
from relrag_pipelines.stores.fingerprint import fingerprint, settings_fingerprint
from relrag_pipelines.stores.lake import InputFingerprint, Manifest, ManifestEntry
from relrag_pipelines.stores.table_schema import arrow_schema
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

MonthlyManifests = Mapping[str, Mapping[str, Manifest]]
"""source, in the order of relrag.toml -> table -> its months"""


class StageError(SafeError):
    """A stage is declared or run wrongly; the message names it and says what is wrong."""


@dataclass(frozen=True)
class ArchiveOutput:
    """What a stage made of the archive."""

    tables: Mapping[str, pa.Table]
    """by name, all that the stage declares; they need not be sorted"""
    counts: Mapping[str, float] = field(default_factory=dict)
    """what it took; figures only, they are shown in Dagster"""


@dataclass(frozen=True)
class ArchiveStage:
    """One stage over the whole archive."""

    name: str
    inputs: tuple[str, ...]
    """tables it reads: those of months from all sources, those of the whole archive from stages above"""
    tables: tuple[str, ...]
    """tables of the whole archive that it writes; each is a Dagster asset of this name"""
    version: int
    """raised when equal input gives other output"""
    meaning: str
    make: Callable[[Workspace, Mapping[str, Dataset]], ArchiveOutput]
    """given each input as a dataset, which DuckDB and pyarrow read out of core: sources in the order of relrag.toml,
    then months; a record that several sources hold comes once for each. Equal input has to give equal rows"""
    settings: Callable[[Workspace], Mapping[str, Any]] = lambda workspace: {}
    """what changes its output beside the inputs, by name: settings, a hash of what the owner stated"""
    is_on: Callable[[Settings], bool] = lambda settings: True
    """where it is not, it reads nothing, so that nothing makes it stale, and its tables are empty"""
    unfinished: Callable[[Workspace], str] | None = None
    """why the next sync goes on with it although nothing changed; empty where all is done"""


def check_declarations(*stages: ArchiveStage) -> tuple[ArchiveStage, ...]:
    """The stages, if each reads only existing tables and every table of the whole archive is made by one of them.

    Raises StageError, which names the row.
    """
    available, written_tables = {*lake.DERIVED}, list[str]()
    for stage in stages:
        if lacking := [table for table in stage.inputs if table not in available]:
            listed = ", ".join(sorted(available))
            raise StageError(f'stage "{stage.name}" reads {", ".join(lacking)}; tables that are made by then: {listed}')
        if wrong := [table for table in stage.tables if table not in archive_tables.NAMES or table in written_tables]:
            rule = f"records.py has to place it in lake/{wrong[0]}/{archive_tables.FILE}, and one stage writes it"
            raise StageError(f'stage "{stage.name}" writes {wrong[0]}; {rule}')
        available |= {*stage.tables}
        written_tables += stage.tables
    if unmade := sorted({*archive_tables.NAMES} - {*written_tables}):
        raise StageError(f"no stage writes {', '.join(unmade)}; add a row to stages/whole_archive.py")
    return stages


def _people(workspace: Workspace, inputs: Mapping[str, Dataset]) -> ArchiveOutput:
    from relrag_pipelines.people import stage

    return ArchiveOutput(*stage.make(workspace, inputs))


def _people_settings(workspace: Workspace) -> Mapping[str, Any]:
    from relrag_pipelines.people import stage_settings

    return stage_settings.settings(workspace)


def _relationship_embeddings(workspace: Workspace, inputs: Mapping[str, Dataset]) -> ArchiveOutput:
    from relrag_pipelines.people import relationship_embeddings

    return ArchiveOutput(*relationship_embeddings.make(workspace, inputs))


def _passage_statements(workspace: Workspace, inputs: Mapping[str, Dataset]) -> ArchiveOutput:
    from relrag_pipelines.people import passage_statements

    return ArchiveOutput(*passage_statements.make(workspace, inputs))


def _passage_settings(workspace: Workspace) -> Mapping[str, Any]:
    people = workspace.settings.people
    if people.method != "llm":
        return {"method": people.method}
    return {"timezone": workspace.settings.timezone} | people.model_dump(exclude={"token_budget"})


def _unread_passages(workspace: Workspace) -> str:
    left = unread_passages.load(workspace.home)
    return f"{left.passages} passages wait for the language model: {left.reason}" if left.passages else ""


STAGES: tuple[ArchiveStage, ...] = check_declarations(
    ArchiveStage(
        "passage_statements",
        ("chunks", "records"),
        ("passage_statements",),
        1,
        "What a language model found stated of people, where `[people]` asks for one.",
        _passage_statements,
        _passage_settings,
        lambda settings: settings.people.method == "llm",
        _unread_passages,
    ),
    ArchiveStage(
        "people",
        ("records", "identifiers", "passage_statements"),
        (
            "persons",
            "person_aliases",
            "person_redirects",
            "person_names",
            "given_forms",
            "person_entries",
            "person_facts",
            "person_relationships",
            "person_mentions",
            "person_months",
            "text_relationships",
            "text_facts",
            "month_words",
        ),
        people.VERSION,
        "Who is who in all sources, what is known of them, and what they are to one another.",
        _people,
        _people_settings,
    ),
    ArchiveStage(
        "relationship_embeddings",
        ("person_relationships", "embeddings"),
        ("relationship_embeddings",),
        1,
        "One vector a relationship, of its description, type, attitude, proximity and notes.",
        _relationship_embeddings,
        lambda workspace: {"embedder": (model.name if (model := embedders.model(workspace.settings)) else "")},
    ),
)


def stages(settings: Settings) -> tuple[ArchiveStage, ...]:
    """The stages as an archive with these settings has them: one that is off reads nothing."""
    return tuple(stage if stage.is_on(settings) else replace(stage, inputs=()) for stage in STAGES)


def stage_named(name: str, settings: Settings) -> ArchiveStage:
    """The stage of that name, as an archive with these settings has it."""
    return next(stage for stage in stages(settings) if stage.name == name)


def monthly_inputs(stages: tuple[ArchiveStage, ...]) -> dict[str, set[str]]:
    """The tables of months that each stage is made from, directly or through stages above it, by the stage's name."""
    month_tables: dict[str, set[str]] = {table: {table} for table in lake.DERIVED}
    inputs_by_stage = {}
    for stage in stages:
        inputs_by_stage[stage.name] = set[str]().union(*(month_tables[table] for table in stage.inputs))
        month_tables |= dict.fromkeys(stage.tables, inputs_by_stage[stage.name])
    return inputs_by_stage


def expected_fingerprint(
    stage: ArchiveStage, months: MonthlyManifests, entries: Mapping[str, ManifestEntry | None], settings: str
) -> InputFingerprint:
    """The stamp that the stage's tables have when they are up to date with these inputs and settings."""
    inputs: list[Any] = []
    for table in stage.inputs:
        if table in entries:
            upstream = entries[table]
            inputs.append([table, upstream.output if upstream else ""])
        else:
            inputs.append([table, [[source, month_outputs(tables[table])] for source, tables in months.items()]])
    return InputFingerprint(fingerprint(inputs), stage.version, settings)


def month_outputs(months: Manifest) -> list[list[str]]:
    """The hash of each month that has rows, in order."""
    return [[month, entry.output] for month, entry in sorted(months.items()) if entry.output]


def run(workspace: Workspace, stage: ArchiveStage) -> tuple[dict[str, ManifestEntry], Mapping[str, float]]:
    """Makes the tables of a stage again and returns their manifest entries, and what it took.

    Raises StageError where the stage makes other tables than it declares, and RedactionIncomplete where a month was
    not redacted as its policy says: no stage reads such a month.
    """
    redaction_check.require_checked(workspace)
    workspace.report(stage.name, 0, 1)
    months = {
        source.name: {
            table: with_partition(lake.manifest(workspace.home, table, source.name), workspace.settings.first_month)
            for table in stage.inputs
            if table not in archive_tables.NAMES
        }
        for source in workspace.settings.sources
    }
    entries = {table: archive_tables.entry(workspace.home, table) for table in archive_tables.NAMES}
    stamp = expected_fingerprint(stage, months, entries, settings_fingerprint(stage.settings(workspace)))
    output = stage.make(workspace, {table: _dataset(workspace, table, months) for table in stage.inputs})
    if {*output.tables} != {*stage.tables}:
        message = f"made {', '.join(sorted(output.tables)) or 'nothing'}, and declares {', '.join(stage.tables)}"
        raise StageError(f'stage "{stage.name}" {message}')
    written = archive_tables.write(workspace.home, output.tables, stamp)
    workspace.report(stage.name, 1, 1)
    return written, output.counts


def _dataset(workspace: Workspace, table: str, months: MonthlyManifests) -> Dataset:
    import pyarrow.dataset as datasets

    home, schema = workspace.home, arrow_schema(TABLES[table].row)
    if table in archive_tables.NAMES:
        return datasets.dataset([archive_tables.path(home, table)], schema, "parquet")
    files = [
        path
        for source, tables in months.items()
        for month, path in lake.month_files(home, table, source).items()
        if month in tables[table]
    ]
    return datasets.dataset(files, schema, "parquet") if files else datasets.dataset(schema.empty_table())
