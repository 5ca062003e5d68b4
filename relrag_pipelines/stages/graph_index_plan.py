"""Which GraphRAG indexes have to be built after publishing, one per collection, and why.

No other asset depends on them. An index is stale when the passages of its sources, the people of the archive, the
settings that matter to it or the version of its making differ from what its manifest says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from relrag_pipelines import embedders
from relrag_pipelines.settings import GraphRAG
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

        return [(one.name, str(one.type)) for one in ALL[self.name]]


TABLES = (
    GraphTable("documents", (), "Records and chat windows, as Microsoft GraphRAG 3.x knows documents."),
    GraphTable("text_units", ("documents",), "Passages, one to one with the chunks of the generation."),
    GraphTable("entities", ("text_units",), "People, names, numbers, files and terms that passages name."),
    GraphTable("relationships", ("text_units", "entities"), "Which entities are named together, and how strongly."),
    GraphTable("communities", ("entities", "relationships"), "Entities that belong together, by hierarchical Leiden."),
    GraphTable("community_reports", ("communities", "text_units"), "What is said of each community, with citations."),
)
COVARIATES = GraphTable("covariates", ("text_units", "entities"), "What passages claim of entities.")


def tables(asked: GraphRAG) -> tuple[GraphTable, ...]:
    """The tables that an index has by its settings."""
    return (*TABLES, COVARIATES) if asked.method == "llm" and asked.claims else TABLES


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
    wanted = settings.graphrag.collections[collection]
    passages = [[one.name, month_outputs(months[one.name])] for one in settings.sources if wanted.holds(one)]
    people = [held.output for one in PEOPLE if one in archive_tables.NAMES for held in [_entry(workspace, one)] if held]
    asked = {"method": settings.graphrag.method, "since": wanted.since, "until": wanted.until}
    if model := embedders.model(settings):
        asked["embedder"] = model.name
    if wanted.since or wanted.until:
        asked["timezone"] = settings.timezone
    if settings.graphrag.method == "llm":
        asked |= {name: getattr(settings.graphrag, name) for name in ("service", "model", "url", "gleanings", "claims")}
    return InputFingerprint(fingerprint([passages, people]), VERSION, settings_fingerprint(asked))


def stale(workspace: Workspace, months: Mapping[str, Manifest], changing: Iterable[str] = ()) -> list[StaleGraph]:
    """Every stale index, by name; `changing` are the sources whose passages will be made again."""
    found, changed = [], {*changing}
    for name, collection in workspace.settings.graphrag.own_collections.items():
        known = graph_indexes.current_info(workspace.home, name)
        above = any(collection.holds(one) and one.name in changed for one in workspace.settings.sources)
        reason = "its passages change" if above else _reason(known, expected_fingerprint(workspace, name, months))
        if reason:
            found.append(StaleGraph(name, reason))
        elif known and known.pending:
            found.append(StaleGraph(name, f"{known.pending} passages wait for the language model", resumed=True))
    return found


def _entry(workspace: Workspace, table: str) -> lake.ManifestEntry | None:
    return archive_tables.entry(workspace.home, table)


def _reason(known: IndexInfo | None, wanted: InputFingerprint) -> str:
    if known is None:
        return "new"
    if known.stamp.version != wanted.version:
        return f"made by version {known.stamp.version}, now {wanted.version}"
    if known.stamp.settings != wanted.settings:
        return describe_changes(changed_settings(known.stamp.settings, wanted.settings))
    return "its passages have changed" if known.stamp.input != wanted.input else ""


def chunk_months(workspace: Workspace) -> dict[str, Manifest]:
    """The months of passages of each source."""
    first = workspace.settings.first_month
    return {
        one.name: with_partition(lake.manifest(workspace.home, "chunks", one.name), first)
        for one in workspace.settings.sources
    }
