"""`relrag failures retry`: has what could not be read tried again."""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines import settings as settings_module
from relrag_pipelines.ingest import failure_retry
from relrag_pipelines.settings import Settings, SettingsError, Source
from relrag_pipelines.stores import lock
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands.sync import sync
from relrag_query.cli.exit_codes import DONE
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe


def retry(config: Path | None = None, *, source: str = "", file: str = "", now: bool = False, wait: float = 0) -> int:
    """Marks failed units to be read again, and syncs if `now`; returns the exit code.

    Raises SettingsError for a source that is unknown, and for a file in which nothing failed.
    """
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
