"""`relrag backfill`: months of a source, and the collections of older systems."""

from __future__ import annotations

from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Sources, Strict, Wait

app = typer.Typer(invoke_without_command=True)


@app.callback(epilog="Example: relrag backfill --source mail --from 2024-01 --to 2024-03")
def backfill(
    context: typer.Context,
    source: Annotated[str, typer.Option("--source", metavar="NAME", help="Name of the source.")] = "",
    first: Annotated[str, typer.Option("--from", metavar="MONTH", help="First month, YYYY-MM.")] = "",
    last: Annotated[str, typer.Option("--to", metavar="MONTH", help="Last month, YYYY-MM.")] = "",
    strict: Strict = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Rebuild months of one source.

    `relrag backfill legacy` is about the Qdrant collection of an older system.
    """
    if context.invoked_subcommand:
        return
    for option, value in (("--source", source), ("--from", first), ("--to", last)):
        if not value:
            raise typer.BadParameter(f"Missing option '{option}'; `relrag backfill legacy` needs none.")
    dispatch.run("sync", "backfill", source, first, last, config, strict=strict, wait=wait)


@app.command(epilog="Example: relrag backfill legacy --dry-run")
def legacy(
    sources: Sources = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing; show what would be done.")] = False,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Write at most this many points; the next run continues."),
    ] = None,
    strict: Strict = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Index an older system's Qdrant collection, and extend it.

    Its points are given relations, the fields that all kinds share, and person ids.
    """
    dispatch.run(
        "backfill_legacy", "backfill_legacy", sources, config, dry_run=dry_run, limit=limit, strict=strict, wait=wait
    )
