"""What the owner says of people in words of his own, redacted as any document is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relrag_pipelines.identity.journal_statements import Entry, Merge

if TYPE_CHECKING:
    from relrag_pipelines.pii import PIIRedactor

_WORDS = ("description", "note", "value")


def redact_entry(entry: Entry, redactor: Callable[[], PIIRedactor]) -> Entry:
    """The entry with its words redacted; what cannot be redacted is left out.

    The redactor is asked for only where there are words: it needs the archive's keys.
    """
    told = {name: text for name in _WORDS if isinstance(text := getattr(entry.statement, name, None), str)}
    if not told:
        return entry
    said: Any = entry.statement
    return replace(entry, statement=replace(said, **{name: _clean(text, redactor()) for name, text in told.items()}))


def redact_names(entry: Entry, redactor: Callable[[], PIIRedactor]) -> Entry:
    """The entry with the names of merged people redacted: they are as the index had them, under a policy of then."""
    said = entry.statement
    if not isinstance(said, Merge) or not any(said.names):
        return entry
    return replace(entry, statement=replace(said, names=tuple(_clean(name, redactor()) for name in said.names)))


def _clean(text: str, redactor: PIIRedactor) -> str:
    from relrag_pipelines.pii import RedactionError

    try:
        return redactor.redact(text, "default")
    except RedactionError:
        return ""
