"""Commands that serve an archive: `ui`, `serve`, `mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, ServedIndex

app = typer.Typer()


@app.command(epilog="Example: relrag ui --port 3001")
def ui(
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Port to listen on.")] = 3000,
    read_only: Annotated[bool, typer.Option("--read-only", help="Forbid launching runs.")] = False,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    login: Annotated[bool, typer.Option("--login", help="Only print a link to the running server.")] = False,
    config: Config = None,
) -> None:
    """Serve Dagster's UI and daemon on the archive's own instance.

    Whoever opens the link that is printed is logged in; it works once. --login prints another one.
    """
    dispatch.run("ui", "ui", config, port=port, read_only=read_only, host=host, login=login)


@app.command(epilog="Example: relrag serve --login")
def serve(
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
    options = {"port": port, "host": host, "login": login, "token": token, "new_token": new_token, "log_out": log_out}
    dispatch.run("serve", "serve", config, **options, index=index, unix_socket=socket, processes=processes)


@app.command("open", epilog="Example: relrag open ~/memory")
def open_pages(
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
    dispatch.run("serve", "open_pages", folder, config, port=port, browser=browser)


@app.command(epilog="Example: relrag mcp --config ~/archive/relrag.toml")
def mcp(index: ServedIndex = None, config: Config = None) -> None:
    """Serve the archive as tools to a language model (MCP, on standard input and output)."""
    dispatch.run("serve", "mcp", config, index=index)
