"""`relrag status`: what is indexed, from where, what is out of date, and what could not be read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Json

app = typer.Typer()


@app.command("status", epilog="Example: relrag status --failures")
def status_command(
    as_json: Json = False,
    failures: Annotated[bool, typer.Option("--failures", help="List what could not be read.")] = False,
    config: Config = None,
) -> None:
    """Show what is indexed, per source, and what failed."""
    dispatch.run(status, config, as_json=as_json, failures=failures)


def status(config: Path | None = None, *, as_json: bool = False, failures: bool = False) -> int:
    """Prints the state of the archive, or with `failures` each unit that could not be read; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_query.cli.status_report import print_failures, print_status
    from relrag_query.service.archive_status import collect

    settings = settings_module.load(config)
    if failures:
        print_failures(settings, as_json)
    elif as_json:
        print(json.dumps(asdict(collect(settings)), indent=1, ensure_ascii=False))
    else:
        print_status(collect(settings), settings)
    return 0
