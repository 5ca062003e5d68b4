"""Reveals a record or a pseudonym to the owner, who gives a reason.

Callers show what they get to that person and nowhere else: to no model, in no file, in no log.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines import settings as settings_module
from relrag_pipelines.pii import reveal as pii_reveal
from relrag_pipelines.privacy import keyed_pseudonyms, pseudonyms
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import lake, lock, vault
from relrag_pipelines.stores.vault import VaultError
from relrag_pipelines.workspace import Workspace


def originals(settings: Settings, what: str) -> list[str]:
    """The original of a pseudonym or of a record, as lines. Raises VaultError if it does not exist."""
    workspace = Workspace(settings)
    if not pseudonyms.is_pseudonym(what):
        return _record(workspace, what)
    values = pii_reveal.originals(workspace.home, workspace.keys, [what])
    if what not in values:
        raise VaultError(f"{what} is not in the vault: no record holds it any more, or it is of other keys")
    return [f"{what}  {values[what]}"]


def note(settings: Settings, who: str, why: str, what: Sequence[str], wait: float | None = None) -> None:
    """Records who asks and why, before the original is shown. Raises VaultError if `who` or `why` is empty."""
    if not (who.strip() and why.strip()):
        raise VaultError("say who asks and why: --who NAME --why REASON; both are kept in private/reveals.jsonl")
    keys = Workspace(settings).keys
    log_names = [keyed_pseudonyms.for_log(name, keys) for name in what]
    with lock.writing(settings.home_path, "relrag reveal", wait):
        vault.note(settings.home_path, settings_module.now(), who, why, log_names)


def _record(workspace: Workspace, asset_id: str) -> list[str]:
    """A private record as lines: sender, recipients, subject, file name, text."""
    for source in sorted(lake.sources(workspace.home)):
        for month in sorted(lake.manifest(workspace.home, "private_records", source)):
            table = lake.read(workspace.home, "private_records", source, month)
            for row in table.filter(_id_filter(table, asset_id)).to_pylist()[:1]:
                heading = [row["from"], ", ".join(row["to"]), row["subject"], row["file_name"]]
                return [*(part for part in heading if part), "", *row["text"].splitlines()]
    raise VaultError(f'no record is named "{asset_id}"; `relrag search` shows ids, and texts show pseudonyms')


def _id_filter(table: pa.Table, asset_id: str) -> pa.ChunkedArray:
    return pc.equal(table["asset_id"], asset_id)
