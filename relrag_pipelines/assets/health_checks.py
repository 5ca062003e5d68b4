"""Dagster's checks for unusual figures. One step runs all checks of a source, another those of the archive.

They warn and block nothing, and run every night: a sync of one message does not pay for them. Dagster runs every check
of an asset with the asset, so they are on assets that no run makes: the records of a source, and the archive's home.
"""

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import dagster as dg

from relrag_pipelines.assets import labels
from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.publishing import archive_health
from relrag_pipelines.settings import Source
from relrag_pipelines.stages import source_health
from relrag_pipelines.stages.source_health import Verdict
from relrag_pipelines.workspace import Workspace

_HOME = "archive_home"
_Check = tuple[dg.AssetCheckSpec, Callable[[], Verdict]]
_CHECKS = (*source_health.CHECKS, *archive_health.CHECKS)


def source_checks(workspace: Workspace, source: Source) -> dg.AssetChecksDefinition:
    """The checks of a source."""
    return _step(
        f"{source.name}__health",
        [
            (
                dg.AssetCheckSpec(check.name, asset=[source.name, "records"], description=check.meaning),
                functools.partial(check.run, workspace, source),
            )
            for check in source_health.CHECKS
        ],
    )


def archive_home(workspace: Workspace) -> dg.AssetSpec:
    """The archive's home as an asset, which is only checked."""
    return dg.AssetSpec(
        _HOME,
        deps=["published_generation"],
        group_name="published",
        kinds={"file"},
        owners=labels.owners(workspace),
        tags=labels.archive_tags(labels.PRIVATE),
        code_version="1",
        description="The folder of everything derived and private. Nothing makes it; its checks run every night.",
    )


def archive_checks(workspace: Workspace) -> dg.AssetChecksDefinition:
    """The checks of the archive's home."""
    return _step(
        "archive__health",
        [
            (
                dg.AssetCheckSpec(check.name, asset=_HOME, description=check.meaning),
                functools.partial(check.run, workspace),
            )
            for check in archive_health.CHECKS
        ],
    )


def nightly_keys(keys: Iterable[dg.AssetCheckKey]) -> list[dg.AssetCheckKey]:
    """Those of the given checks that run every night: the ones declared here, and those of files at rest."""
    names = {check.name for check in _CHECKS} | {"manifest_true"}
    return [key for key in keys if key.name in names and key.asset_key.path[0] != "graphrag"]


def keys_of_run(definitions: dg.Definitions, assets: Collection[dg.AssetKey]) -> set[dg.AssetCheckKey]:
    """The checks that belong to a run of these assets, without the nightly ones."""
    keys = {key for check in definitions.asset_checks or [] for key in check.check_keys}
    keys |= {key for asset in definitions.assets or [] for key in getattr(asset, "check_keys", ())}
    return {key for key in keys - set(nightly_keys(keys)) if key.asset_key in assets}


def _step(name: str, checks: Sequence[_Check]) -> dg.AssetChecksDefinition:
    runs = {spec.key: run for spec, run in checks}

    @dg.multi_asset_check(name=name, specs=[spec for spec, _ in checks], can_subset=True)
    def _checks(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        for key in sorted(context.selected_asset_check_keys):
            yield _result(key, seal_errors(runs[key])())

    return _checks


def _result(key: dg.AssetCheckKey, verdict: Verdict) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        asset_key=key.asset_key,
        check_name=key.name,
        passed=verdict.passed,
        severity=dg.AssetCheckSeverity.WARN,
        metadata=dict(verdict.figures),
        description=verdict.sentence or None,
    )
