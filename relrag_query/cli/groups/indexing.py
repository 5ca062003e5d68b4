"""Commands that build an archive and look after it: `init`, `sync`, `plan`, `forget`, `status` and more."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Json, Strict, Wait

app = typer.Typer()


@app.command(epilog='Example: relrag init ~/exports --owner "Dana Levi"')
def init(
    folder: Annotated[Path, typer.Argument(help="Folder of your exports; by default the current one.")] = Path(),
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where relrag.toml is written.")
    ] = None,
    owner: Annotated[
        str, typer.Option("--owner", metavar="NAME", help="The archive's owner, by the name in chats and mails.")
    ] = "",
    redaction: Annotated[
        str, typer.Option("--redaction", metavar="LEVEL", help="How much is hidden: balanced, strict or off.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing relrag.toml; a copy is kept.")] = False,
    as_json: Json = False,
) -> None:
    """Show which exports a folder contains, and write relrag.toml."""
    options = {"output": output, "owner": owner, "redaction": redaction, "yes": yes, "force": force}
    dispatch.run("init", "init", folder, **options, as_json=as_json)


@app.command(epilog="Example: relrag sync --wait 60")
def sync(
    full: Annotated[bool, typer.Option("--full", help="Read everything again, not only what changed.")] = False,
    accept_deletions: Annotated[
        bool, typer.Option("--accept-deletions", help="Continue even if much of a source has disappeared.")
    ] = False,
    strict: Strict = False,
    wait: Wait = 0,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Bring the index up to date with the sources."""
    options = {"full": full, "accept_deletions": accept_deletions, "strict": strict, "wait": wait}
    dispatch.run("sync", "sync", config, **options, as_json=as_json)


@app.command(epilog="Example: relrag watch --every 60")
def watch(
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=1, help="How often servers are asked for changes.")
    ] = 30,
    config: Config = None,
) -> None:
    """Sync whenever files change, until it is stopped with Ctrl-C.

    Sources on servers are asked for changes from time to time.
    """
    dispatch.run("watch", "watch", config, every=every)


@app.command(epilog="Example: relrag login mail ~/Downloads/client_secret.json")
def login(
    source: Annotated[str, typer.Argument(help="Source of kind gmail whose url is Gmail's API.")],
    client: Annotated[Path, typer.Argument(help="OAuth client (desktop app) from Google's console, as JSON.")],
    config: Config = None,
) -> None:
    """Log in to Gmail once, in a browser; the secret is stored beside the archive's keys."""
    dispatch.run("login", "login", source, client, config)


@app.command(epilog="Example: relrag plan --json")
def plan(as_json: Json = False, config: Config = None) -> None:
    """Show what a sync would do, and why."""
    dispatch.run("plan", "plan", config, as_json=as_json)


@app.command(epilog='Example: relrag forget --person "Ota Kral"')
def forget(
    refs: Annotated[
        list[str] | None, typer.Argument(metavar="REF", help="Ids of records, passages or threads (thread:...).")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="NAME", help="All of this source, which will not be read any more."),
    ] = None,
    person: Annotated[
        str | None, typer.Option("--person", metavar="NAME", help="A name, an address or a phone number.")
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="DATE", help="Older than 2024, 2024-03 or 2024-03-15.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    list_rules: Annotated[bool, typer.Option("--list", help="List what was forgotten so far.")] = False,
    undo: Annotated[
        int | None, typer.Option("--undo", metavar="RULE", help="Withdraw the rule with this number.")
    ] = None,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Remove records for good, and prove that nothing is left.

    Later syncs leave them out, too.
    """
    if list_rules:
        dispatch.run("forget", "list_rules", config)
    if undo is not None:
        dispatch.run("forget", "undo", undo, config, wait=wait)
    request = dispatch.load("forget").ForgetRequest(refs or (), source, person, before)
    dispatch.run("forget", "forget", request, config, yes=yes, wait=wait)


@app.command(epilog="Example: relrag status --failures")
def status(
    as_json: Json = False,
    failures: Annotated[bool, typer.Option("--failures", help="List what could not be read.")] = False,
    config: Config = None,
) -> None:
    """Show what is indexed, per source, and what failed."""
    dispatch.run("status", "status", config, as_json=as_json, failures=failures)


@app.command(epilog="Example: relrag verify --repair")
def verify(
    repair: Annotated[bool, typer.Option("--repair", help="Rebuild what differs, if possible.")] = False,
    pii: Annotated[
        bool, typer.Option("--pii", help="Instead, search everything outside private/ for values that were replaced.")
    ] = False,
    as_json: Json = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Read all stored files again, and list those that differ."""
    if pii and repair:
        raise typer.BadParameter("--pii only looks; it goes without --repair")
    if as_json and (pii or repair):
        raise typer.BadParameter("--json lists what differs; it goes without --pii and --repair")
    if pii:
        dispatch.run("verify", "scan_pii", config, wait=wait)
    dispatch.run("verify", "verify", config, repair=repair, as_json=as_json, wait=wait)


@app.command(epilog="Example: relrag backup /media/disk/relrag-2024")
def backup(
    folder: Annotated[Path, typer.Argument(help="A new folder, on another disk if there is one.")],
    everything: Annotated[bool, typer.Option("--all", help="Include what can be rebuilt.")] = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Copy what cannot be rebuilt: settings, keys, your statements.

    Records whose files may be gone are copied, too.
    """
    dispatch.run("backup", "backup", folder, config, everything=everything, wait=wait)


@app.command(epilog="Example: relrag restore /media/disk/relrag-2024 --to ~/archive")
def restore(
    folder: Annotated[Path, typer.Argument(help="A folder that `relrag backup` wrote.")],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="Folder for relrag.toml; by default the current one.")
    ] = None,
    keys: Annotated[
        Path | None, typer.Option("--keys", metavar="FILE", help="The keys, if they are stored separately.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Check a backup and restore it."""
    dispatch.run("backup", "restore", folder, to=to, keys=keys, force=force)


@app.command(epilog="Example: relrag doctor")
def doctor(as_json: Json = False, config: Config = None) -> None:
    """Diagnose this machine, folder and configuration."""
    dispatch.run("doctor", "doctor", config, as_json=as_json)
