"""Adds sources to relrag.toml, pauses and removes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from relrag_pipelines.erasure import rule_file
from relrag_pipelines.onboarding.discover import ProposedSource, source_table
from relrag_pipelines.settings import Settings, SettingsError, config_editor
from relrag_pipelines.stores import lake
from relrag_query.owner.folders import examine, is_present
from relrag_query.owner.switch import changing, require_writes
from relrag_query.service import Service


class SourcesReply(BaseModel):
    """The sources of relrag.toml after a change."""

    sources: list[str]
    added: list[str] = []


def add(service: Service, path: str, names: Sequence[str], owner: str = "") -> SourcesReply:
    """Adds sources that `recognise` found in a folder, by their names there; sets whose archive it is, if given.

    Raises FolderRefused, and SettingsError if the folder holds no such source.
    """
    require_writes(service)
    settings = service.settings
    examined = examine(settings, path)
    chosen = [source for source in examined.discovery.sources if source.name in names]
    if len(chosen) < len(set(names)):
        raise SettingsError("this folder holds other sources now; look into it again", code="sources_changed")
    added: list[str] = []
    with changing(service, "add_source", ", ".join(source.name for source in chosen)) as config:
        for source in chosen:
            if is_present(settings, source.kind, (examined.folder / source.path).resolve()):
                continue
            name = _free_name(settings, source.name, added)
            config_editor.add_source(config, _table(source, name, examined.folder, config))
            added.append(name)
        if owner.strip() and not settings.owner:
            config_editor.set_values(config, {"owner": owner.strip()})
    return _reply(service, added)


def pause(service: Service, name: str, paused: bool) -> SourcesReply:
    """Pauses a source, so that syncs leave it as it is, or ends that. Raises SettingsError for an unknown source."""
    require_writes(service)
    service.settings.source(name)
    with changing(service, "pause_source" if paused else "resume_source", name) as config:
        config_editor.set_source_option(config, name, "paused", paused)
    return _reply(service)


def remove(service: Service, name: str) -> None:
    """Removes the table of a source; what is stored of it is forgotten by a command of its own.

    Raises SettingsError for an unknown source, and for the only one.
    """
    require_writes(service)
    service.settings.source(name)
    with changing(service, "remove_source", name) as config:
        config_editor.remove_source(config, name)
    service.reload_settings()


def _table(source: ProposedSource, name: str, folder: Path, config: Path) -> dict[str, object]:
    return source_table(source, folder, config.parent) | {"name": name}


def _free_name(settings: Settings, name: str, added: Sequence[str]) -> str:
    """The name, with a number if a source has it, had it, or must not be read under it again."""
    taken = {
        *(source.name for source in settings.sources),
        *lake.sources(settings.home_path),
        *rule_file.load(settings.home_path).sources(),
        *added,
    }
    names = [name, *(f"{name}_{number}" for number in range(2, len(taken) + 3))]
    return next(free for free in names if free not in taken)


def _reply(service: Service, added: Sequence[str] = ()) -> SourcesReply:
    service.reload_settings()
    return SourcesReply(sources=service.source_names(), added=list(added))
