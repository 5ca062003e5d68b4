"""GraphRAG indexes of the archive: an asset per table of Microsoft's format, built after a generation is published."""

import time
from collections.abc import Iterator
from typing import Any

import dagster as dg

from relrag_pipelines.assets import labels
from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.stages import graph_build, graph_index_plan
from relrag_pipelines.stores import graph_indexes
from relrag_pipelines.stores.graph_indexes import IndexInfo
from relrag_pipelines.stores.lock import writing
from relrag_pipelines.workspace import Workspace

GROUP = "graphrag"
_WAIT_SECONDS = 600.0


def key(collection: str, table: str) -> dg.AssetKey:
    """The asset key of a collection's table."""
    return dg.AssetKey([GROUP, collection, table])


def graph_assets(workspace: Workspace, collection: str) -> dg.AssetsDefinition:
    """The table assets of a collection, materialised in one step."""
    tables = graph_index_plan.tables(workspace.settings.graphrag)

    @seal_errors
    def build() -> IndexInfo:
        with writing(workspace.home, f"graphrag {collection}", _WAIT_SECONDS):
            return graph_build.run(workspace, collection)

    @dg.multi_asset(
        name=f"{GROUP}__{collection}",
        specs=[
            dg.AssetSpec(
                key(collection, table.name),
                deps=[key(collection, input_table) for input_table in table.inputs] or ["published_generation"],
                group_name=GROUP,
                kinds={"parquet"},
                owners=labels.owners(workspace),
                tags=labels.archive_tags(labels.PUBLISHED),
                code_version=str(graph_index_plan.VERSION),
                description=table.meaning,
                metadata={"dagster/column_schema": _columns(table)},
            )
            for table in tables
        ],
    )
    def _assets() -> Iterator[dg.MaterializeResult[Any]]:
        started = time.monotonic()
        index = build()
        metadata = {**index.figures, "seconds": round(time.monotonic() - started, 3), "index": index.number}
        for table in tables:
            rows, output = index.counts[table.name], index.files[f"{table.name}.parquet"]
            yield dg.MaterializeResult(
                asset_key=key(collection, table.name), metadata={"dagster/row_count": rows, "hash": output, **metadata}
            )

    return _assets


def graph_checks(workspace: Workspace, collection: str) -> list[dg.AssetChecksDefinition]:
    """Checks of a collection's tables, read back from disk."""
    asset = key(collection, "community_reports")

    @dg.asset_check(
        asset=asset,
        name="nothing_dangling",
        description="No id leads nowhere, numbers are rows, titles are unique, every entity has a community.",
    )
    @seal_errors
    def _dangling() -> dg.AssetCheckResult:
        wrong = graph_build.broken_invariants(workspace, collection)
        return dg.AssetCheckResult(passed=not wrong, metadata={"violations": len(wrong)})

    @dg.asset_check(asset=asset, name="no_unredacted_value", description="No text of the tables holds personal data.")
    @seal_errors
    def _redacted() -> dg.AssetCheckResult:
        entities = graph_build.find_unredacted(workspace, collection)
        return dg.AssetCheckResult(passed=not entities, metadata={"found": sum(entities.values()), **entities})

    @dg.asset_check(asset=asset, name="manifest_true", description="Every file is as the index's manifest says.")
    @seal_errors
    def _true() -> dg.AssetCheckResult:
        prefix = f"{graph_indexes.FOLDER}/{collection}/"
        wrong = [path for path, _ in graph_indexes.damage(workspace.home) if path.startswith(prefix)]
        return dg.AssetCheckResult(passed=not wrong, metadata={"files_that_differ": len(wrong)})

    return [_dangling, _redacted, _true]


def _columns(table: graph_index_plan.GraphTable) -> dg.TableSchema:
    return dg.TableSchema(columns=[dg.TableColumn(name, kind) for name, kind in table.columns])
