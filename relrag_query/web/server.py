"""Runs the server of `relrag serve`: in one process, or in several that share a socket.

Processes answer requests independently, so throughput grows with the number of processors. With several processes, the
first one opens the socket and answers no requests: it starts the others, restarts those that end, and stops them.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.ui import login
from relrag_pipelines.ui.guard import address
from relrag_pipelines.ui.half_sent import WholeRequests
from relrag_query.http.api_token import stored_token
from relrag_query.http.concurrency import MAX_QUEUE
from relrag_query.service import Service
from relrag_query.web import team
from relrag_query.web.app import SERVER, create_app
from relrag_query.web.processes import supervise

_SHUTDOWN_SECONDS = 5
_SOCKET_MODE = 0o660


@dataclass(frozen=True)
class Address:
    """The archive to serve, and the address to serve it on."""

    settings: Settings
    config: Path
    host: str
    port: int
    graphrag_index: Path | None = None
    unix_socket: Path | None = None
    """socket for a proxy that identifies users, instead of host and port"""
    processes: int = 1


def serve(site: Address, ready: Callable[[], object]) -> None:
    """Serves pages, API and MCP until it is interrupted; `ready` is called when the socket listens.

    Raises SettingsError if the port or socket is in use, or if a team's settings name no users.
    """
    settings = site.settings
    if site.unix_socket:
        team.scopes(settings)
    with _listening_socket(site) as listening, _session(site) as tickets:
        if site.processes > 1:
            ready()
            supervise(site.processes, _worker_arguments(site), listening)
            return
        with _app(site, tickets) as app:
            ready()
            run(app, listening)


def work(site: Address, listening: socket.socket) -> None:
    """Runs one of several processes, which answers on a socket opened by another process."""
    tickets = None
    if not site.unix_socket:
        sessions = login.stored_sessions(site.settings, SERVER.name)
        tickets = login.open_login(site.settings.home_path, site.port, SERVER.name, sessions)
    with _app(site, tickets) as app:
        run(app, listening)


def run(app: Starlette, listening: socket.socket) -> None:
    """Answers on a socket until it is interrupted."""
    config = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,  # it would contain questions and the tokens of links
        proxy_headers=False,  # the public address comes from the settings, not from a header
        server_header=False,
        http=WholeRequests,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=64 * 1024,
    )
    uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def _session(site: Address) -> Iterator[login.Login | None]:
    """The login of the owner's server; None for a team, whose proxy identifies users."""
    if site.unix_socket:
        yield None
        return
    url = site.settings.web_public_url or address(site.host, site.port)
    sessions = login.stored_sessions(site.settings, SERVER.name)
    with login.open_session(site.settings.home_path, site.port, url, SERVER.name, sessions) as tickets:
        yield tickets


@contextmanager
def _app(site: Address, tickets: login.Login | None) -> Iterator[Starlette]:
    settings, max_queue = site.settings, MAX_QUEUE // site.processes

    def service(clients: team.Clients = ()) -> Service:
        return Service(settings, None if clients else site.graphrag_index, site.config, clients)

    if tickets is None:
        with team.team_app(settings, service, max_queue) as app:
            yield app
        return
    with service() as opened:
        opened.warm_up()
        yield create_app(
            opened, tickets, stored_token(settings), site.host, site.port, settings.web_public_url, max_queue
        )


def _worker_arguments(site: Address) -> list[str]:
    """The arguments of a worker process, without the file number of the socket."""
    options = ["--host", site.host, "--port", str(site.port), "--processes", str(site.processes)]
    index = ["--index", str(site.graphrag_index)] if site.graphrag_index else []
    team_socket = ["--socket", str(site.unix_socket)] if site.unix_socket else []
    return ["--config", str(site.config), *options, *index, *team_socket]


@contextmanager
def _listening_socket(site: Address) -> Iterator[socket.socket]:
    with _bind_unix(site.unix_socket) if site.unix_socket else _bind_port(site.host, site.port) as listening:
        yield listening
    if site.unix_socket:
        site.unix_socket.unlink(missing_ok=True)


def _bind_unix(path: Path) -> socket.socket:
    """A socket that owner and group can connect to; replaces the socket file of a killed server."""
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.connect(str(path))
    except OSError:
        listening.close()
    else:
        listening.close()
        raise SettingsError(f"{path} is in use; stop the server that answers there")
    listening = socket.socket(socket.AF_UNIX)
    try:
        if path.is_socket():
            path.unlink()
        old_umask = os.umask(0o777 & ~_SOCKET_MODE)
        try:
            listening.bind(str(path))
        finally:
            os.umask(old_umask)
    except OSError as error:
        listening.close()
        raise SettingsError(f"cannot listen on {path}: {error.strerror}; its folder must exist and be yours") from None
    listening.listen()
    return listening


def _bind_port(host: str, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise SettingsError(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another port with --port"
        ) from None
    listening.listen()  # from now on a second server finds the port in use, and early clients wait
    return listening
