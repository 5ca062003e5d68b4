"""The file of the exports that a record was read from, for its owner alone: it is not redacted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files.regular_files import RefusedFile, check_file
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import Record
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.stores import unit_state
from relrag_pipelines.stores.unit_state import UnitsError


class NoOriginal(RelragError):
    """A file that cannot be opened any more; the message says why."""


@dataclass(frozen=True)
class OriginalFile:
    """A file of the exports that is unchanged since it was read."""

    path: Path
    source: str
    unit: str


def locate(settings: Settings, record: Record, suffixes: Sequence[str] = ()) -> OriginalFile:
    """The file of a record, with one of these suffixes if any are given. Raises NoOriginal."""
    unit = _unit(record, tuple(suffixes) or ("",))
    if not unit or record.parent_asset_id:
        raise NoOriginal("the original is part of another file")
    try:
        source = settings.source(record.source)
        root = settings.source_path(source)
        path = root if root.is_file() else root / unit
        check_file(path, root, follow_links=source.follow_links)
        state = unit_state.load(settings.home_path, source.name).get(unit)
        is_unchanged = state is not None and file_hash(path) == state.content_hash
    except (SettingsError, OSError, RefusedFile, UnitsError):
        raise NoOriginal("the original is no longer where it was read from") from None
    if not is_unchanged:
        raise NoOriginal("the original has changed since it was read; a sync reads it again")
    return OriginalFile(path, source.name, unit)


def _unit(record: Record, endings: tuple[str, ...]) -> str:
    """The first file that holds the record and has such a suffix; empty if none does."""
    units = [location.partition("#")[0] for location in record.locations]
    return next((unit for unit in units if unit.lower().endswith(endings)), "")
