"""Dagster's web server behind the guard, as `relrag ui` starts it: `python -m relrag_pipelines.ui.server`.

It works as dagster_webserver.cli, without telemetry, and finds its instance by DAGSTER_HOME.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from dagster import DagsterInstance
from dagster._cli.workspace.cli_target import workspace_opts_to_load_target
from dagster._core.workspace.context import WorkspaceProcessContext, WorkspaceRequestContext
from dagster._utils.log import configure_loggers
from dagster_shared.cli import WorkspaceOpts
from dagster_webserver import cli
from dagster_webserver.version import __version__
from dagster_webserver.webserver import DagsterWebserver
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

from relrag_pipelines import settings
from relrag_pipelines.ui import login
from relrag_pipelines.ui.guard import DAGSTER, HEALTH, Guard, address, sites
from relrag_pipelines.ui.half_sent import WholeRequests

DEFINITIONS = "relrag_pipelines.definitions"
_POLL_MILLISECONDS = 2000
_SHUTDOWN_SECONDS = 5
_SETTINGS_SECONDS = 5
"""how often relrag.toml is looked at"""

SERVED = {HEALTH, "/download_debug/{run_id:str}", "/{path:path}", "/"}
"""Endpoints that are served unchanged, besides /graphql and the files of the UI. Others are not served: report_asset_*
is for programs, which have no session, /logs is empty because compute logs are off, /notebook renders any notebook of
this machine, and /dagit_info is an old name."""

_FILES = {"root_static", "_next_static", "vendor_static"}
_NOT_SERVED = PlainTextResponse("relrag does not serve this.\n", 404)
_POST_ONLY = PlainTextResponse("Queries are sent by POST.\n", 405, headers={"Allow": "POST"})


class Webserver(DagsterWebserver[WorkspaceProcessContext, WorkspaceRequestContext]):
    """Dagster's web server behind a guard, with only the endpoints that the UI needs."""

    def __init__(self, context: WorkspaceProcessContext, guard: Middleware) -> None:
        self._guard = guard
        super().__init__(context, live_data_poll_rate=_POLL_MILLISECONDS)

    def build_middleware(self) -> list[Middleware]:
        """The guard, followed by Dagster's middleware."""
        return [self._guard, *super().build_middleware()]

    def build_routes(self) -> list[BaseRoute]:
        """The allowed routes of Dagster; unknown ones are not served."""
        routes: list[BaseRoute] = super().build_routes()  # type: ignore[no-untyped-call]
        return [decided for route in routes for decided in _guarded_routes(route)]


def _guarded_routes(route: BaseRoute) -> list[BaseRoute]:
    match route:
        case WebSocketRoute(path="/graphql"):
            return [route]
        case Route(path="/graphql"):  # Dagster's would run mutations by GET
            return [Route("/graphql", route.endpoint, methods=["POST"]), Route("/graphql", _POST_ONLY)]
        case Route(path=path, name=name) | Mount(path=path, name=name) if path in SERVED or name in _FILES:
            return [route]
        case Route(path=path):
            return [Route(path, _NOT_SERVED)]
    return []


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until it is interrupted; ends with 3 if the address is in use."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", required=True, type=int)
    parser.add_argument("--public-url", default="")
    parser.add_argument("--read-only", action="store_true")
    parser.add_argument("--workspace", default="", help="a workspace.yaml; else this process loads the definitions")
    serve(**vars(parser.parse_args(arguments)))


def server_config(host: str, port: int) -> uvicorn.Config:
    """The server configuration, without an application."""
    return uvicorn.Config(
        "",
        host=host,
        port=port,
        log_level="warning",
        access_log=False,  # it would contain the links' tokens
        proxy_headers=False,  # the setting says how it is reached, not a header
        server_header=False,
        http=WholeRequests,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )


def serve(host: str, port: int, public_url: str, read_only: bool, workspace: str = "") -> None:
    """Serves the UI of the definitions; a user who can read DAGSTER_HOME can log in when it is ready."""
    configure_loggers(formatter="colored", log_level="INFO")
    config = server_config(host, port)
    listening = config.bind_socket()
    listening.listen()  # from here on a second server finds the port in use, and early requests wait
    origin = WorkspaceOpts(workspace=(workspace,)) if workspace else WorkspaceOpts(module_name=(DEFINITIONS,))
    target = workspace_opts_to_load_target(origin)
    with contextlib.suppress(KeyboardInterrupt), DagsterInstance.get() as instance:
        instance.optimize_for_webserver(
            cli.DEFAULT_DB_STATEMENT_TIMEOUT, cli.DEFAULT_POOL_RECYCLE, cli.DEFAULT_POOL_MAX_OVERFLOW
        )
        with WorkspaceProcessContext(instance, target, version=__version__, read_only=read_only) as context:
            if workspace:
                threading.Thread(target=_reload_changed_settings, args=(context,), daemon=True).start()
            folder = Path(os.environ["DAGSTER_HOME"])
            sessions = login.stored_sessions(settings.load(), DAGSTER.name)
            with login.open_session(folder, port, public_url or address(host, port), DAGSTER.name, sessions) as tickets:
                guard = Middleware(Guard, sites=sites(host, port, public_url), login=tickets, port=port)
                config.app = Webserver(context, guard).create_asgi_app(lifespan=cli._lifespan)
                uvicorn.Server(config).run(sockets=[listening])


def _reload_changed_settings(context: WorkspaceProcessContext) -> None:
    """Has the code server load the definitions again whenever relrag.toml changes; the daemon notices by itself."""
    path = settings.find_config()
    former = _state(path)
    while True:
        time.sleep(_SETTINGS_SECONDS)
        if (state := _state(path)) != former:
            former = state
            context.reload_workspace()


def _state(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:  # an editor is about to replace it
        return 0, 0
    return status.st_mtime_ns, status.st_size


if __name__ == "__main__":
    main()
