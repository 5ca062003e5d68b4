"""`relrag reveal`: what a pseudonym stands for, or a record as it was before it was redacted; asked for by name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.pii import pseudonyms
from relrag_pipelines.pii import reveal as revealing
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import lake, lock, vault
from relrag_pipelines.stores.vault import VaultError
from relrag_pipelines.workspace import Workspace
from relrag_query.display.inert_text import safe


def reveal(what: str, who: str = "", why: str = "", config: Path | None = None, *, wait: float = 0) -> int:
    """Prints it, after a note of who asks and why; returns the exit code."""
    workspace = Workspace(settings_module.load(config))
    if pseudonyms.is_pseudonym(what):
        found = revealing.originals(workspace.home, workspace.keys, [what])
        if what not in found:
            raise VaultError(f"{what} is not in the vault: no record holds it any more, or it is of other keys")
        shown = [f"{what}  {found[what]}"]
    else:
        shown = _record(workspace, what)
    note(workspace.settings, who, why, [what], wait)
    for line in shown:
        print(safe(line))
    return 0


def note(settings: Settings, who: str, why: str, what: Sequence[str], wait: float | None = None) -> None:
    """Notes who asks for it and why; on a terminal both are asked for where they were not said."""
    if sys.stdin.isatty():
        who = who or input(f"Who are you? [{settings.owner}] ") or settings.owner
        why = why or input("Why do you need it? ")
    if not (who.strip() and why.strip()):
        raise VaultError("say who asks and why: --who NAME --why REASON; both are kept in private/reveals.jsonl")
    keys = Workspace(settings).keys
    logged = [pseudonyms.for_log(one, keys) for one in what]
    with lock.writing(settings.home_path, "relrag reveal", wait):
        vault.note(settings.home_path, settings_module.now(), who, why, logged)


def _record(workspace: Workspace, asset_id: str) -> list[str]:
    """A private record: who sent it, what it is about, and its text."""
    for source in sorted(lake.sources(workspace.home)):
        for month in sorted(lake.manifest(workspace.home, "private_records", source)):
            table = lake.read(workspace.home, "private_records", source, month)
            for row in table.filter(_is(table, asset_id)).to_pylist()[:1]:
                heading = [row["from"], ", ".join(row["to"]), row["subject"], row["file_name"]]
                return [*(one for one in heading if one), "", *row["text"].splitlines()]
    raise VaultError(f'no record is named "{asset_id}"; `relrag search` shows ids, and texts show pseudonyms')


def _is(table: object, asset_id: str) -> object:
    import pyarrow.compute as pc

    return pc.equal(table["asset_id"], asset_id)  # type: ignore[index]
