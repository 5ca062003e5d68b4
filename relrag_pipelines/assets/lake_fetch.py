"""The lake of an archive in a bucket: what another machine has written there is fetched before this one goes on."""

from typing import Any

import dagster as dg

from relrag_pipelines.assets import labels
from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.publishing import lake_bucket
from relrag_pipelines.stores.lock import writing
from relrag_pipelines.workspace import Workspace

FETCHED = "fetched_lake"
_WAIT_SECONDS = 600.0


def keys(workspace: Workspace) -> list[dg.AssetKey]:
    """The asset's key, if the lake is in a bucket."""
    return [dg.AssetKey(FETCHED)] if workspace.settings.home_lake else []


def fetched_lake(workspace: Workspace) -> dg.AssetsDefinition:
    """The asset that fetches the bucket's files and applies the erasure rules that another machine wrote."""

    @dg.asset(
        key=FETCHED,
        group_name="archive",
        kinds={"s3"},
        owners=labels.owners(workspace),
        tags=labels.archive_tags(labels.REDACTED),
        code_version="1",
        description="What another machine wrote into the bucket of the lake. Fetched every night and before a change.",
    )
    @seal_errors
    def _asset() -> dg.MaterializeResult[Any]:
        from relrag_pipelines.erasure import purge  # imported only here: the definitions need none of it

        with writing(workspace.home, FETCHED, _WAIT_SECONDS):
            pulled = lake_bucket.pull(workspace)
            purge.resume(workspace)
        return dg.MaterializeResult(metadata=pulled._asdict())

    return _asset
