"""The switch `web_writes_enabled`, and the lock and the journal that each change of the pages goes through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import PageAction
from relrag_pipelines.settings import Settings, config_editor
from relrag_pipelines.stores import lock
from relrag_pipelines.workspace import Workspace
from relrag_query.service import Service

SETTING = "web_writes_enabled"
HOW = f"these pages only read; `{SETTING} = true` in relrag.toml lets them change the archive"
WAIT_SECONDS = 10
"""how long a change waits for a statement of somebody else"""
_PURPOSE = "the page of the archive"


class OnlyReads(RelragError):
    """The pages may not change the archive."""


def is_unanswered(service: Service) -> bool:
    """Whether relrag.toml does not say yet whether the pages may change the archive, so that they ask."""
    return SETTING not in service.settings.model_fields_set and not service.clients


def answer(service: Service, allowed: bool) -> None:
    """Writes the owner's answer to relrag.toml. Raises OnlyReads if the file says no already: only it can say yes."""
    if not allowed or is_unanswered(service):
        with _changing(service, "web_writes", "allowed" if allowed else "refused"):
            config_editor.set_values(_config(service), {SETTING: allowed})
        service.reload_settings()
        return
    raise _only_reads()


def require_writes(service: Service) -> Path:
    """The relrag.toml of a service that may write. Raises OnlyReads for any other."""
    if not service.writes:
        raise _only_reads()
    _make_keys(service.settings)
    return _config(service)


@contextmanager
def changing(service: Service, action: str, about: str) -> Iterator[Path]:
    """Yields relrag.toml, under the writer's lock, after a note in the journal of what is about to be done.

    Raises OnlyReads, or lock.LockedByOther while a sync goes on.
    """
    config = require_writes(service)
    with _changing(service, action, about):
        yield config


@contextmanager
def _changing(service: Service, action: str, about: str) -> Iterator[None]:
    _make_keys(service.settings)
    home = service.settings.home_path
    with lock.writing(home, _PURPOSE, WAIT_SECONDS):
        journal.append(home, [PageAction(action, about)])
        yield


def _make_keys(settings: Settings) -> None:
    """Makes the keys of a new archive, before there is a file in private/ for which they would be missing."""
    if not (settings.home_path / "private").exists():
        _ = Workspace(settings).keys


def _only_reads() -> OnlyReads:
    return OnlyReads(HOW, code="only_reads")


def _config(service: Service) -> Path:
    if service.config is None:
        raise OnlyReads("this service has no relrag.toml to change", code="no_config")
    return service.config
