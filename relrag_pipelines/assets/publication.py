"""Across all sources: the catalog, the vectors, and the generation that queries read."""

import time
from collections.abc import Iterator
from typing import Any

import dagster as dg

from relrag_pipelines import embedders
from relrag_pipelines.assets import labels
from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.assets.evaluation import ask_golden_set, golden_set
from relrag_pipelines.assets.metadata import catalog_lineage, column_schema
from relrag_pipelines.assets.source_assets import NIGHTLY
from relrag_pipelines.publishing import lake_bucket, publish
from relrag_pipelines.publishing.withholding_report import WithholdingReport
from relrag_pipelines.stages.month_stages import STAGES
from relrag_pipelines.stores import archive_tables, catalog, generation_damage, generations
from relrag_pipelines.stores.lock import writing
from relrag_pipelines.workspace import Workspace

_GROUP = "published"
_WAIT_SECONDS = 600.0


def publishing_assets(workspace: Workspace) -> list[dg.AssetsDefinition]:
    """duckdb_catalog, qdrant_points and published_generation, in this order."""
    return [_catalog_and_points(workspace), _published_generation(workspace)]


def _specs(workspace: Workspace) -> list[dg.AssetSpec]:
    sources = [source.name for source in workspace.settings.sources]
    monthly = [[source, stage.name] for source in sources for stage in STAGES if stage.name != "embeddings"]
    return [
        dg.AssetSpec(
            "duckdb_catalog",
            deps=[*monthly, *([table] for table in archive_tables.PUBLISHED)],
            group_name=_GROUP,
            kinds={"duckdb"},
            owners=labels.owners(workspace),
            tags=labels.archive_tags(labels.PUBLISHED),
            code_version="2",
            description="Records, passages, people and relations of all sources in one DuckDB file, built beside.",
            metadata=column_schema("records") | catalog_lineage(sources),
        ),
        dg.AssetSpec(
            "qdrant_points",
            deps=["duckdb_catalog", *([source, "embeddings"] for source in sources)],
            group_name=_GROUP,
            kinds={"qdrant"},
            owners=labels.owners(workspace),
            tags=labels.archive_tags(labels.PUBLISHED),
            code_version="2",
            description="The passages of the catalog as points that can be searched, built beside.",
        ),
    ]


def _catalog_and_points(workspace: Workspace) -> dg.AssetsDefinition:
    @dg.multi_asset(
        name="catalog_and_points",
        specs=_specs(workspace),
        check_specs=[
            dg.AssetCheckSpec(
                "no_known_value",
                asset="duckdb_catalog",
                description="No value that was replaced stands in what is added; a row that holds one is left out.",
            )
        ],
    )
    def catalog_and_points() -> Iterator[dg.MaterializeResult[Any] | dg.AssetCheckResult]:
        # one step for both, so that they agree on the changes and are built together
        started = time.monotonic()
        counts, report = _build(workspace)
        points = counts.pop("points")
        yield dg.MaterializeResult(
            asset_key="duckdb_catalog",
            metadata={
                # a single entry: each figure of its own would take 150 bytes in Dagster's store, at every sync
                "rows": dg.MetadataValue.json(counts),
                "dagster/row_count": counts["records"],
                "seconds": _seconds_since(started),
                "leak_search_seconds": round(report.seconds, 3),
            },
        )
        vectors = embedders.describe(workspace.settings)
        yield dg.MaterializeResult(
            asset_key="qdrant_points", metadata={"dagster/row_count": points, "vectors": vectors}
        )
        yield dg.AssetCheckResult(
            asset_key="duckdb_catalog",
            check_name="no_known_value",
            passed=not str(report),
            severity=dg.AssetCheckSeverity.WARN,
            metadata=report.counts(),
            description=str(report) or None,
        )

    return catalog_and_points


@seal_errors
def _build(workspace: Workspace) -> tuple[dict[str, int], WithholdingReport]:
    """Builds catalog and points of the next generation; returns row counts and a report of rows left out."""
    with writing(workspace.home, "catalog_and_points", _WAIT_SECONDS):
        return publish.build_searched(workspace)


def _published_generation(workspace: Workspace) -> dg.AssetsDefinition:
    @dg.asset(
        deps=["duckdb_catalog", "qdrant_points"],
        group_name=_GROUP,
        kinds={"file"},
        owners=labels.owners(workspace),
        tags=labels.archive_tags(labels.PUBLISHED),
        code_version="1",
        freshness_policy=NIGHTLY,
        description="Checked, sealed with the hash of every file, and made current by one rename.",
    )
    @seal_errors
    def published_generation() -> dg.MaterializeResult[Any]:
        started = time.monotonic()
        with writing(workspace.home, "published_generation", _WAIT_SECONDS):
            generation, removed = publish.publish(workspace)
            figures = ask_golden_set(workspace)
            lake_bucket.commit(workspace)  # what forgets is published before
        size = sum(file["bytes"] for file in generation.manifest["files"].values())
        return dg.MaterializeResult(
            metadata={
                "dagster/row_count": generation.manifest["counts"]["records"],
                "generation": generation.number,
                "bytes": size,
                "generations_removed": len(removed),
                "seconds": _seconds_since(started),
                "inputs_hash": generation.manifest["inputs"],
                **{f"golden/{name}": value for name, value in figures.items()},
            }
        )

    return published_generation


def publishing_checks(workspace: Workspace) -> list[dg.AssetChecksDefinition]:
    """Checks of the published generation."""

    @dg.asset_check(
        asset="published_generation",
        description="Both ends of every edge exist, and the record of every chunk.",
    )
    @seal_errors
    def nothing_dangling() -> dg.AssetCheckResult:
        with generations.open_current(workspace.home) as generation:
            dangling = catalog.count_dangling(generation.path / publish.CATALOG)
        return dg.AssetCheckResult(passed=not any(dangling.values()), metadata=dict(dangling))

    @dg.asset_check(
        asset="published_generation",
        description="Every file that was written for the generation is as its MANIFEST says.",
    )
    @seal_errors
    def generation_true() -> dg.AssetCheckResult:
        with generations.open_current(workspace.home) as generation:
            wrong = generation_damage.verify(workspace.home, generation.number, carried=False)
        return dg.AssetCheckResult(passed=not wrong, metadata={"files_that_differ": len(wrong)})

    return [nothing_dangling, generation_true, *([golden_set(workspace)] if workspace.settings.golden_set else [])]


def _seconds_since(started: float) -> float:
    return round(time.monotonic() - started, 3)
