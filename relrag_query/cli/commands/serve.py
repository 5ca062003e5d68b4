"""`relrag serve`: pages, API and MCP on this machine. `relrag mcp`: the same tools on standard input and output."""

from __future__ import annotations

import importlib
import os
import socket
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relrag_pipelines.files import access
from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, ServedIndex

if TYPE_CHECKING:
    from relrag_pipelines.settings import Settings

app = typer.Typer()


@app.command("serve", epilog="Example: relrag serve --login")
def serve_command(
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Port to listen on.")] = 3100,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    login: Annotated[bool, typer.Option("--login", help="Only print a link to the running server.")] = False,
    token: Annotated[bool, typer.Option("--token", help="Only print the token for programs.")] = False,
    new_token: Annotated[bool, typer.Option("--new-token", help="Replace the token, and print the new one.")] = False,
    log_out: Annotated[bool, typer.Option("--log-out", help="Only end all logins, of the UI too.")] = False,
    index: ServedIndex = None,
    socket: Annotated[
        Path | None,
        typer.Option("--socket", metavar="PATH", help="Listen on this Unix socket, for a proxy that identifies users."),
    ] = None,
    processes: Annotated[
        int, typer.Option("--processes", metavar="N", min=1, max=64, help="How many processes answer requests.")
    ] = 1,
    config: Config = None,
) -> None:
    """Serve pages, an API and MCP for this archive.

    Whoever opens the link that is printed is logged in for 30 days (login_days); it works once. --login prints another
    one. --log-out ends all logins, and --new-token does so too.
    """
    dispatch.run(
        serve,
        config,
        port=port,
        host=host,
        login=login,
        token=token,
        new_token=new_token,
        log_out=log_out,
        index=index,
        unix_socket=socket,
        processes=processes,
    )


@app.command("open", epilog="Example: relrag open ~/memory")
def open_pages_command(
    folder: Annotated[
        Path, typer.Argument(help="Where a new archive is made, if there is no relrag.toml here or above.")
    ] = Path("~/relrag"),
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Port to listen on.")] = 3100,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser, or print the link.")] = True,
    config: Config = None,
) -> None:
    """Open your archive in the browser, logged in, and serve it if it isn't served already.

    Without an archive an empty one is made, which the pages fill.
    """
    dispatch.run(open_pages, folder, config, port=port, browser=browser)


@app.command("mcp", epilog="Example: relrag mcp --config ~/archive/relrag.toml")
def mcp_command(index: ServedIndex = None, config: Config = None) -> None:
    """Serve the archive as tools to a language model (MCP, on standard input and output)."""
    dispatch.run(mcp, config, index=index)


HOST = "127.0.0.1"
DEFAULT_PORT = 3100
_NAME = "serve"
WRITES = "web_writes_enabled"
_LOCAL_HOSTS = (HOST, "localhost", "::1")


def serve(
    config: Path | None = None,
    *,
    port: int = DEFAULT_PORT,
    host: str = HOST,
    login: bool = False,
    token: bool = False,
    new_token: bool = False,
    log_out: bool = False,
    index: Path | None = None,
    unix_socket: Path | None = None,
    processes: int = 1,
) -> int:
    """Serves until it is interrupted; returns the exit code.

    Once it is ready it prints a login link; `login` prints another one, `token` the token for programs, and both serve
    nothing. `log_out` ends all logins, and so does a `new_token`.
    """
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.settings import SettingsError
    from relrag_pipelines.ui import login as logins

    config = config or settings_module.find_config()
    settings = settings_module.load(config)
    option = "" if port == DEFAULT_PORT else f" --port {port}"
    if login:
        if not (link := logins.link(settings.home_path, port, _NAME)):
            raise SettingsError(f"no pages of this archive are served on port {port}; start with: relrag serve{option}")
        print(link)
        return 0
    if log_out or new_token:
        logins.end_sessions(settings)
    if log_out:
        print(f"All logins have ended; a link to log in again: relrag serve --login{option}")
        return 0
    server = _load_extra("relrag_query.web.server")
    if token or new_token:
        print(_load_extra("relrag_query.http.api_token").load_token(settings, new=new_token))
        return 0
    access.restrict_folder(settings.home_path)
    if not unix_socket and host not in _LOCAL_HOSTS and not settings.web_public_url.startswith("https:"):
        print(
            "warning: pages and logins cross the network unencrypted; docs/deploy.md shows a proxy that encrypts them"
        )
    address = server.Address(settings, config.resolve(), host, port, index, unix_socket, processes)
    server.serve(
        address,
        lambda: (
            _print_address(settings, port, option) if not unix_socket else _print_team_address(settings, unix_socket)
        ),
    )
    return 0


def mcp(config: Path | None = None, *, index: Path | None = None) -> int:
    """Serves the tools to the program that started this one, until it closes standard input; returns the exit code."""
    tools = _load_extra("relrag_query.mcp.server")
    from relrag_query.service import Service

    with Service.open(config, index) as service:
        tools.serve_stdio(service)
    return 0


def open_pages(folder: Path, config: Path | None = None, *, port: int = DEFAULT_PORT, browser: bool = True) -> int:
    """Opens the pages in a browser, logged in; returns the exit code.

    They are those of `config`, else of the nearest relrag.toml, else of one that is written into `folder`. If they are
    served already, only the browser is opened; else they are served until this is interrupted.
    """
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.ui import login as logins

    config = _config_to_open(folder, config)
    option = "" if port == DEFAULT_PORT else f" --port {port}"
    settings = settings_module.load(config)
    link = logins.link(settings.home_path, port, _NAME)
    if link and _answers(port):
        _show(link, option, browser=browser)
        return 0
    server = _load_extra("relrag_query.web.server")
    access.restrict_folder(settings.home_path)

    def ready() -> None:
        _show(logins.link(settings.home_path, port, _NAME) or "", option, browser=browser)
        print("Stop with Ctrl-C", flush=True)

    server.serve(server.Address(settings, config.resolve(), HOST, port), ready)
    return 0


def _config_to_open(folder: Path, config: Path | None) -> Path:
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.settings import SettingsError

    if config:
        return config
    try:
        return settings_module.find_config()
    except SettingsError:
        if os.environ.get("RELRAG_CONFIG"):
            raise
    config = folder.expanduser().resolve() / settings_module.CONFIG_NAME
    if not config.exists():
        # imported only here: it looks into exports, for which it needs many libraries
        from relrag_query.cli.commands.init import write_empty

        write_empty(config)
        print(f"A new archive: {config}")
    return config


def _answers(port: int) -> bool:
    """Whether a server listens on that port of this machine."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def _show(link: str, option: str, *, browser: bool) -> None:
    """Opens a login link in the browser; prints it where there is none, but only on a terminal."""
    if browser and webbrowser.open(link):
        print("Your archive is open in the browser.", flush=True)
    elif sys.stdout.isatty():
        print(f"Your archive: {link}", flush=True)
    else:
        print(f"No browser can be opened here; a link to log in: relrag serve --login{option}", flush=True)


def _print_address(settings: Settings, port: int, option: str) -> None:
    """Prints the address. It prints a login link only on a terminal, since other output may be stored."""
    from relrag_pipelines.ui import login as logins

    command = f"relrag serve --login{option}"
    if sys.stdout.isatty():
        print(f"Your archive: {logins.link(settings.home_path, port, _NAME)}")
        print(f"The link logs in once, within an hour; for another one: {command}; stop with Ctrl-C", flush=True)
    else:
        print(f"Your archive: ready; a link to log in: {command}", flush=True)
    if not settings.web_writes_enabled:
        hint = f"{WRITES} = true in relrag.toml"
        print(f"The pages only read until you allow more at the first login, or by {hint}.", flush=True)


def _print_team_address(settings: Settings, unix_socket: Path) -> None:
    people = len(settings.web_users)
    print(f"Ready for the proxy at {unix_socket}; {people} people of web_users may ask. Stop with Ctrl-C.", flush=True)


def _load_extra(module: str) -> Any:
    """Imports a module that needs the packages of the extra `serve`."""
    from relrag_pipelines.settings import SettingsError

    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("relrag"):
            raise
        raise SettingsError(f'{error.name} is not installed; install "relrag[serve]"') from None
