"""`relrag failures retry`: has what could not be read tried again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relrag_pipelines.stores import lock
from relrag_query.cli import dispatch
from relrag_query.cli.exit_codes import DONE
from relrag_query.cli.options import Config, Json, Wait
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_pipelines.settings import Settings, Source

app = typer.Typer(help="What could not be read.", no_args_is_help=True)


@app.command("list", epilog="Example: relrag failures list --json")
def list_failures_command(as_json: Json = False, config: Config = None) -> None:
    """List what could not be read, why, and what to do.

    `relrag status --failures` shows the same.
    """
    from relrag_query.cli.commands.status import status

    dispatch.run(status, config, as_json=as_json, failures=True)


@app.command("retry", epilog='Example: relrag failures retry documents "scans/letter.pdf" --now')
def retry_command(
    source: Annotated[str, typer.Argument(help="Source; by default all of them.")] = "",
    file: Annotated[str, typer.Argument(help="File of the source, as the list names it; by default all.")] = "",
    now: Annotated[bool, typer.Option("--now", help="Sync at once; by default the next sync does it.")] = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Read again what could not be read, although its files are unchanged.

    For files that failed for want of a program, a library or memory.
    """
    dispatch.run(retry, config, source=source, file=file, now=now, wait=wait)


def retry(config: Path | None = None, *, source: str = "", file: str = "", now: bool = False, wait: float = 0) -> int:
    """Marks failed units to be read again, and syncs if `now`; returns the exit code.

    Raises SettingsError for a source that is unknown, and for a file in which nothing failed.
    """
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.ingest import failure_retry
    from relrag_pipelines.settings import SettingsError
    from relrag_pipelines.workspace import Workspace
    from relrag_query.cli.commands.sync import sync

    settings = settings_module.load(config)
    workspace = Workspace(settings)
    sources = _sources(settings, source)
    with lock.writing(workspace.home, "relrag failures retry", wait):
        counts = {chosen.name: failure_retry.mark(workspace, chosen, file) for chosen in sources}
    if file and not sum(counts.values()):
        raise SettingsError(f"nothing failed in {safe(file)} of {source}; `relrag failures list` names what did")
    for name, count in counts.items():
        if count:
            print(f"{name}: {number(count, 'file')} to be read again")
    if not sum(counts.values()):
        print("Nothing failed.")
        return DONE
    if now:
        return sync(config, wait=wait)
    print("`relrag sync` reads them.")
    return DONE


def _sources(settings: Settings, name: str) -> list[Source]:
    return [settings.source(name)] if name else list(settings.sources)
