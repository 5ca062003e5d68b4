"""What the owner said of people after a generation was made: readers lay it over what they read.

A merge, a fact, a relationship and a note count at once. A split, and the undoing of what the generation knows already,
take another look at all records: they count from the next sync on.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field, replace
from typing import Any

from relrag_pipelines.identity.statements import Entry, Merge, Split, Undo, holding
from relrag_pipelines.journal import journal
from relrag_pipelines.settings import Settings

_PERSONAL = re.compile(r"[\d@＠﹫([{]")
"""a text without digit or @ holds no personal data that is replaced in the index"""
_WORDS = ("description", "note", "value")


@dataclass(frozen=True)
class Pending:
    """What was said since, in order."""

    said: tuple[Entry, ...] = ()
    merged: dict[int, int] = field(default_factory=dict)
    """an id -> who that is since"""
    waits: bool = False
    """something was said that counts from the next sync on"""

    def survivor(self, person_id: int) -> int:
        """Who a person is now."""
        return self.merged.get(person_id, person_id)

    def former(self, person_id: int) -> list[int]:
        """The ids of the generation that mean a person."""
        return sorted({person_id, *(old for old, now in self.merged.items() if now == person_id)})


def read(settings: Settings, since: int) -> Pending:
    """What was said behind an entry of that number. Raises JournalError where the journal cannot be read."""
    return _read(settings.model_dump_json(), settings.home_path, journal.state(settings.home_path), since)


@functools.lru_cache(4)
def _read(dumped: str, home: Any, state: object, since: int) -> Pending:
    settings = Settings.model_validate_json(dumped)
    every = [entry for entry in journal.entries(home) if entry.said is not None]
    since_then = [entry for entry in every if entry.number > since]
    said = [_redacted(entry, settings) for entry in holding(every) if entry.number > since]
    merged: dict[int, int] = {}
    for entry in said:
        if isinstance(entry.said, Merge):
            into = merged.get(entry.said.into, entry.said.into)
            for other in (merged.get(one, one) for one in entry.said.others):
                merged = {old: into if now == other else now for old, now in merged.items()}
                if other != into:
                    merged[other] = into
    later = {entry.number for entry in since_then}
    waits = any(
        isinstance(entry.said, Split) or (isinstance(entry.said, Undo) and entry.said.number not in later)
        for entry in since_then
    )
    return Pending(tuple(said), merged, waits)


def _redacted(entry: Entry, settings: Settings) -> Entry:
    """The entry with the owner's words as they would stand in the index."""
    said: Any = entry.said
    told = {name: text for name in _WORDS if isinstance(text := getattr(said, name, None), str)}
    if not settings.pii_redaction_enabled or not any(map(_PERSONAL.search, told.values())):
        return entry
    # imported only here: it takes longer than the search
    from relrag_pipelines.workspace import Workspace

    redactor = Workspace(settings).redactor
    return replace(entry, said=replace(said, **{name: redactor.redact(text, "default") for name, text in told.items()}))
