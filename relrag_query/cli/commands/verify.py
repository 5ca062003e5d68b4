"""`relrag verify`: reads all stored files again, lists those that differ, and rebuilds them on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relrag_pipelines.stores import lock
from relrag_query.cli import dispatch
from relrag_query.cli.json_output import print_json
from relrag_query.cli.options import Config, Json, Wait
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_pipelines.maintenance.verify import Finding
    from relrag_pipelines.workspace import Workspace

app = typer.Typer()


@app.command("verify", epilog="Example: relrag verify --repair")
def verify_command(
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
        dispatch.run(scan_pii, config, wait=wait)
    dispatch.run(verify, config, repair=repair, as_json=as_json, wait=wait)


def verify(config: Path | None = None, *, repair: bool = False, as_json: bool = False, wait: float = 0) -> int:
    """Prints the files that differ from what was written; with `repair` rebuilds them. Returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.files import atomic
    from relrag_pipelines.maintenance.verify import verify_bucket, verify_home
    from relrag_pipelines.workspace import Workspace

    workspace = Workspace(settings_module.load(config))
    home = workspace.home
    if not home.exists():
        print(f"Nothing is stored in {home} yet.")
        return 0
    with lock.writing(home, "relrag verify", wait):
        findings = verify_home(home) + verify_bucket(workspace)
        if as_json:
            print_json([{"path": finding.path, "problem": finding.problem} for finding in findings])
            return 1 if findings else 0
        _print(findings)
        if findings and repair:
            findings = _repair_and_sync(workspace, config, findings)
        files = sum(1 for _ in atomic.files(home))
    if not findings:
        print(f"Everything is as it was written: {number(files, 'file')}.")
        _print_uncovered(home)
        return 0
    if repair:
        print(f"{number(len(findings), 'file')} could not be repaired; they are named above.")
    else:
        what = number(len(findings), "file is", "files are")
        print(f"{what} not as written, of {files:,}. `relrag verify --repair` rebuilds what it can.")
    return 1


def scan_pii(config: Path | None = None, *, wait: float = 0) -> int:
    """Prints where redacted values occur outside private/, but not the values. Returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.publishing import leak_scan
    from relrag_pipelines.workspace import Workspace

    workspace = Workspace(settings_module.load(config))
    home = workspace.home
    if not home.exists():
        print(f"Nothing is stored in {home} yet.")
        return 0
    if not workspace.settings.pii_redaction_enabled:
        print("Redaction is off (pii_redaction_enabled), so there are no replaced values to look for.")
        return 0
    with lock.writing(home, "relrag verify --pii", wait):
        scan = leak_scan.scan_home(workspace)
    for leak in scan.leaks:
        print(safe(f"{leak.path} {leak.table} {leak.record} {leak.entity}"))
    for unread in scan.unread:
        print(safe(f"{unread} could not be read"))
    if not scan.leaks and not scan.unread:
        print(f"No replaced value was found in {number(scan.files, 'file')} outside private/.")
        return 0
    rows, files = number(len(scan.leaks), "find"), number(scan.files, "file")
    print(f"{rows} in {files} outside private/; {number(len(scan.unread), 'file')} could not be read.")
    return 1


def _repair_and_sync(workspace: Workspace, config: Path | None, findings: list[Finding]) -> list[Finding]:
    """Repairs and syncs; prints and returns the remaining findings."""
    from relrag_pipelines.maintenance.repair import repair
    from relrag_pipelines.maintenance.verify import verify_bucket, verify_home
    from relrag_query.cli.commands.sync import sync

    for line in repair(workspace, [finding for finding in findings if not finding.in_bucket]):
        print(f"repair: {safe(line)}")
    sync(config)  # it uploads what the bucket of the lake lacks
    remaining = verify_home(workspace.home) + verify_bucket(workspace)
    _print(remaining)
    return remaining


def _print(findings: list[Finding]) -> None:
    for finding in findings:
        print(safe(f"{finding.path} {finding.problem}"))


def _print_uncovered(home: Path) -> None:
    """Prints which data has no stored hash: vectors on a server, and Dagster's databases."""
    from relrag_pipelines.files import atomic
    from relrag_pipelines.stores import generation_damage, generations

    if any(generation_damage.on_server(home, number) for number in generations.numbers(home)):
        print("For vectors on a server, the number of points was checked, but not every value.")
    files = [name for name in atomic.files(home) if name.startswith("dagster/")]
    databases = [name for name in files if name.endswith(".db")]
    if databases:
        print(
            f"Of Dagster's {number(len(databases), 'database')} the structure was checked, not every value: nothing "
            "keeps a hash of them. They hold the history of runs and no text of the archive."
        )
