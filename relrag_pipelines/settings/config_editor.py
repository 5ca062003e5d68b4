"""Changes relrag.toml as its owner would by hand: comments, order and everything else stay.

A change is checked before it is written: a file that would no longer load is not replaced.
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from relrag_pipelines.files.access import default_permissions
from relrag_pipelines.files.atomic import replace_file
from relrag_pipelines.settings.config_file import load
from relrag_pipelines.settings.models import CONFIG_NAME, STRUCTURED, Settings, SettingsError


def set_values(config: Path, values: Mapping[str, Any]) -> None:
    """Sets simple settings; where the file has a setting as a commented default, the value takes its place.

    Raises SettingsError for a value that is wrong, and leaves the file as it is.
    """

    def change(text: str) -> str:
        for name, value in values.items():
            text = _with_value(text, name, value)
        return text

    _edit(config, change)


def add_source(config: Path, source: Mapping[str, Any]) -> None:
    """Adds a `[[sources]]` table at the end. Raises SettingsError if it is wrong."""
    _edit(config, functools.partial(_with_source, source=source))


def set_source_option(config: Path, name: str, option: str, value: Any) -> None:
    """Sets an option of a source. Raises SettingsError if relrag.toml has no such source."""

    def change(text: str) -> str:
        document = tomlkit.parse(text)
        _sources(document)[_index(document, name)][option] = value
        return tomlkit.dumps(document)

    _edit(config, change)


def remove_source(config: Path, name: str) -> None:
    """Removes the table of a source. Raises SettingsError if relrag.toml has no such source."""

    def change(text: str) -> str:
        document = tomlkit.parse(text)
        del _sources(document)[_index(document, name)]
        if not document["sources"]:
            del document["sources"]
        return tomlkit.dumps(document)

    _edit(config, change)


def _edit(config: Path, change: Callable[[str], str]) -> None:
    """Replaces the text of relrag.toml by what `change` makes of it."""
    config = config.resolve()
    try:
        text = change(config.read_text(encoding="utf-8-sig"))
        mode = config.stat().st_mode & 0o777
        _require_loadable(config, text)
        with default_permissions(), replace_file(config, private=False) as temporary:
            temporary.write_text(text, encoding="utf-8")
            temporary.chmod(mode)
    except OSError as error:
        raise SettingsError(f"{CONFIG_NAME} cannot be changed: {error.strerror}", code="config_fixed") from None
    except TOMLKitError as error:
        raise SettingsError(f"{CONFIG_NAME} cannot be changed: {type(error).__name__}", code="config_fixed") from None


def _require_loadable(config: Path, text: str) -> None:
    """Raises SettingsError if this text as relrag.toml would be wrong."""
    # beside the real one, since paths are relative to its folder
    handle, name = tempfile.mkstemp(prefix=f".{CONFIG_NAME}.", suffix=".check", dir=config.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        load(Path(name))
    finally:
        Path(name).unlink()


def _with_value(text: str, name: str, value: Any) -> str:
    """The text with a simple setting."""
    if name not in Settings.model_fields or name in STRUCTURED:
        raise SettingsError(f"{name} is no simple setting; edit {CONFIG_NAME}", code="setting_elsewhere", name=name)
    document = tomlkit.parse(text)
    if name in document:
        document[name] = value
        return tomlkit.dumps(document)
    line = f"{name} = {tomlkit.item(value).as_string()}"
    # only above the first table: a line below it would belong to the table
    head, tables = _split_at_tables(text)
    changed, count = re.subn(rf"^#[ \t]*{name}[ \t]*=.*$", lambda _: line, head, count=1, flags=re.MULTILINE)
    return (changed if count else f"{head.rstrip()}\n{line}\n\n") + tables


def _split_at_tables(text: str) -> tuple[str, str]:
    """The text before the first table, and the rest."""
    table = re.search(r"^[ \t]*\[", text, re.MULTILINE)
    if not table:
        return text, ""
    return text[: table.start()], text[table.start() :]


def _with_source(text: str, source: Mapping[str, Any]) -> str:
    """The text with a further source; with an empty line before it, as between the others."""
    table = tomlkit.table()
    table.update(source)
    tables = tomlkit.aot()
    tables.append(table)
    addition = tomlkit.document()
    addition["sources"] = tables
    return f"{text.rstrip()}\n\n{tomlkit.dumps(addition).lstrip()}"


def _sources(document: tomlkit.TOMLDocument) -> AoT:
    sources = document.get("sources")
    if isinstance(sources, AoT):
        return sources
    raise SettingsError(f"{CONFIG_NAME} names no sources", code="no_sources")


def _index(document: tomlkit.TOMLDocument, name: str) -> int:
    names = [table.get("name") for table in _sources(document)]
    if name not in names:
        raise SettingsError(f'{CONFIG_NAME} names no source "{name}"', code="source_absent", name=name)
    return names.index(name)
