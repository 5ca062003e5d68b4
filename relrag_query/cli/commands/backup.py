"""`relrag backup` and `relrag restore`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from relrag_query.cli import dispatch
from relrag_query.cli.options import Config, Wait
from relrag_query.display.amounts import number, size
from relrag_query.display.inert_text import safe

app = typer.Typer()


@app.command("backup", epilog="Example: relrag backup /media/disk/relrag-2024")
def backup_command(
    folder: Annotated[Path, typer.Argument(help="A new folder, on another disk if there is one.")],
    everything: Annotated[bool, typer.Option("--all", help="Include what can be rebuilt.")] = False,
    wait: Wait = 0,
    config: Config = None,
) -> None:
    """Copy what cannot be rebuilt: settings, keys, your statements.

    Records whose files may be gone are copied, too.
    """
    dispatch.run(backup, folder, config, everything=everything, wait=wait)


@app.command("restore", epilog="Example: relrag restore /media/disk/relrag-2024 --to ~/archive")
def restore_command(
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
    dispatch.run(restore, folder, to=to, keys=keys, force=force)


def backup(target: Path, config: Path | None = None, *, everything: bool = False, wait: float = 0) -> int:
    """Writes a backup into a new folder; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.maintenance import backup as backups
    from relrag_pipelines.onboarding import environment

    settings = settings_module.load(config)
    target = target.expanduser().resolve()
    manifest = backups.backup(settings, target, everything=everything, wait=wait)
    total = sum(entry["bytes"] for entry in manifest["files"].values())
    what = "Everything" if everything else "What cannot be rebuilt"
    print(
        safe(f"{what} of {settings.archive} is in {target}: {number(len(manifest['files']), 'file')}, {size(total)}.")
    )
    retained_sources = [source.name for source in settings.sources if source.retain]
    if retained_sources and not everything:
        print(f"With the private records of {', '.join(retained_sources)}: their files may be gone (retain = true).")
    if everything and backups.vectors_on_server(settings):
        print(
            "The published generation is not included, since its vectors are on a server: `relrag sync` rebuilds both."
        )
    print("The exports themselves are not included: back them up too.")
    if manifest["keys"]:
        print(
            safe(
                f"warning: {target / manifest['keys']} holds the keys of this archive: whoever has them and the index "
            )
            + "can find out whom a pseudonym stands for. Move them to another safe place, and "
            "name that place to `relrag restore` with --keys."
        )
    for note in environment.location_warnings(target):
        print(f"warning: {safe(note)}")
    return 0


def restore(backup_folder: Path, *, to: Path | None = None, keys: Path | None = None, force: bool = False) -> int:
    """Checks a backup and restores it; returns the exit code."""
    from relrag_pipelines.maintenance import backup as backups
    from relrag_query.display.source_line import moment

    backup_folder, folder = backup_folder.expanduser().resolve(), (to or Path()).expanduser().resolve()
    manifest, paths = backups.restore(backup_folder, folder, keys=keys and keys.expanduser().resolve(), force=force)
    created = datetime.fromisoformat(manifest["made_at"])
    print(safe(f"Restored {manifest['archive']} as of {moment(created)} UTC. Written: "), end="")
    print(safe(", ".join(map(str, paths))))
    if not manifest["everything"]:
        print("Everything else is rebuilt from the exports: run `relrag sync`.")
    return 0
