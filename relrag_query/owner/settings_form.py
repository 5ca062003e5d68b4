"""The settings that the owner changes on the pages, written to relrag.toml with its comments kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, Field

from relrag_pipelines.settings import Settings, SettingsError, config_editor
from relrag_query.owner.switch import changing, require_writes
from relrag_query.service import Service

NAMES = (
    *("owner", "timezone", "pii_preset", "embedder", "answerer", "answer_url", "answer_model", "ocr"),
    "nightly",
)
"""simple settings whose wrong value is refused, or costs time alone; no paths, servers of data, or keys"""


class SettingField(BaseModel):
    """A setting, as a form shows it."""

    name: str
    value: str
    choices: list[str] = Field(description="empty for a text")
    fixed_by: str = Field(description="the environment variable that counts instead of the file; empty for none")


class SettingsReply(BaseModel):
    """The settings that were changed."""

    changed: list[str]


def fields(service: Service) -> list[SettingField]:
    """The settings with their values."""
    require_writes(service)
    return [_field(service.settings, name) for name in NAMES]


def change(service: Service, values: Mapping[str, str]) -> SettingsReply:
    """Writes those that differ, all or none. Raises SettingsError for a wrong value or another setting."""
    require_writes(service)
    settings = service.settings
    if unknown := sorted(values.keys() - set(NAMES)):
        raise SettingsError(
            f"{unknown[0]} is not changed on the pages; edit relrag.toml", code="setting_elsewhere", name=unknown[0]
        )
    different = {name: value.strip() for name, value in values.items() if value.strip() != getattr(settings, name)}
    if different:
        with changing(service, "settings", ", ".join(different)) as config:
            _write(config, different)
        service.reload_settings()
    return SettingsReply(changed=list(different))


def _write(config: Path, values: Mapping[str, str]) -> None:
    """Writes settings. Raises SettingsError; its code is set if one of these settings is wrong."""
    try:
        config_editor.set_values(config, values)
    except SettingsError as error:
        name = error.values.get("settings")
        if error.code or name not in values:
            raise
        raise SettingsError(str(error), code="setting_wrong", settings=str(name)) from None


def _field(settings: Settings, name: str) -> SettingField:
    variable = f"RELRAG_{name.upper()}"
    return SettingField(
        name=name,
        value=getattr(settings, name),
        choices=list(get_args(Settings.model_fields[name].annotation)),
        fixed_by=variable if os.environ.get(variable) else "",
    )
