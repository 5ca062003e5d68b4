"""Reveals a record or a pseudonym to the owner, who gives a reason.

Callers show what they get to that person and nowhere else: to no model, in no file, in no log.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines import settings as settings_module
from relrag_pipelines.pii import pseudonyms
from relrag_pipelines.pii import reveal as revealing
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import lake, lock, vault
from relrag_pipelines.stores.vault import VaultError
from relrag_pipelines.workspace import Workspace


def originals(settings: Settings, what: str) -> list[str]:
    """The lines of what a pseudonym or an asset_id names. Raises VaultError where there is nothing."""
    workspace = Workspace(settings)
    if not pseudonyms.is_pseudonym(what):
        return _record(workspace, what)
    found = revealing.originals(workspace.home, workspace.keys, [what])
    if what not in found:
        raise VaultError(f"{what} is not in the vault: no record holds it any more, or it is of other keys")
    return [f"{what}  {found[what]}"]


def note(settings: Settings, who: str, why: str, what: Sequence[str], wait: float | None = None) -> None:
    """Keeps who asked for it and why; before it is shown. Raises VaultError where one of these is not said."""
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


def _is(table: pa.Table, asset_id: str) -> pa.ChunkedArray:
    return pc.equal(table["asset_id"], asset_id)
