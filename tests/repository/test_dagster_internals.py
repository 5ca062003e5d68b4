"""What relrag uses of Dagster that Dagster does not promise to keep. After an upgrade these tests say what has changed.

Each row of USED is a name, the parameters or attributes that relrag relies on, and why there is no public way.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple

import dagster as dg
import pytest

from relrag_pipelines.stores import dagster_runs
from tests.conftest import ROOT

_ONE_PROCESS = "a run in this process that belongs to a job and a location of the UI: dg.materialize makes neither"
_ONE_ENGINE = "dagster.yaml can name a storage, but a storage of one's own is made from Dagster's"
_SMALL = "rows are compressed: Dagster has no setting for it"
_GUARD = "the web server behind relrag's login: Dagster has no other way to add middleware"
_TYPES = "types of an executor's parameters, imported by mypy alone"


class Use(NamedTuple):
    """A name of Dagster with what relrag relies on."""

    module: str
    name: str
    relied_on: tuple[str, ...]
    reason: str


USED = (
    Use("dagster._core.definitions.job_base", "InMemoryJob", ("job_def",), _ONE_PROCESS),
    Use("dagster._core.definitions.repository_definition", "SINGLETON_REPOSITORY_NAME", (), _ONE_PROCESS),
    Use(
        "dagster._core.execution.api",
        "create_execution_plan",
        ("job", "run_config", "instance_ref", "tags"),
        _ONE_PROCESS,
    ),
    Use("dagster._core.execution.api", "execute_run", ("job", "dagster_run", "instance"), _ONE_PROCESS),
    Use(
        "dagster._core.remote_origin",
        "ManagedGrpcPythonEnvCodeLocationOrigin",
        ("loadable_target_origin",),
        _ONE_PROCESS,
    ),
    Use(
        "dagster._core.remote_origin",
        "RemoteRepositoryOrigin",
        ("code_location_origin", "repository_name", "get_job_origin"),
        _ONE_PROCESS,
    ),
    Use("dagster._core.snap", "snapshot_from_execution_plan", ("execution_plan",), _ONE_PROCESS),
    Use("dagster._core.types.loadable_target_origin", "LoadableTargetOrigin", ("module_name",), _ONE_PROCESS),
    Use(
        "dagster._core.storage.event_log",
        "ConsolidatedSqliteEventLogStorage",
        (
            "_connect",
            "store_event",
            "store_event_batch",
            "_store_asset_event",
            "has_table",
            "_has_asset_key_col_on_connection",
            "get_latest_storage_id_by_partition",
            "get_latest_asset_partition_materialization_attempts_without_materializations",
            "get_asset_records",
        ),
        _ONE_ENGINE,
    ),
    Use("dagster._core.storage.event_log.schema", "AssetKeyTable", ("name", "c"), _ONE_ENGINE),
    Use("dagster._core.storage.event_log.schema", "SqlEventLogStorageTable", ("c",), _SMALL),
    Use("dagster._core.storage.event_log.schema", "AssetCheckExecutionsTable", ("c",), _SMALL),
    Use("dagster._core.storage.runs.schema", "RunsTable", ("c",), _SMALL),
    Use("dagster._core.storage.runs", "SqliteRunStorage", ("from_config_value", "from_local", "connect"), _ONE_ENGINE),
    Use(
        "dagster._core.storage.schedules",
        "SqliteScheduleStorage",
        ("from_config_value", "from_local", "connect"),
        _ONE_ENGINE,
    ),
    Use("dagster._core.storage.sqlite", "SQLITE_BUSY_TIMEOUT_SECONDS", (), _ONE_ENGINE),
    Use("dagster._core.storage.sqlite", "create_db_conn_string", ("base_dir", "db_name"), _ONE_ENGINE),
    Use("dagster._serdes", "ConfigurableClassData", (), _ONE_ENGINE),
    Use("dagster._cli.workspace.cli_target", "workspace_opts_to_load_target", ("opts",), _GUARD),
    Use(
        "dagster._core.workspace.context",
        "WorkspaceProcessContext",
        ("instance", "workspace_load_target", "version", "read_only", "reload_workspace"),
        _GUARD,
    ),
    Use("dagster._core.workspace.context", "WorkspaceRequestContext", (), _GUARD),
    Use("dagster._utils.log", "configure_loggers", ("formatter", "log_level"), _GUARD),
    Use("dagster_shared.cli", "WorkspaceOpts", ("module_name", "workspace"), _GUARD),
    Use(
        "dagster_webserver",
        "cli",
        ("_lifespan", "DEFAULT_DB_STATEMENT_TIMEOUT", "DEFAULT_POOL_RECYCLE", "DEFAULT_POOL_MAX_OVERFLOW"),
        _GUARD,
    ),
    Use("dagster_webserver.version", "__version__", (), _GUARD),
    Use(
        "dagster_webserver.webserver",
        "DagsterWebserver",
        ("process_context", "live_data_poll_rate", "build_middleware", "build_routes", "create_asgi_app"),
        _GUARD,
    ),
    Use("dagster._core.execution.context.system", "PlanOrchestrationContext", ("dagster_run", "instance"), _TYPES),
    Use("dagster._core.execution.plan.plan", "ExecutionPlan", (), _TYPES),
    Use("dagster._core.execution.retries", "RetryMode", (), _TYPES),
)
NAMED_IN_YAML = (("dagster._core.storage.noop_compute_log_manager", "NoOpComputeLogManager"),)
PARTS = (
    (dg.DagsterEvent, ("logging_tags", "node_handle", "step_handle", "message", "_replace")),
    (dg.EventLogEntry, ("user_message", "dagster_event", "_replace")),
    (dg.ExecutorDefinition, ("executor_creation_fn", "config_schema")),
    (dg.MonthlyPartitionsDefinition, ("get_partition_keys", "get_last_partition_key")),
    (
        dg.DagsterInstance,
        ("create_run", "optimize_for_webserver", "get_records_for_run", "report_runless_asset_event", "delete_run"),
    ),
)
"""parts of public classes that Dagster does not document"""


@pytest.mark.parametrize("use", USED, ids=lambda use: f"{use.module}.{use.name}")
def test_what_is_used_is_as_it_was(use: Use) -> None:
    value = _find(use)
    lacking = [part for part in use.relied_on if not _has(value, part)]
    assert not lacking, f"needed for: {use.reason}"


@pytest.mark.parametrize(("owner", "parts"), PARTS, ids=lambda value: getattr(value, "__name__", ""))
def test_public_classes_have_the_parts_that_are_used(owner: type, parts: tuple[str, ...]) -> None:
    assert [part for part in parts if not _has(owner, part)] == []


def test_what_dagster_yaml_names_exists() -> None:
    for module, name in NAMED_IN_YAML:
        assert hasattr(importlib.import_module(module), name)
        for template in ("dagster.yaml", "dagster_postgres.yaml"):
            text = (ROOT / "relrag_pipelines" / "orchestration" / template).read_text()
            assert f"module: {module}" in text and f"class: {name}" in text


def test_the_tables_that_are_read_without_dagster_are_as_they_were() -> None:
    schema = importlib.import_module("dagster._core.storage.runs.schema")
    assert "timestamp" in schema.DaemonHeartbeatsTable.c
    assert schema.DaemonHeartbeatsTable.name == "daemon_heartbeats"
    assert "status" in schema.RunsTable.c
    assert {status.value for status in dg.DagsterRunStatus} >= set(dagster_runs.UNFINISHED)


def test_no_other_private_name_of_dagster_is_imported() -> None:
    declared = {(use.module, use.name) for use in USED}
    assert set(_imported()) == declared


def _imported() -> Iterator[tuple[str, str]]:
    for folder in ("relrag_pipelines", "relrag_query"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("dagster.", "dagster_")):
                    yield from ((str(node.module), alias.name) for alias in node.names)


def _find(use: Use) -> Any:
    module = importlib.import_module(use.module)
    with contextlib.suppress(ModuleNotFoundError):
        return importlib.import_module(f"{use.module}.{use.name}")
    return getattr(module, use.name)


def _has(value: Any, part: str) -> bool:
    if hasattr(value, part):
        return True
    return callable(value) and part in inspect.signature(value).parameters
