"""Marks units with failures, so that the next sync reads them again although their files are unchanged."""

from __future__ import annotations

from dataclasses import replace

from relrag_pipelines.erasure.mirrored_items import open_mirror
from relrag_pipelines.ingest.fetching import FETCH, ZIP
from relrag_pipelines.records import Failure, UnitState
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import LEFT_OUT
from relrag_pipelines.sources.remote.mirror import ZIPS
from relrag_pipelines.stores import unit_state
from relrag_pipelines.workspace import Workspace


def failed_units(workspace: Workspace, source: Source, path: str = "") -> set[str]:
    """The units of a source that have failures, `path` alone if it is given; without those left out on purpose."""
    failures = unit_state.load_failures(workspace.home, source.name)
    units = {failure.unit for failure in failures if failure.fault not in LEFT_OUT and failure.unit}
    return {unit for unit in units if path in ("", unit)}


def mark(workspace: Workspace, source: Source, path: str = "") -> int:
    """Marks the failed units of a source, or one of them; returns how many are tried again. Needs the lock.

    What a server or a zip did not give is asked for again too.
    """
    units = failed_units(workspace, source, path)
    states = unit_state.load(workspace.home, source.name)
    whole = {unit for unit in units & states.keys() if _is_whole(states[unit])}
    marked = {unit: replace(states[unit], reader=unit_state.RETRY) for unit in whole}
    if marked:
        cursor = unit_state.load_cursor(workspace.home, source.name)
        unit_state.save(workspace.home, source.name, states | marked, cursor)
    failures = [failure for failure in unit_state.load_failures(workspace.home, source.name) if failure.unit in units]
    if source.is_mirrored and any(map(_is_of_mirror, failures)):
        _ask_again(workspace, source)
    return len(units)


def _is_whole(state: UnitState) -> bool:
    """Whether a unit is not marked already for another reason to be read again."""
    return state.reader not in (unit_state.UNFINISHED, unit_state.RETAINED)


def _is_of_mirror(failure: Failure) -> bool:
    return failure.fault in (FETCH, ZIP)


def _ask_again(workspace: Workspace, source: Source) -> None:
    """Has the mirror of a source filled again where something is missing."""
    mirror = open_mirror(workspace, source)
    mirror.cursor.pop(ZIPS, None)
    for path in mirror.omissions:
        mirror.clear_omission(path)
    mirror.save()
