"""Hides the folders of this machine from the model, which cannot use them, and which often contain names of people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from relrag_query.archive import ArchiveError
from relrag_query.service import Service

FOLDER = "<local folder>"
_NAME_END = r"(?![\w.-])"
"""ends the match, since a longer name is another folder"""
Value = TypeVar("Value")


def hide_paths(value: Value, service: Service) -> Value:
    """The value with the folders of the archive, its sources and its indexes replaced in every text."""
    folders = sorted(map(str, _folders(service)), key=len, reverse=True)
    if not folders:
        return value
    pattern = re.compile(f"(?:{'|'.join(map(re.escape, folders))}){_NAME_END}")
    replaced_value: Value = _replace(value, pattern)
    return replaced_value


def _folders(service: Service) -> Iterator[Path]:
    """Folders named in the settings, except paths so short that they occur in other texts."""
    try:
        settings = service.settings
    except ArchiveError:  # relrag.toml is invalid at the moment
        return
    folders = [settings.folder, settings.home_path, *map(settings.source_path, settings.sources)]
    trace_index = service.graphs.trace_index
    for folder in [*folders, *([trace_index.folder] if trace_index else [])]:
        for path in (folder, folder.absolute()):
            if len(path.parts) > 2 and path.is_absolute():
                yield path


def _replace(value: Any, pattern: re.Pattern[str]) -> Any:
    match value:
        case str():
            return pattern.sub(FOLDER, value)
        case dict():
            return {name: _replace(entry, pattern) for name, entry in value.items()}
        case list():
            return [_replace(entry, pattern) for entry in value]
    return value
