"""Runs the server on this machine, as `relrag serve` starts it: in one process, or in several that share a socket.

Each process serves alone, so what they answer at once grows with the processors. The first of them, which opened the
socket, answers nothing where there are several: it starts the others, starts one again that ended, and stops them.
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
from relrag_query.http.turns import WAITING
from relrag_query.service import Service
from relrag_query.web import team
from relrag_query.web.app import SERVER, create_app
from relrag_query.web.processes import supervise

_SHUTDOWN_SECONDS = 5
_SOCKET_MODE = 0o660


@dataclass(frozen=True)
class Address:
    """What is served, and where."""

    settings: Settings
    config: Path
    host: str
    port: int
    graphrag_index: Path | None = None
    unix_socket: Path | None = None
    """where a proxy that says who asks connects; in place of host and port"""
    processes: int = 1


def serve(place: Address, ready: Callable[[], object]) -> None:
    """Serves pages, API and MCP until it is interrupted; `ready` is called once it can be asked.

    Raises SettingsError where the port or socket is in use, or the settings do not say who may ask.
    """
    settings = place.settings
    if place.unix_socket:
        team.scopes(settings)
    with _bound(place) as listening, _session(place) as tickets:
        if place.processes > 1:
            ready()
            supervise(place.processes, _worker(place), listening)
            return
        with _app(place, tickets) as app:
            ready()
            run(app, listening)


def work(place: Address, listening: socket.socket) -> None:
    """One of several processes: answers on a socket that another process has opened."""
    tickets = None
    if not place.unix_socket:
        sessions = login.stored_sessions(place.settings, SERVER.name)
        tickets = login.open_login(place.settings.home_path, place.port, SERVER.name, sessions)
    with _app(place, tickets) as app:
        run(app, listening)


def run(app: Starlette, listening: socket.socket) -> None:
    """Answers on a socket until it is interrupted."""
    config = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,  # questions and tokens of links would stand in it
        proxy_headers=False,  # the setting says how it is reached, not a header
        server_header=False,
        http=WholeRequests,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=64 * 1024,
    )
    uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def _session(place: Address) -> Iterator[login.Login | None]:
    """The tickets of the owner's server; a team's has none, its proxy says who asks."""
    if place.unix_socket:
        yield None
        return
    where = place.settings.web_public_url or address(place.host, place.port)
    sessions = login.stored_sessions(place.settings, SERVER.name)
    with login.open_session(place.settings.home_path, place.port, where, SERVER.name, sessions) as tickets:
        yield tickets


@contextmanager
def _app(place: Address, tickets: login.Login | None) -> Iterator[Starlette]:
    settings, waiting = place.settings, WAITING // place.processes

    def service(clients: team.Clients = ()) -> Service:
        return Service(settings, None if clients else place.graphrag_index, place.config, clients)

    if tickets is None:
        with team.team_app(settings, service, waiting) as app:
            yield app
        return
    with service() as opened:
        opened.warm_up()
        yield create_app(
            opened, tickets, stored_token(settings), place.host, place.port, settings.web_public_url, waiting
        )


def _worker(place: Address) -> list[str]:
    """The arguments of a process, behind which the number of the socket's file comes."""
    options = ["--host", place.host, "--port", str(place.port), "--processes", str(place.processes)]
    index = ["--index", str(place.graphrag_index)] if place.graphrag_index else []
    team_socket = ["--socket", str(place.unix_socket)] if place.unix_socket else []
    return ["--config", str(place.config), *options, *index, *team_socket]


@contextmanager
def _bound(place: Address) -> Iterator[socket.socket]:
    with _bound_unix(place.unix_socket) if place.unix_socket else _bound_port(place.host, place.port) as found:
        yield found
    if place.unix_socket:
        place.unix_socket.unlink(missing_ok=True)


def _bound_unix(path: Path) -> socket.socket:
    """A socket that owner and group can connect to; what a server that was killed left is replaced."""
    found = socket.socket(socket.AF_UNIX)
    try:
        found.connect(str(path))
    except OSError:
        found.close()
    else:
        found.close()
        raise SettingsError(f"{path} is in use; stop the server that answers there")
    found = socket.socket(socket.AF_UNIX)
    try:
        if path.is_socket():
            path.unlink()
        before = os.umask(0o777 & ~_SOCKET_MODE)
        try:
            found.bind(str(path))
        finally:
            os.umask(before)
    except OSError as error:
        found.close()
        raise SettingsError(f"cannot listen on {path}: {error.strerror}; its folder must exist and be yours") from None
    found.listen()
    return found


def _bound_port(host: str, port: int) -> socket.socket:
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
