"""Runs the server on this machine, as `relrag serve` starts it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.ui import login
from relrag_pipelines.ui.guard import address
from relrag_query.http.api_token import HeldToken
from relrag_query.service import Service
from relrag_query.web.app import SERVER, create_app

_SHUTDOWN_SECONDS = 5


def serve(
    settings: Settings,
    config_file: Path,
    host: str,
    port: int,
    graphrag_index: Path | None,
    ready: Callable[[], object],
) -> None:
    """Serves pages, API and MCP until it is interrupted; `ready` is called once links log in.

    Raises SettingsError where the port is in use.
    """
    listening = _bound(host, port)
    config = uvicorn.Config(
        "",
        log_level="critical",
        access_log=False,  # questions and tokens of links would stand in it
        proxy_headers=False,  # the setting says how it is reached, not a header
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=64 * 1024,
    )
    where = settings.web_public_url or address(host, port)
    with (
        listening,
        Service(settings, graphrag_index, config_file) as service,
        login.open_session(settings.home_path, port, where, SERVER.name) as tickets,
    ):
        config.app = create_app(service, tickets, HeldToken(settings), host, port, settings.web_public_url)
        ready()
        uvicorn.Server(config).run(sockets=[listening])


def _bound(host: str, port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise SettingsError(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another port with --port"
        ) from None
    found.listen()  # from here on a second server finds the port in use; who comes early waits
    return found
