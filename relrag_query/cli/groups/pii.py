"""`relrag pii`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Json, Wait

app = typer.Typer(help="Personal data: what was replaced, and what is found in a text.", no_args_is_help=True)


@app.command("report", epilog="Example: relrag pii report --json")
def report(as_json: Json = False, config: Config = None) -> None:
    """Count what was replaced, by entity, channel and month.

    No value is shown.
    """
    dispatch.run("pii", "report", config, as_json=as_json)


@app.command("test", epilog='Example: relrag pii test "call 052-123-4567" --channel gmail')
def test(
    text: Annotated[
        str | None,
        typer.Argument(help="Any text; it is examined on this machine and not stored. Without one, see --file."),
    ] = None,
    channel: Annotated[
        str | None,
        typer.Option(
            "--channel", metavar="CHANNEL", help="Channel whose policy applies, such as gmail; by default all of them."
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="File with one text a line; `-` or no text reads standard input."),
    ] = None,
    config: Config = None,
) -> None:
    """Show what is found in a text, why, what protects a number, and what becomes of the text.

    No key is made: where the archive has none yet, pseudonyms are of keys that are not kept.
    """
    dispatch.run("pii", "test", text, channel, config, file)


@app.command("rotate-key", epilog="Example: relrag pii rotate-key")
def rotate_key(wait: Wait = 0, config: Config = None) -> None:
    """Make a new key for pseudonyms, and rewrite all of them.

    If it is interrupted, `relrag sync` finishes the job.
    """
    dispatch.run("pii", "rotate_key", config, wait=wait)


@app.command("new-keys", epilog="Example: relrag pii new-keys")
def new_keys() -> None:
    """Print keys for a new archive.

    They are for `keys_store = "environment"`.
    """
    dispatch.run("pii", "new_keys")
