"""Which GraphRAG indexes have to be built after publishing, one per collection, and why.

No other asset depends on them. An index is stale when the passages of its sources, the people of the archive, the
settings that matter to it or the version of its making differ from what its manifest says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from relrag_pipelines import embedders
from relrag_pipelines.settings import Collection, GraphRAG, Settings
from relrag_pipelines.stages.month_range import with_partition
from relrag_pipelines.stages.whole_archive import month_outputs
from relrag_pipelines.stores import archive_tables, graph_indexes, lake
from relrag_pipelines.stores.fingerprint import changed_settings, describe_changes, fingerprint, settings_fingerprint
from relrag_pipelines.stores.graph_indexes import IndexInfo
from relrag_pipelines.stores.lake import InputFingerprint, Manifest
from relrag_pipelines.workspace import Workspace

VERSION = 5
"""raised when equal passages give another index"""


@dataclass(frozen=True)
class GraphTable:
    """A table of an index that Dagster shows."""

    name: str
    inputs: tuple[str, ...]
    """tables of the same index; none: of the published generation"""
    meaning: str

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and types."""
        from relrag_pipelines.graphrag.schema import ALL

        return [(field_.name, str(field_.type)) for field_ in ALL[self.name]]


TABLES = (
    GraphTable("documents", (), "Records and chat windows, as Microsoft GraphRAG 3.x knows documents."),
    GraphTable("text_units", ("documents",), "Passages, one to one with the chunks of the generation."),
    GraphTable("entities", ("text_units",), "People, names, numbers, files and terms that passages name."),
    GraphTable("relationships", ("text_units", "entities"), "Which entities are named together, and how strongly."),
    GraphTable("communities", ("entities", "relationships"), "Entities that belong together, by hierarchical Leiden."),
    GraphTable("community_reports", ("communities", "text_units"), "What is said of each community, with citations."),
)
COVARIATES = GraphTable("covariates", ("text_units", "entities"), "What passages claim of entities.")


def tables(settings: GraphRAG) -> tuple[GraphTable, ...]:
    """The tables that an index has by its settings."""
    return (*TABLES, COVARIATES) if settings.method == "llm" and settings.claims else TABLES


PEOPLE = ("persons", "person_aliases")
"""tables that say who is known, by which names"""


@dataclass(frozen=True)
class StaleGraph:
    """One GraphRAG index that has to be made again."""

    collection: str
    reason: str
    resumed: bool = False
    """only because passages are left for the language model: what that costs is spent when somebody syncs"""


def expected_fingerprint(workspace: Workspace, collection: str, months: Mapping[str, Manifest]) -> InputFingerprint:
    """The stamp of an index that is up to date; `months` are those of the passages by source."""
    settings = workspace.settings
    collection_settings = settings.graphrag.collections[collection]
    passages = [
        [source.name, month_outputs(months[source.name])]
        for source in settings.sources
        if collection_settings.holds(source)
    ]
    people = [
        entry_.output
        for table in PEOPLE
        if table in archive_tables.NAMES
        for entry_ in [_entry(workspace, table)]
        if entry_
    ]
    decisive = _decisive_settings(settings, collection_settings)
    return InputFingerprint(fingerprint([passages, people]), VERSION, settings_fingerprint(decisive))


def _decisive_settings(settings: Settings, collection: Collection) -> dict[str, Any]:
    """The settings that an index depends on."""
    decisive: dict[str, Any] = {
        "method": settings.graphrag.method,
        "since": collection.since,
        "until": collection.until,
    }
    if model := embedders.model(settings):
        decisive["embedder"] = model.name
    if collection.since or collection.until:
        decisive["timezone"] = settings.timezone
    if settings.graphrag.method == "llm":
        decisive |= {
            name: getattr(settings.graphrag, name) for name in ("service", "model", "url", "gleanings", "claims")
        }
    return decisive


def stale(workspace: Workspace, months: Mapping[str, Manifest], changing: Iterable[str] = ()) -> list[StaleGraph]:
    """Every stale index, by name; `changing` are the sources whose passages will be made again."""
    stale_graphs, changed = [], {*changing}
    for name, collection in workspace.settings.graphrag.own_collections.items():
        current = graph_indexes.current_info(workspace.home, name)
        is_affected = any(
            collection.holds(source_) and source_.name in changed for source_ in workspace.settings.sources
        )
        reason = (
            "its passages change" if is_affected else _reason(current, expected_fingerprint(workspace, name, months))
        )
        if reason:
            stale_graphs.append(StaleGraph(name, reason))
        elif current and current.pending:
            stale_graphs.append(
                StaleGraph(name, f"{current.pending} passages wait for the language model", resumed=True)
            )
    return stale_graphs


def _entry(workspace: Workspace, table: str) -> lake.ManifestEntry | None:
    return archive_tables.entry(workspace.home, table)


def _reason(current: IndexInfo | None, expected: InputFingerprint) -> str:
    if current is None:
        return "new"
    if current.stamp.version != expected.version:
        return f"made by version {current.stamp.version}, now {expected.version}"
    if current.stamp.settings != expected.settings:
        return describe_changes(changed_settings(current.stamp.settings, expected.settings))
    return "its passages have changed" if current.stamp.input != expected.input else ""


def chunk_months(workspace: Workspace) -> dict[str, Manifest]:
    """The months of passages of each source."""
    first = workspace.settings.first_month
    return {
        source.name: with_partition(lake.manifest(workspace.home, "chunks", source.name), first)
        for source in workspace.settings.sources
    }
